package step

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/seal"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// choice is the reply of a judge in these tests.
type choice struct {
	Winner string `json:"winner"`
}

var choices = reply.New[choice]("choice/1")

// recorder is a host that writes down what happens.
type recorder struct {
	log    []string
	texts  []string // of the calls
	left   bool     // the viewer has left
	begins func(a Attempt)
	look   func(text string) // what the viewer does with a piece
	rounds []Calls
	tools  func(Calls) error // runs calls in place of the recorder
	run    *Run
	others Others
}

// Others implements Host.
func (h *recorder) Others(context.Context, string, time.Time) Others { return h.others }

func (h *recorder) add(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func (h *recorder) Begin(ctx context.Context, a Attempt) (context.Context, Call, error) {
	what := "begin"
	if a.Summary {
		what = "summarize"
	}
	h.add("%s %d %s/%s", what, a.Number, a.Provider, a.Request.Model)
	h.texts = append(h.texts, "")
	c := &recordedCall{recorder: h, at: len(h.texts) - 1}
	if h.left {
		return ctx, c, errLeft
	}
	if h.begins != nil {
		h.begins(a)
	}
	return ctx, c, nil
}

var errLeft = errors.New("the viewer has left")

type recordedCall struct {
	*recorder

	at int
}

func (c *recordedCall) Chunk(text string) error {
	c.texts[c.at] += text
	if c.look != nil {
		c.run.Viewing(true)
		c.look(text)
		c.run.Viewing(false)
	}
	return nil
}

func (c *recordedCall) Text() string { return c.texts[c.at] }

func (c *recordedCall) End(a *transcript.Attempt, _ *providers.Response, err error) {
	switch {
	case a == nil:
		c.add("end: %v", err)
	case err != nil:
		c.add("end: %s", a.ErrorKind)
	default:
		c.add("end")
	}
}

func (c *recordedCall) Failed(e *providers.Error, wait time.Duration) error {
	switch {
	case wait < 0:
		c.add("failed: %s, no retry", e.Kind)
	case wait == 0:
		c.add("failed: %s, again", e.Kind)
	default:
		c.add("failed: %s, later", e.Kind)
	}
	return nil
}

// newRun returns a run of a speech of A with three turns before it, each of about 1,000 tokens.
func newRun(t testing.TB, model providers.Provider) *Run {
	t.Helper()
	set, err := prompts.Load(nil)
	require.NoError(t, err)
	r := &Run{Plan: Plan{
		Step:  protocol.Step{Key: transcript.Key{Run: 1, Round: 1, Phase: "respond", Actor: "A"}, Kind: transcript.Speech, VisibleSeq: 7},
		Model: Model{Provider: "p", Client: model, Request: providers.Request{Model: "m", MaxTokens: 500}, Window: 10000},
		Prompt: Prompt{
			Set: set, Base: &prompts.Data{Topic: "Cars?"}, Shorten: true, Heading: "Summary", Tokens: 3100, History: 3000,
			Messages: []providers.Message{
				{
					Role: providers.System,
					Text: "You are A.",
				}, said("B", 1), {Role: providers.Assistant, Text: strings.Repeat("mine ", 800)}, said("C", 3), {Role: providers.User, Text: "Speak."},
			},
		},
		Pseudonyms:    judge.NewPseudonyms(nil, "seed", "", false),
		Keys:          &seal.Keys{},
		Limits:        Limits{Attempts: 6, Time: 10 * time.Minute, Remaining: time.Hour},
		Participating: true, KeepReplies: true,
		Count: func(_, text string) int { return window.Estimate(text) }, Answers: &Answers{}, Hold: &Hold{},
	}}
	r.Plan.Hold.Set(false)
	return r
}

func said(who string, round int) providers.Message {
	return providers.Message{Role: providers.User, Text: fmt.Sprintf("%s in round %d: %s", who, round, strings.Repeat("word ", 800))}
}

// judging changes a run to one of a judge, whose reply is structured.
func judging(r *Run) {
	p := &r.Plan
	p.Step.Actor = "J"
	p.Step.Kind = transcript.Conclusion
	p.Step.Contract = choices.Name()
	p.Contract = choices
	p.Names = []string{"A", "B"}
	p.Participating = false
	p.Judging = true
	p.Prompt.Data = &prompts.Data{Topic: "Cars?"}
}

// do executes a run and requires that its requests can be repeated from what the turn or the failure has.
func do(t *testing.T, r *Run, h *recorder) (*transcript.Turn, error) {
	t.Helper()
	again := &Run{Plan: r.Plan}
	if t := r.Plan.Tools; t != nil {
		again.Plan.Tools = new(*t)
	}
	if r.Plan.Prompt.Data != nil {
		data := *r.Plan.Prompt.Data
		again.Plan.Prompt.Data = &data
	}
	h.run = r
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	turn, err := r.Do(ctx, cancel, h)
	if turn != nil && turn.Attempts != nil && !slices.Contains(turn.Flags, transcript.Partial) && !slices.Contains(
		turn.Flags,
		transcript.Defaulted,
	) {
		for i, c := range h.rounds {
			if at := c.Number - 1; at < len(again.Plan.Tools.Rounds) { // the rest of a round that was stored before
				again.Plan.Tools.Rounds[at] = *c.Round
			} else {
				again.Plan.Tools.Rounds = append(again.Plan.Tools.Rounds, *h.rounds[i].Round)
			}
		}
		request, _, missing := again.Repeat(turn.Attempts, turn.Window)
		require.Empty(t, missing)
		last := r.query.model.Request
		last.OnChunk = nil
		require.Equal(t, last, request, "the last request")
	}
	return turn, err
}

func failing(kind providers.ErrorKind) scripted.Reply {
	return scripted.Reply{Err: &providers.Error{Kind: kind, Err: errors.New("it failed")}}
}

// Tools answers each call with its own arguments, and writes down what it is asked.
func (h *recorder) Tools(_ context.Context, c Calls) error {
	h.add("round %d", c.Number)
	h.rounds = append(h.rounds, c)
	if h.tools != nil {
		return h.tools(c)
	}
	c.Results = nil
	for _, p := range c.Parts {
		if p.ToolCall != nil {
			c.Results = append(c.Results, Result{Text: "found " + string(p.ToolCall.Arguments)})
		}
	}
	c.Round.Results = c.Results
	return nil
}
