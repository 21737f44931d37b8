package debate

import (
	"slices"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// shortenPrompt shortens a prompt that the service rejected as too long, according to the debate's policy. It returns
// false if the policy does not allow that or nothing can be removed.
func (c *execution) shortenPrompt() bool { return c.shorten(c.summarizeOldest) }

// shorten shortens a prompt as shortenPrompt does. summarize replaces the older half of the history with a summary, or
// returns false.
func (c *execution) shorten(summarize func() bool) bool {
	if len(c.prompt.messages) < 3 { // only the system prompt and the task
		return false
	}
	switch c.config.OnOverflow {
	case Degrade, End:
		return false
	default:
	}
	if c.dropReasoning() {
		return true
	}
	if c.config.OnOverflow == OverflowSummarize && !c.prompt.shortened && summarize() {
		return true
	}
	history := 0
	for _, m := range c.prompt.messages[1 : len(c.prompt.messages)-1] {
		history += c.count(m.Text)
	}
	return c.shrink(c.prompt.tokens - (history+1)/2)
}

// dropReasoning removes opaque reasoning from the prompt. It returns false if there is none.
func (c *execution) dropReasoning() bool {
	if c.prompt.opaque == 0 {
		return false
	}
	list := slices.Clone(c.prompt.messages)
	for i, m := range list {
		if m.Parts != nil {
			list[i] = providers.Message{Role: m.Role, Text: m.Parts[len(m.Parts)-1].Text}
		}
	}
	c.prompt.tokens, c.prompt.history, c.prompt.opaque = c.prompt.tokens-c.prompt.opaque, c.prompt.history-c.prompt.opaque, 0
	c.setMessages(list)
	c.attempts.askedAgain = false
	return true
}

// summarizeOldest replaces the older half of the history with a summary by the summarizer. The usage counts towards
// the step.
func (c *execution) summarizeOldest() bool {
	n := (len(c.prompt.messages) - 1) / 2 // half of the messages between the system prompt and the task, as in useSummary
	s := &c.config.Summarizer
	name, provider, err := c.model.bind(s.Provider)
	if err != nil || n == 0 {
		return false
	}
	r, err := c.summaryRequest(s, c.prompt.messages[1:1+n])
	if err != nil {
		return false
	}
	ctx := c.beginCall(c.newAttempt(c.attempts.current.Number, transcript.Summary, name, s.Model), &r)
	resp, err := provider.Generate(ctx, r)
	if failed := providers.AsError(err); failed != nil {
		resp = failed.Partial
	}
	a := transcript.Attempt{Provider: name, Model: s.Model, Usage: c.usage(resp, err == nil)}
	c.addAttempt(a, resp, err)
	said, _ := reasoning.Split(resp.Text)
	if err != nil || isBlank(said) {
		return false
	}
	c.useSummary(said)
	return true
}

// useSummary replaces the older half of the history with a summary.
func (c *execution) useSummary(said string) {
	c.prompt.shortened, c.prompt.summarized = true, true
	c.replaceHistory((len(c.prompt.messages)-1)/2, providers.Message{Role: providers.User, Text: c.pseudonyms.Enclose(summaryHeading, said)})
}

// summaryRequest returns the request for a summary of messages.
func (c *execution) summaryRequest(s *Participant, said []providers.Message) (r providers.Request, err error) {
	b := &c.prompt.fixed.data
	d := prompts.Data{Topic: b.Topic, Background: b.Background, Nonce: b.Nonce, Blind: b.Blind, Me: transcript.Profile{Instructions: s.Instructions}}
	system, err := c.prompt.set.System("summarize", d)
	if err != nil {
		return r, err
	}
	task, err := c.prompt.set.User("summarize", d)
	if err != nil {
		return r, err
	}
	r = s.request()
	r.Messages = append(r.Messages, providers.Message{Role: providers.System, Text: system})
	for _, m := range said {
		if m.Role == providers.Assistant {
			m = providers.Message{Role: providers.User, Text: c.pseudonyms.Enclose(c.step.Actor, m.Text)}
		}
		r.Messages = append(r.Messages, m)
	}
	r.Messages = append(r.Messages, providers.Message{Role: providers.User, Text: task})
	return r, nil
}

// replaceHistory replaces the first n messages of the history with m.
func (c *execution) replaceHistory(n int, m providers.Message) {
	for _, old := range c.prompt.messages[1 : 1+n] {
		gone := c.count(old.Text)
		c.prompt.tokens -= gone
		c.omitTurn(gone)
	}
	c.prompt.tokens += c.count(m.Text)
	c.setMessages(slices.Concat(c.prompt.messages[:1], []providers.Message{m}, c.prompt.messages[1+n:]))
	c.attempts.askedAgain = false
}

// shrink removes the oldest part of the history until the prompt has about the given number of tokens. It removes a
// summary only after the turns that follow it. It never removes the newest turn, but cuts its text. It returns false
// if nothing can be removed.
func (c *execution) shrink(tokens int) bool {
	list, first := slices.Clone(c.prompt.messages), 1
	if len(list) < 3 {
		return false
	}
	if c.prompt.summarized {
		first = 2
	}
	for ; first > 0; first-- {
		for len(list) > first+2 && c.prompt.tokens > tokens { // keep the system prompt, the newest turn and the task
			gone := c.count(list[first].Text)
			list = slices.Delete(list, first, first+1)
			c.prompt.tokens -= gone
			c.omitTurn(gone)
			c.prompt.summarized = c.prompt.summarized && first > 1
		}
	}
	if len(list) == 3 && c.prompt.tokens > tokens {
		list[1].Text = c.clipNewest(list[1].Text, c.prompt.tokens-tokens)
	}
	if slices.EqualFunc(list, c.prompt.messages, func(a, b providers.Message) bool { return a.Text == b.Text }) {
		return false
	}
	c.setMessages(list)
	c.attempts.askedAgain = false
	return true
}

// clipNewest removes about the given number of tokens from a turn, but leaves at least a hundred. It keeps the
// delimiter at the end.
func (c *execution) clipNewest(text string, by int) string {
	const least = 100
	has, end := c.count(text), ""
	if has <= 2*least {
		return text
	}
	if at := strings.LastIndexByte(text, '\n'); at >= 0 {
		text, end = text[:at], text[at:]
	}
	text = window.Clip(text, max(has-by, least)) + end
	gone := has - c.count(text)
	c.prompt.tokens -= gone
	c.omit(gone, 0)
	return text
}

// omitTurn records that one more turn of the history is omitted.
func (c *execution) omitTurn(tokens int) { c.omit(tokens, 1) }

// omit records that the given number of tokens and turns of the history are omitted, and that the rest is all that
// fits.
func (c *execution) omit(tokens, turns int) {
	c.turn.omit(tokens, turns, transcript.Window{Used: c.prompt.history, Kept: len(c.prompt.messages) - 2})
}
