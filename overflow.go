package debate

import (
	"slices"
	"time"

	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// relieve makes a prompt shorter that the service finds too long, as the debate's policy says; false: it does not.
func (c *call) relieve() bool {
	if len(c.asked) < 3 { // nothing but the system's words and the task
		return false
	}
	switch c.config.OnOverflow {
	case Degrade, End:
		return false
	case Summarize:
		if !c.summed && c.sumUp() {
			return true
		}
	default:
	}
	history := 0
	for _, m := range c.asked[1 : len(c.asked)-1] {
		history += c.count(m.Text)
	}
	return c.shrink(c.tokens - (history+1)/2)
}

// sumUp has the summarizer put the older half of the history in fewer words. What that uses counts as the step's.
func (c *call) sumUp() bool {
	n := (len(c.asked) - 1) / 2 // of what stands between the system's words and the task
	s := &c.config.Summarizer
	name, provider, err := c.bind(s.Provider)
	if err != nil || n == 0 {
		return false
	}
	r, err := c.minutes(s, c.asked[1:1+n])
	if err != nil {
		return false
	}
	began := time.Now()
	resp, err := provider.Generate(c.ctx, r)
	if failed := providers.AsError(err); failed != nil {
		resp = failed.Partial
	}
	a := transcript.Attempt{Provider: name, Model: s.Model, Usage: c.usage(resp, err == nil), Took: time.Since(began)}
	c.tried(a, resp, err)
	if err != nil || resp.Text == "" {
		return false
	}
	c.summed, c.summary = true, true
	c.replace(n, providers.Message{Role: providers.User, Text: c.mask.enclose(before, resp.Text)})
	return true
}

// minutes is the request for a summary of messages.
func (c *call) minutes(s *Participant, said []providers.Message) (r providers.Request, err error) {
	d := prompts.Data{Topic: c.data.Topic, Background: c.data.Background, Me: transcript.Seat{Instructions: s.Instructions}}
	system, err := c.set.System("summarize", d)
	if err != nil {
		return r, err
	}
	task, err := c.set.User("summarize", d)
	if err != nil {
		return r, err
	}
	r = providers.Request{Model: s.Model, Temperature: s.Temperature, MaxTokens: s.MaxTokens}
	r.Messages = append(r.Messages, providers.Message{Role: providers.System, Text: system})
	for _, m := range said {
		if m.Role == providers.Assistant {
			m = providers.Message{Role: providers.User, Text: c.step.Actor + ": " + m.Text}
		}
		r.Messages = append(r.Messages, m)
	}
	r.Messages = append(r.Messages, providers.Message{Role: providers.User, Text: task})
	return r, nil
}

// replace puts a message in the place of the first n of the history.
func (c *call) replace(n int, m providers.Message) {
	for _, old := range c.asked[1 : 1+n] {
		gone := c.count(old.Text)
		c.tokens -= gone
		c.leaveOut(gone)
	}
	c.tokens += c.count(m.Text)
	c.asked = slices.Concat(c.asked[:1], []providers.Message{m}, c.asked[1+n:])
	c.request.Messages, c.reasked = c.asked, false
}
