package step

import (
	"slices"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// shorten shortens a prompt that the service rejected as too long, as far as the plan allows. summarize replaces the older
// half of the history with a summary, or returns false. shorten returns false if nothing can be removed.
func (q *query) shorten(summarize func() bool) bool {
	if !q.Shorten {
		return false
	}
	if q.halveResults() {
		return true
	}
	if len(q.Messages) < 3 { // only the system prompt and the task
		return false
	}
	if q.dropReasoning() {
		return true
	}
	if q.Summarize && !q.summarized && summarize() {
		return true
	}
	return q.halveHistory()
}

// halveHistory removes the older half of the history. It returns false if nothing can be removed.
func (q *query) halveHistory() bool {
	history := 0
	for _, m := range q.Messages[1 : len(q.Messages)-1] {
		history += q.count(m.Text)
	}
	return q.shrink(q.Tokens - (history+1)/2)
}

// dropReasoning removes opaque reasoning from the prompt, and nothing else. It returns false if there is none.
func (q *query) dropReasoning() bool {
	if q.Opaque == 0 {
		return false
	}
	list := slices.Clone(q.Messages)
	for i, m := range list {
		rest := slices.DeleteFunc(slices.Clone(m.Parts), func(p providers.Part) bool {
			return p.Reasoning != nil
		})
		switch {
		case len(rest) == len(m.Parts):
		case len(rest) == 1 && rest[0].Text != "":
			list[i] = providers.Message{
				Role: m.Role,
				Text: rest[0].Text,
			}
		default:
			list[i].Parts = rest
		}
	}
	q.Tokens = q.Tokens - q.Opaque
	q.History = q.History - q.Opaque
	q.Opaque = 0
	q.setMessages(list)
	q.forgetAsks()
	return true
}

// useSummary replaces the older half of the history with a summary.
func (q *query) useSummary(m *judge.Pseudonyms, said string) {
	q.summarized = true
	q.Summarized = true
	q.replaceHistory(len(q.olderHalf()), Message(providers.User, m.Enclose(q.Heading, said)))
}

// olderHalf returns the older half of the messages between the system prompt and the task.
func (q *query) olderHalf() []providers.Message {
	return q.Messages[1 : 1+(len(q.Messages)-1)/2]
}

// summaryRequest returns the request for a summary of the older half of the history.
func (q *query) summaryRequest(s *Model, m *judge.Pseudonyms, actor string) (r providers.Request, err error) {
	d := prompts.Data{
		Topic:      q.Base.Topic,
		Background: q.Base.Background,
		Nonce:      q.Base.Nonce,
		Blind:      q.Base.Blind,
		Me:         transcript.Profile{Instructions: s.Instructions},
	}
	system, err := q.Set.System("summarize", d)
	if err != nil {
		return r, err
	}
	task, err := q.Set.User("summarize", d)
	if err != nil {
		return r, err
	}
	r = s.Request
	r.Messages = append(r.Messages, Message(providers.System, system))
	for _, said := range q.olderHalf() {
		if said.Role == providers.Assistant {
			said = Message(providers.User, m.Enclose(actor, said.Text))
		}
		r.Messages = append(r.Messages, said)
	}
	r.Messages = append(r.Messages, Message(providers.User, task))
	return r, nil
}

// replaceHistory replaces the first n messages of the history with m.
func (q *query) replaceHistory(n int, m providers.Message) {
	for _, old := range q.Messages[1 : 1+n] {
		gone := q.count(old.Text)
		q.Tokens -= gone
		q.omitTurn(gone)
	}
	q.Tokens += q.count(m.Text)
	q.setMessages(slices.Concat(q.Messages[:1], []providers.Message{m}, q.Messages[1+n:]))
	q.forgetAsks()
}

// shrink removes the oldest part of the history until the prompt has about the given number of tokens. It removes a
// summary only after the turns that follow it. It never removes the newest turn, but cuts its text. It returns false
// if nothing can be removed.
func (q *query) shrink(tokens int) bool {
	list := slices.Clone(q.Messages)
	first := 1
	if len(list) < 3 {
		return false
	}
	if q.Summarized {
		first = 2
	}
	for ; first > 0; first-- {
		for len(list) > first+2 && q.Tokens > tokens { // the system prompt, the newest turn and the task stay
			gone := q.count(list[first].Text)
			list = slices.Delete(list, first, first+1)
			q.Tokens -= gone
			q.omitTurn(gone)
			q.Summarized = q.Summarized && first > 1
		}
	}
	if len(list) == 3 && q.Tokens > tokens {
		list[1].Text = q.clipNewest(list[1].Text, q.Tokens-tokens)
	}
	if slices.EqualFunc(list, q.Messages, func(a, b providers.Message) bool { return a.Text == b.Text }) {
		return false
	}
	q.setMessages(list)
	q.forgetAsks()
	return true
}

// change replaces the model with another one, which starts with a fresh request.
func (q *query) change(m Model) {
	was := &q.model.Request
	if d := q.dialog; d != nil && d.schema != nil {
		was.Schema = d.schema
	}
	q.dropRounds()
	m.Request.Messages = q.allMessages(q.Messages)
	m.Request.Schema = was.Schema
	m.Request.SchemaName = was.SchemaName
	q.model = m
	q.capRaised = false
	q.forgetAsks()
	q.offerTools()
	if q.Tokens > m.Room {
		q.shrink(m.Room)
	}
}

// clipNewest removes about the given number of tokens from a turn, but leaves at least a hundred. It keeps the
// delimiter at the end.
func (q *query) clipNewest(text string, by int) string {
	const least = 100
	has := q.count(text)
	end := ""
	if has <= 2*least {
		return text
	}
	if at := strings.LastIndexByte(text, '\n'); at >= 0 {
		text, end = text[:at], text[at:]
	}
	text = window.Clip(text, max(has-by, least)) + end
	gone := has - q.count(text)
	q.Tokens -= gone
	q.omit(gone, 0)
	return text
}

// omitTurn records that one more turn of the history is omitted.
func (q *query) omitTurn(tokens int) { q.omit(tokens, 1) }

// omit records that the given number of tokens and turns of the history are omitted, and that the rest is all that
// fits.
func (q *query) omit(tokens, turns int) {
	w := transcript.Window{
		Used: q.History,
		Kept: len(q.Messages) - 2,
	}
	if q.window != nil {
		w = *q.window
	}
	w.Used = max(w.Used-tokens, 0)
	w.Kept = w.Kept - turns
	w.Omitted = w.Omitted + turns
	w.Limit = w.Used
	q.window = &w
}
