package forktest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// life is a debate in which more happens than turns.
type life struct {
	change func(*debate.Config)
	fails  func(step debate.Step) bool // calls that fail; nil if none does
	// decides returns the answer to a question that no gate asks, and a remark for the answer edit.
	decides func(q *debate.Question) (action, remark string)
	// after acts after an event of the parent; nil if nothing happens. It does not act in forks.
	after func(t *testing.T, d *debate.Debate, ev debate.Event)
	reset bool // a debate in error is reset rather than retried
	other bool // forks may come to another end than the parent, because after changed it
}

// failing is a model some of whose calls fail for good.
type failing struct {
	providers.Provider
	fails func(debate.Step) bool
}

func (m failing) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if s, _ := debate.StepFrom(ctx); m.fails != nil && m.fails(s) {
		return providers.Response{}, &providers.Error{Kind: providers.ServerError, Err: errors.New("it fails")}
	}
	return m.Provider.Generate(ctx, r)
}

// of reports whether a call is for a step of an actor with a model other than m.
func of(actor string) func(debate.Step) bool {
	return func(s debate.Step) bool { return s.Key.Actor == actor && s.Provider == "m" }
}

func lives() map[string]life {
	ask := func(action string) func(*debate.Question) (string, string) {
		return func(*debate.Question) (string, string) { return action, "" }
	}
	return map[string]life{
		"people and gates": {
			change: func(c *debate.Config) {
				c.Participants[1], c.Judges[0] = debate.Participant{Name: "B", Human: true}, debate.Participant{Name: "J", Human: true}
				c.AskBeforeRounds, c.AskBeforeVerdict = true, true
			},
		},
		"gates with remarks": {
			change:  func(c *debate.Config) { c.AskBeforeRounds = true },
			decides: func(q *debate.Question) (string, string) { return "edit", "Think of " + q.Gate },
		},
		"a gate that ends the debate": {
			change: func(c *debate.Config) { c.AskBeforeRounds = true },
			decides: func(q *debate.Question) (string, string) {
				return map[bool]string{true: "approve", false: "stop"}[q.Gate == "round 1"], ""
			},
		},
		"a participant that drops out": {fails: of("C")},
		"quorum lost":                  {change: func(c *debate.Config) { c.Participants = c.Participants[:2] }, fails: func(s debate.Step) bool { return s.Key.Round == 2 && s.Key.Actor == "B" }},
		"a failure in parallel":        {change: func(c *debate.Config) { c.Protocol = panel.Protocol{Mode: panel.Simultaneous} }, fails: of("B")},
		"a judge that drops out":       {change: func(c *debate.Config) { c.OnJudgeFailure = debate.DropJudge }, fails: of("J")},
		"a judge whose failure ends the debate": {
			change: func(c *debate.Config) { c.OnJudgeFailure = debate.End }, fails: of("J"),
		},
		"a judge with a default":    {fails: of("J")},
		"a judge with a substitute": {change: func(c *debate.Config) { c.Substitutes = []debate.Participant{{Provider: "n"}} }, fails: of("J")},
		"an actor that is dropped by decision": {
			change: func(c *debate.Config) { c.OnFailure, c.AskBeforeRounds = debate.Ask, true }, fails: of("C"),
			decides: func(q *debate.Question) (string, string) {
				return map[bool]string{true: "approve", false: "drop"}[q.Gate != ""], ""
			},
		},
		"a decision that ends the debate": {
			change: func(c *debate.Config) { c.OnFailure = debate.Ask }, fails: of("C"), decides: ask("end"),
		},
		"an error and a reset": {
			change: func(c *debate.Config) { c.Participants = c.Participants[:2] }, fails: func(s debate.Step) bool { return s.Key.Run == 1 && s.Key.Actor == "B" }, reset: true,
		},
		"a pause after each turn": {after: func(t *testing.T, d *debate.Debate, ev debate.Event) {
			if _, turn := ev.(debate.TurnDone); turn && debatetest.Status(t, d).State.Active() {
				require.NoError(t, d.Pause(t.Context()))
			}
		}},
		"an edit after a reset": {
			change: func(c *debate.Config) { c.Participants = c.Participants[:2] }, fails: func(s debate.Step) bool { return s.Key.Run == 1 && s.Key.Actor == "B" }, reset: true, other: true,
			after: func(t *testing.T, d *debate.Debate, ev debate.Event) {
				if s, ok := ev.(debate.StateChanged); ok && s.On == fsm.Fail {
					require.NoError(t, d.Reset(t.Context()))
					c := lifeConfig()
					c.Topic = "Ban bikes?"
					require.NoError(t, d.Edit(t.Context(), c))
				}
			},
		},
		"a person who declines": {change: func(c *debate.Config) { c.Participants[2] = debate.Participant{Name: "C", Human: true} }},
		"a stop": {other: true, after: func(t *testing.T, d *debate.Debate, ev debate.Event) {
			if turn, ok := ev.(debate.TurnDone); ok && turn.Turn.Round == 2 && turn.Turn.Actor == "A" {
				require.NoError(t, d.Stop(t.Context()))
			}
		}},
		"a cancel": {other: true, after: func(t *testing.T, d *debate.Debate, ev debate.Event) {
			if turn, ok := ev.(debate.TurnDone); ok && turn.Turn.Round == 2 && turn.Turn.Actor == "A" {
				require.NoError(t, d.Cancel(t.Context()))
			}
		}},
		"a remark": {other: true, after: func(t *testing.T, d *debate.Debate, ev debate.Event) {
			if turn, ok := ev.(debate.TurnDone); ok && turn.Turn.Actor == "B" && turn.Turn.Kind == transcript.Speech {
				require.NoError(t, d.Inject(t.Context(), debate.Remark{ID: fmt.Sprint("r", turn.Turn.Round), From: "Cleo", Text: "Think of buses."}))
			}
		}},
	}
}

