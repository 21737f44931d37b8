package debate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/providers"
)

// reconsider prepares a request to reconsider the reply that was accepted if the step doubts it, and returns an error for
// the attempt. It does so once, and not if the configuration allows no further attempt. r is the reply as it came.
func (c *execution) reconsider(r providers.Response) error {
	last := len(c.turn.Attempts)+1-c.attempts.waitedAfter >= c.config.Limits.StepAttempts
	if c.step.Doubt == nil || c.attempts.doubtful != nil || last || c.maxRetries(providers.InvalidResponse) == 0 {
		return nil
	}
	v, err := c.contract.Decode(reply.Reply{Data: c.turn.Data})
	if err != nil {
		return err
	}
	doubts := c.step.Doubt(v)
	if len(doubts) == 0 {
		return nil
	}
	kept := c.turn
	c.attempts.doubtful = &kept
	return c.ask("reconsider", r, c.pseudonyms.HideAll(slices.Clone(doubts)), fmt.Errorf("the reply is doubtful: %s", strings.Join(doubts, "; ")))
}

// ask adds a reply and a request for another one, with its reasons, to the messages, and returns an error for the attempt.
func (c *execution) ask(prompt string, r providers.Response, reasons []string, cause error) error {
	c.attempts.askedAgain = true
	c.prompt.data.Violations = reasons
	words, err := c.prompt.set.User(prompt, *c.prompt.data)
	if err != nil {
		return &providers.Error{Kind: providers.InvalidRequest, Partial: r, Err: err}
	}
	c.request.Messages = append(slices.Clone(c.request.Messages),
		providers.Message{Role: providers.Assistant, Text: r.Text}, providers.Message{Role: providers.User, Text: words})
	return &providers.Error{Kind: providers.InvalidResponse, Partial: r, Err: fmt.Errorf("%w: %w", errAskedAgain, cause)}
}
