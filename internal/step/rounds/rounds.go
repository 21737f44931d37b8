// Package rounds keeps the rounds of tool calls of a debate: which calls a step has made before, which wait for a person, and
// which results are there. It knows no journal and no engine.
package rounds

import (
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

// Rounds are the rounds of tool calls in a run of a debate. The zero value has none.
type Rounds struct {
	open    []*Step                 // steps with rounds and without a turn, in the order of their first rounds
	results map[string]*tool.Record // the first result of each call in the run, for equal calls; see toolcall.Key
	decided map[string]Decision     // by the ID of the call
}

// Decision is what a person has decided about a call.
type Decision struct {
	Refused bool
	Reason  string
}

// Step holds the rounds of a step that has no turn yet.
type Step struct {
	Counted int // rounds whose attempts a failure of the step has

	key    transcript.Key
	rounds []journal.ToolsCalled // with the calls of the last entry of each round
}

// Of returns the rounds of a step, or nil if it has none.
func (t *Rounds) Of(k transcript.Key) *Step {
	for _, o := range t.open {
		if o.key == k {
			return o
		}
	}
	return nil
}

// Last returns the last round, or nil if there is none.
func (o *Step) Last() *journal.ToolsCalled {
	if o == nil || len(o.rounds) == 0 {
		return nil
	}
	return &o.rounds[len(o.rounds)-1]
}

// IsOpen reports whether a call of a round has no result yet. It is false if ev is nil.
func IsOpen(ev *journal.ToolsCalled) bool {
	return ev != nil && slices.ContainsFunc(ev.Calls, func(c tool.Record) bool {
		return !c.Done
	})
}

// Check returns an error if an entry is not the next one of its step.
func (t *Rounds) Check(ev *journal.ToolsCalled) error {
	last := t.Of(ev.Key).Last()
	number := 1
	if last != nil {
		number = last.Number + 1
	}
	switch {
	case IsOpen(last) && ev.Number == last.Number:
		if len(ev.Calls) != len(last.Calls) ||
			ev.Parts != nil ||
			ev.Attempts != nil {
			return fmt.Errorf("it does not continue round %d of the tool calls of its step", ev.Number)
		}
	case IsOpen(last) || ev.Number != number:
		return fmt.Errorf("it is round %d of the tool calls of its step, want %d", ev.Number, number)
	case len(ev.Calls) == 0 || len(ev.Attempts) == 0:
		return errors.New("it has no calls")
	}
	return nil
}

// Add adds an entry.
func (t *Rounds) Add(ev *journal.ToolsCalled) {
	o := t.Of(ev.Key)
	if o == nil {
		o = &Step{key: ev.Key}
		t.open = append(t.open, o)
	}
	if last := o.Last(); IsOpen(last) {
		last.Calls = ev.Calls
	} else {
		o.rounds = append(o.rounds, *ev)
	}
	for i := range ev.Calls {
		if c := &ev.Calls[i]; c.Done &&
			c.Error == "" &&
			t.results[toolcall.Key(c)] == nil {
			if t.results == nil {
				t.results = map[string]*tool.Record{}
			}
			t.results[toolcall.Key(c)] = c
		}
	}
}

// End removes the rounds of a step that has a turn with the given attempts. It returns the usage that no turn and no failure
// has: a person has given the reply in place of the model.
func (t *Rounds) End(k transcript.Key, attempts []transcript.Attempt) (lost transcript.Usage) {
	o := t.Of(k)
	if o == nil {
		return lost
	}
	if len(attempts) == 0 {
		lost = o.usage()
	}
	t.open = slices.DeleteFunc(t.open, func(x *Step) bool {
		return x == o
	})
	return lost
}

// Failed notes that a failure of a step has the attempts of its rounds.
func (t *Rounds) Failed(k transcript.Key, attempts []transcript.Attempt) {
	if o := t.Of(k); o != nil && len(attempts) > 0 {
		o.Counted = len(o.rounds)
	}
}

// Usage returns the usage of all rounds of a step that has no turn yet, also of those whose attempts a failure has. It is zero
// if o is nil.
func (o *Step) Usage() (u transcript.Usage) {
	if o != nil {
		u = usageOf(o.rounds)
	}
	return u
}

// InPhase returns the usage of all rounds of the steps in the phase of k that have no turns yet.
func (t *Rounds) InPhase(k transcript.Key) (u transcript.Usage) {
	for _, o := range t.open {
		if o.key.Run == k.Run && o.key.Round == k.Round && o.key.Phase == k.Phase {
			u = u.Add(o.Usage())
		}
	}
	return u
}

// AddTo adds the usage of the rounds that no turn and no failure has to u.
func (t *Rounds) AddTo(u transcript.Usage) transcript.Usage {
	for _, o := range t.open {
		u = u.Add(o.usage())
	}
	return u
}

// Decide notes what a person has decided about the call with the given ID.
func (t *Rounds) Decide(id string, d Decision) {
	if t.decided == nil {
		t.decided = map[string]Decision{}
	}
	t.decided[id] = d
}

// Result returns the first result of a call that equals c, or nil if there is none.
func (t *Rounds) Result(c *tool.Record) *tool.Record {
	return t.results[toolcall.Key(c)]
}

// usage returns the usage of rounds that no failure has counted.
func (o *Step) usage() transcript.Usage { return usageOf(o.rounds[o.Counted:]) }

func usageOf(list []journal.ToolsCalled) (u transcript.Usage) {
	for _, ev := range list {
		for _, a := range ev.Attempts {
			u = u.Add(a.Usage)
		}
	}
	return u
}

// Plan returns the rounds as a step takes them.
func (o *Step) Plan() (list []step.Round) {
	for i := range o.rounds {
		ev := &o.rounds[i]
		round := step.Round{
			Attempts: ev.Attempts,
			Parts:    ev.Parts,
		}
		if !IsOpen(ev) {
			round.Results = Results(ev.Calls)
		}
		list = append(list, round)
	}
	return list
}

// Results returns the results of calls as a step takes them.
func Results(calls []tool.Record) []step.Result {
	list := make([]step.Result, len(calls))
	for i := range calls {
		list[i] = step.Result{
			Text:    calls[i].Text,
			Sources: sourceHeading(calls[i].Sources),
			Failed:  calls[i].Error != "",
		}
	}
	return list
}

// Awaited returns the call about which a person must decide next so that one of the steps can go on, or nil if there is none.
func (t *Rounds) Awaited(steps []protocol.Step) (k transcript.Key, c *tool.Record) {
	for i := range steps {
		last := t.Of(steps[i].Key).Last()
		if !IsOpen(last) {
			continue
		}
		for j := range last.Calls {
			c := &last.Calls[j]
			if _, decided := t.decided[c.ID]; c.Waits && !c.Done && !decided {
				return last.Key, c
			}
		}
	}
	return k, nil
}