func lifeConfig() debate.Config {
	c := debate.Config{ID: "d", Topic: "Ban cars?", Protocol: panel.Protocol{}, Limits: debate.Limits{MaxRounds: 2}, Retries: map[providers.ErrorKind]int{providers.ServerError: 0}}
	for _, name := range []string{"A", "B", "C"} {
		c.Participants = append(c.Participants, debate.Participant{Name: name, Provider: "m"})
	}
	c.Judges = []debate.Participant{{Name: "J", Provider: "m"}, {Name: "K", Provider: "m"}}
	return c
}

// lead runs the debate of a life to its end.
func (l life) lead(t *testing.T) (cfg debate.Config, e *debate.Engine, m *recorder, d *debate.Debate) {
	cfg = lifeConfig()
	if l.change != nil {
		l.change(&cfg)
	}
	e, m = newEngine(t, cfg, func(o *debate.Options) {
		model := failing{o.Providers["m"], l.fails}
		o.Providers = map[string]providers.Provider{"m": model, "n": model}
	})
	d = create(t, e, cfg)
	l.finish(t, d, cfg, l.after)
	return cfg, e, m, d
}

// A fork at any entry of a debate with people, gates, failures and controls is in a state that a debate can be in, and
// comes to the same end.
func TestForksOfAllLives(t *testing.T) {
	for name, l := range lives() {
		t.Run(name, func(t *testing.T) {
			cfg, e, m, parent := l.lead(t)
			m.take()
			want, list := outcome(t, parent), events(t, parent)
			require.Greater(t, len(list), 8)
			require.NoError(t, parent.Verify(t.Context()))
			derivedtest.Require(t, parent)
			sample := enginetest.NewSample(t, 12)
			for i, before := range turnsAfter(t, parent) {
				if !sample.Tries(list[i].Meta().Type) {
					continue
				}
				seq := int64(i) + 1
				d := fork(t, e, seq, debate.Edits{ID: fmt.Sprint("fork-", seq)})
				is := debatetest.Status(t, d)
				require.NotContains(t, []fsm.State{fsm.Ready, fsm.Validating}, is.State)
				require.False(t, is.State.Active(), "entry %d: %s", seq, is.State)
				stood := debatetest.Result(t, d).Turns
				require.GreaterOrEqual(t, len(stood), len(before))
				require.Equal(t, texts(before), texts(stood[:len(before)]), "entry %d", seq)
				l.requireReason(t, d)
				l.finish(t, d, cfg, nil)
				require.NoError(t, d.Verify(t.Context()), "entry %d", seq)
				derivedtest.Require(t, d)
				if l.other {
					require.True(t, debatetest.Status(t, d).State.Final())
					continue
				}
				require.Equal(t, want, outcome(t, d), "entry %d: %#v", seq, list[i])
				if l.after == nil {
					require.Equal(t, story(list), story(events(t, d)), "entry %d", seq)
				}
			}
		})
	}
}

