package fsm

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// cell is one line of the specification, which is written by hand and independent of the table: in state from, event on
// leads to state to if the condition holds. "paused<x" is a pause of state x.
type cell struct{ from, on, when, to string }

var spec = []cell{
	{"configuring", "edit", "", "configuring"},
	{"configuring", "validate", "", "validating"},
	{"configuring", "cancel", "", "canceled"},

	{"validating", "accept", "", "ready"},
	{"validating", "reject", "", "configuring"},
	{"validating", "pause", "", "paused<validating"},
	{"validating", "stop", "", "completing"},
	{"validating", "cancel", "", "canceled"},

	{"ready", "edit", "", "configuring"},
	{"ready", "start", "the configuration is valid", "initializing"},
	{"ready", "cancel", "", "canceled"},

	{"initializing", "initialized", "the debate ends", "completing"},
	{"initializing", "initialized", "the debate goes on", "running.awaiting_responses"},
	{"initializing", "pause", "", "paused<initializing"},
	{"initializing", "stop", "", "completing"},
	{"initializing", "fail", "", "error"},
	{"initializing", "cancel", "", "canceled"},

	{"running.awaiting_responses", "responded", "an assessment is due", "running.judging"},
	{"running.awaiting_responses", "responded", "no assessment is due", "running.round_complete"},
	{"running.awaiting_responses", "pause", "", "paused<running.awaiting_responses"},
	{"running.awaiting_responses", "stop", "", "completing"},
	{"running.awaiting_responses", "fail", "", "error"},
	{"running.awaiting_responses", "cancel", "", "canceled"},

	{"running.judging", "assessed", "the debate ends", "completing"},
	{"running.judging", "assessed", "the debate goes on", "running.round_complete"},
	{"running.judging", "pause", "", "paused<running.judging"},
	{"running.judging", "stop", "", "completing"},
	{"running.judging", "fail", "", "error"},
	{"running.judging", "cancel", "", "canceled"},

	{"running.round_complete", "advance", "the debate goes on", "running.awaiting_responses"},
	{"running.round_complete", "advance", "the debate ends", "completing"},
	{"running.round_complete", "pause", "", "paused<running.round_complete"},
	{"running.round_complete", "stop", "", "completing"},
	{"running.round_complete", "fail", "", "error"},
	{"running.round_complete", "cancel", "", "canceled"},

	{"paused<validating", "resume", "the question is decided", "validating"},
	{"paused<validating", "stop", "", "completing"},
	{"paused<validating", "cancel", "", "canceled"},
	{"paused<initializing", "resume", "the question is decided", "initializing"},
	{"paused<initializing", "stop", "", "completing"},
	{"paused<initializing", "cancel", "", "canceled"},
	{"paused<running.awaiting_responses", "resume", "the question is decided", "running.awaiting_responses"},
	{"paused<running.awaiting_responses", "stop", "", "completing"},
	{"paused<running.awaiting_responses", "cancel", "", "canceled"},
	{"paused<running.judging", "resume", "the question is decided", "running.judging"},
	{"paused<running.judging", "stop", "", "completing"},
	{"paused<running.judging", "cancel", "", "canceled"},
	{"paused<running.round_complete", "resume", "the question is decided", "running.round_complete"},
	{"paused<running.round_complete", "stop", "", "completing"},
	{"paused<running.round_complete", "cancel", "", "canceled"},
	{"paused<completing", "resume", "the question is decided", "completing"},
	{"paused<completing", "stop", "", "completing"},
	{"paused<completing", "cancel", "", "canceled"},

	{"completing", "concluded", "", "completed"},
	{"completing", "pause", "", "paused<completing"},
	{"completing", "fail", "", "error"},
	{"completing", "cancel", "", "canceled"},

	{"error", "retry", "the failure may pass", "ready"},
	{"error", "reset", "", "configuring"},
	{"error", "cancel", "", "canceled"},
}

// The rest of the specification: every state, every event in its order, and the guards that may refuse.
var (
	specStates = []string{
		"configuring", "validating", "ready", "initializing", "running.awaiting_responses", "running.judging",
		"running.round_complete", "paused", "completing", "completed", "canceled", "error",
	}
	specEvents = []Event{
		"edit", "validate", "accept", "reject", "start", "initialized", "responded", "assessed", "advance",
		"pause", "resume", "stop", "concluded", "fail", "retry", "reset", "cancel",
	}
	specGuards  = map[Event]string{"start": "hasValidConfig", "resume": "canProceed", "retry": "isRecoverable"}
	specMethods = map[Event]string{
		"edit": "Edit", "validate": "Start", "start": "Start", "pause": "Pause", "resume": "Resume", "stop": "Stop", "retry": "Retry", "reset": "Reset", "cancel": "Cancel",
	}
	conditions = map[string]func(Facts) bool{
		"":                           func(Facts) bool { return true },
		"the configuration is valid": func(f Facts) bool { return f.ValidConfig },
		"an assessment is due":       func(f Facts) bool { return f.AssessmentDue },
		"no assessment is due":       func(f Facts) bool { return !f.AssessmentDue },
		"the debate ends":            func(f Facts) bool { return f.HasOutcome },
		"the debate goes on":         func(f Facts) bool { return !f.HasOutcome },
		"the failure may pass":       func(f Facts) bool { return f.Recoverable },
		"the question is decided":    func(f Facts) bool { return f.NoOpenQuestion && !f.AwaitsPeople },
	}
)