// requireReason requires that a paused fork waits for a decision, for people or for its start, unless a person paused its
// parent.
func (l life) requireReason(t *testing.T, d *debate.Debate) {
	t.Helper()
	r, list := debatetest.Result(t, d), events(t, d)
	waiting := debatetest.Waiting(t, d)
	if r.State == fsm.Paused && r.Question == nil && len(waiting) == 0 && l.after == nil {
		last, _ := list[len(list)-1].(debate.StateChanged)
		require.True(t, last.Fork, "%#v", list[len(list)-1])
	}
}

// story returns what a journal tells, sorted, without the pause of a fork and the check of its configuration.
func story(list []debate.Event) (text []string) {
	idle := false
	for _, ev := range list {
		line := fmt.Sprintf("%T", ev)
		switch ev := ev.(type) {
		case debate.StateChanged:
			switch ev.On {
			case fsm.Edit, fsm.Validate, fsm.Accept:
				continue
			default:
			}
			if ev.Fork || idle && ev.On == fsm.Resume {
				idle = ev.Fork
				continue
			}
			line += fmt.Sprint(ev.From, ev.On, ev.To)
		case debate.TurnDone:
			line += ev.Turn.Key.String()
		case debate.Decided:
			line += ev.Action + ev.Key.String()
		case debate.Dropped:
			line += ev.Name
		case debate.PhaseStarted:
			line += ev.Phase
		case debate.Asked:
			line += ev.Key.String()
		}
		text = append(text, line)
	}
	slices.Sort(text) // the turns of a parallel phase come in any order
	return text
}

// finish runs a debate to its end: people reply, questions are answered, a pause ends, and an error is retried or reset.
func (l life) finish(t *testing.T, d *debate.Debate, cfg debate.Config, after func(*testing.T, *debate.Debate, debate.Event)) {
	t.Helper()
	for range 100 {
		for ev, err := range d.Run(t.Context()) {
			if err == nil && after != nil {
				after(t, d, ev)
			}
		}
		r := debatetest.Result(t, d)
		waiting := debatetest.Waiting(t, d)
		switch {
		case r.State.Final():
			return
		case r.Question != nil:
			require.NoError(t, l.decide(t, d, r.Question))
		case len(waiting) > 0 && strings.Contains(t.Name(), "declines"):
			require.NoError(t, d.Decline(t.Context(), waiting[0].Key, "no time", ""))
		case len(waiting) > 0:
			require.NoError(t, enginetest.ReplyForPeople(t.Context(), d, cfg))
		case r.State == fsm.Paused:
			require.NoError(t, d.Resume(t.Context()))
		case r.State == fsm.Error && l.reset:
			require.NoError(t, d.Reset(t.Context()))
		}
	}
	require.Fail(t, "the debate does not end", "%s", debatetest.Status(t, d).State)
}

func (l life) decide(t *testing.T, d *debate.Debate, q *debate.Question) error {
	action, remark := "approve", ""
	if l.decides != nil {
		action, remark = l.decides(q)
	}
	if remark != "" {
		return d.Decide(t.Context(), q.ID, action, debate.Remark{ID: q.Gate, From: "Cleo", Text: remark})
	}
	return d.Decide(t.Context(), q.ID, action)
}

// events returns the stored events of a debate.
func events(t testing.TB, d *debate.Debate) (list []debate.Event) {
	t.Helper()
	for s, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		list = append(list, s.Event)
	}
	return list
}

// turnsAfter returns the turns of the debate after each of its entries.
func turnsAfter(t testing.TB, d *debate.Debate) (list [][]transcript.Turn) {
	t.Helper()
	for s, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		list = append(list, s.Result().Turns)
	}
	return list
}

// texts returns the keys and texts of turns.
func texts(turns []transcript.Turn) (list []string) {
	for _, turn := range turns {
		list = append(list, fmt.Sprint(turn.Key, turn.Text))
	}
	return list
}