func at(name string) Position {
	state, left, _ := strings.Cut(name, "<")
	return Position{State: State(state), PausedFrom: State(left)}
}

// everySnapshot returns the 16 positions of the specification.
func everySnapshot() []Position {
	all := []Position{{State: "completed"}, {State: "canceled"}}
	for _, c := range spec {
		if !slices.Contains(all, at(c.from)) {
			all = append(all, at(c.from))
		}
	}
	return all
}

func everyFacts() []Facts {
	var all []Facts
	for i := range 64 {
		all = append(all, factsOf(uint8(i)))
	}
	return all
}

func factsOf(bits uint8) Facts {
	return Facts{bits&1 != 0, bits&2 != 0, bits&4 != 0, bits&8 != 0, bits&16 != 0, bits&32 != 0}
}

type question struct {
	s Position
	e Event
	f Facts
}

// answers returns the complete specification: the result of each event for all facts.
var answers = sync.OnceValue(func() map[question]Position {
	all := map[question]Position{}
	for _, c := range spec {
		for _, f := range everyFacts() {
			if conditions[c.when](f) {
				all[question{at(c.from), Event(c.on), f}] = at(c.to)
			}
		}
	}
	return all
})

// expect returns the result of an event by the specification. Events that it does not mention are refused.
func expect(s Position, e Event, f Facts) (Position, bool) {
	if to, ok := answers()[question{s, e, f}]; ok {
		return to, true
	}
	return s, false
}

func expectPossible(s Position, f Facts) []Event {
	var all []Event
	for _, e := range specEvents {
		if _, ok := expect(s, e, f); ok {
			all = append(all, e)
		}
	}
	return all
}

// conforms compares a table with the specification in every position, for the events and all facts.
func conforms(table []row, events ...Event) error {
	g, facts := compile(table), everyFacts()
	for _, s := range everySnapshot() {
		for _, e := range events {
			for _, f := range facts {
				want, ok := expect(s, e, f)
				got, err := g.next(s, e, f)
				if ok != (err == nil) || ok && got.to != want {
					return fmt.Errorf("%s on %s with %+v leads to %+v, not to %s", s.engineName(), e, f, got, want.engineName())
				}
			}
		}
	}
	return nil
}

func TestEveryCellOfTheSpecification(t *testing.T) {
	for _, c := range spec {
		t.Run(c.from+" "+c.on+" when "+c.when, func(t *testing.T) {
			holds := 0
			for _, f := range everyFacts() {
				if !conditions[c.when](f) {
					continue
				}
				holds++
				got, err := Next(at(c.from), Event(c.on), f)
				require.NoError(t, err)
				require.Equal(t, at(c.to), got)
			}
			require.NotZero(t, holds)
		})
	}
}

func TestWhatTheSpecificationDoesNotMentionIsRefused(t *testing.T) {
	refusals := 0
	for _, s := range everySnapshot() {
		for _, e := range append(specEvents, "unheard of") {
			for _, f := range everyFacts() {
				if _, ok := expect(s, e, f); ok {
					continue
				}
				refusals++
				requireRefused(t, s, e, f)
			}
		}
	}
	require.Greater(t, refusals, 6000)
}

func requireRefused(t *testing.T, s Position, e Event, f Facts) {
	t.Helper()
	want := &Refused{State: s.State, Event: e, Possible: expectPossible(s, f)}
	if s.State == Paused && !f.NoOpenQuestion {
		want.Methods = append(want.Methods, "Decide")
	}
	if s.State == Paused && f.AwaitsPeople {
		want.Methods = append(want.Methods, "Answer", "Decline")
	}
	for _, p := range want.Possible {
		if m := specMethods[p]; m != "" {
			want.Methods = append(want.Methods, m)
		}
	}
	if slices.ContainsFunc(spec, func(c cell) bool { return at(c.from) == s && Event(c.on) == e }) {
		want.Guard = specGuards[e]
	}
	got, err := Next(s, e, f)
	var refused *Refused
	require.ErrorAs(t, err, &refused)
	require.Equal(t, want, refused)
	require.Equal(t, s, got, "a refusal changes nothing")
}

func TestARefusalSaysWhyAndWhatIsPossible(t *testing.T) {
	for want, s := range map[string]string{
		"Resume is not possible in state paused: guard canProceed does not hold; possible methods: Decide, Stop, Cancel": "paused<completing",
		"already completed": "completed",
		"already canceled":  "canceled",
		"Resume is not possible in state running.judging; possible methods: Pause, Stop, Cancel":        "running.judging",
		"Resume is not possible in state configuring; possible methods: Edit, Start, Cancel":            "configuring",
		"Resume is not possible in state running.round_complete; possible methods: Pause, Stop, Cancel": "running.round_complete",
	} {
		_, err := Next(at(s), Resume, Facts{})
		require.EqualError(t, err, want)
	}
}

func TestStatesAreListedInTheOrderOfALife(t *testing.T) {
	var want, active, final []State
	for _, s := range specStates {
		want = append(want, State(s))
		if s == "completed" || s == "canceled" {
			final = append(final, State(s))
		}
		switch s {
		case "validating", "initializing", "running.awaiting_responses", "running.judging", "running.round_complete", "completing":
			active = append(active, State(s))
		}
	}
	require.Equal(t, want, states)
	require.Equal(t, active, Active())
	require.Equal(t, final, slices.DeleteFunc(slices.Clone(states), func(s State) bool { return !s.Final() }))
	Active()[0] = "scribbled"
	require.Equal(t, active, Active(), "the list is the caller's own")
}
