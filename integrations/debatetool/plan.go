package debatetool

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/transcript"
)

// Phase is a phase of a debate: the steps that do one thing, such as the speeches of a round.
type Phase struct {
	Stage  transcript.Kind // setup, speech, assessment or conclusion
	Round  int             // 0 in the setup and in the conclusion
	Rounds int             // the largest number of rounds
	Name   string          // such as "argue"
	Steps  int             // replies that it takes, as far as that is known before it begins
	Done   int             // replies that it has
	State  PhaseState
}

// PhaseState says whether a phase is over.
type PhaseState string

// The states of phases.
const (
	PhasePending PhaseState = "pending"     // it has not begun
	PhaseCurrent PhaseState = "in_progress" // it has begun, or is next
	PhaseOver    PhaseState = "completed"
)

// String returns the phase for readers, such as "Round 1 of at most 3: argue".
func (p Phase) String() string {
	switch p.Stage {
	case transcript.Setup:
		return "Before round 1: " + p.Name
	case transcript.Conclusion:
		return "Conclusion: " + p.Name
	case transcript.Speech, transcript.Assessment, transcript.Remark, transcript.Summary, transcript.Embeddings, transcript.Silence:
	}
	return fmt.Sprintf("Round %d of at most %d: %s", p.Round, p.Rounds, p.Name)
}

// Plan returns the phases of a debate in order: those that are over, the current one, and those that follow if the debate takes
// all of its rounds. A protocol may choose other phases when it has heard the participants; the plan has them once they begin.
func (s *Toolset) Plan(ctx context.Context, id string) ([]Phase, error) {
	d, err := s.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	r, err := report.Collect(ctx, d)
	if err != nil {
		return nil, explain(id, err)
	}
	c, err := s.engine.ParseConfig(r.Config)
	if err != nil {
		return nil, explain(id, fmt.Errorf("plan debate: %w", err))
	}
	return planOf(c, &r.Result), nil
}

// planOf returns the phases of a debate with this configuration that has come so far.
func planOf(c debate.Config, r *debate.Result) []Phase {
	list := expected(c)
	at := 0
	for i := range r.Turns {
		at = count(&list, at, &r.Turns[i])
	}
	ended := r.State.Final()
	list = slices.DeleteFunc(list, func(p Phase) bool {
		skipped := p.Stage != transcript.Conclusion && r.Ending.Outcome != ""
		return p.Done == 0 && (ended || skipped)
	})
	setStates(list, ended)
	return list
}

// expected returns the phases of a debate that takes all of its rounds.
func expected(c debate.Config) (list []Phase) {
	r := plannedRecord(c)
	add := func(round int, stage transcript.Kind) {
		r.Cursor = transcript.Cursor{Run: 1, Round: round, Stage: stage}
		for _, p := range c.Protocol.Phases(r) {
			list = append(list, newPhase(stage, round, r.MaxRounds, p.Name, len(p.Steps)))
		}
	}
	add(0, transcript.Setup)
	for round := 1; round <= r.MaxRounds; round++ {
		add(round, transcript.Speech)
		add(round, transcript.Assessment)
	}
	add(r.MaxRounds, transcript.Conclusion)
	return list
}

// newPhase returns a phase that has no reply yet.
func newPhase(stage transcript.Kind, round, rounds int, name string, steps int) Phase {
	if stage == transcript.Setup || stage == transcript.Conclusion {
		round = 0
	}
	return Phase{Stage: stage, Round: round, Rounds: rounds, Name: name, Steps: steps}
}

// count counts a turn in its phase. If the plan lacks the phase, it comes after the phase of the turn before, which is at the
// index at. count returns the index of the turn's phase.
func count(list *[]Phase, at int, t *transcript.Turn) int {
	stage := t.Kind
	if stage == transcript.Silence { // in place of a speech
		stage = transcript.Speech
	}
	if !slices.Contains([]transcript.Kind{transcript.Setup, transcript.Speech, transcript.Assessment, transcript.Conclusion}, stage) {
		return at
	}
	rounds := 0
	if len(*list) > 0 {
		rounds = (*list)[0].Rounds
	}
	p := newPhase(stage, t.Round, cmp.Or(rounds, t.Round), t.Phase, 1)
	found := slices.IndexFunc(*list, func(q Phase) bool { return q.Stage == p.Stage && q.Round == p.Round && q.Name == p.Name })
	if found < 0 {
		found = min(at+1, len(*list))
		*list = slices.Insert(*list, found, p)
	}
	(*list)[found].Done++
	return found
}

// setStates sets the states of phases. A phase is over if it has all replies, or if a later one has begun: whoever drops out gives
// none.
func setStates(list []Phase, ended bool) {
	begun := ended
	for i, p := range slices.Backward(list) {
		begun = begun || i+1 < len(list) && list[i+1].Done > 0
		list[i].State = PhasePending
		if begun || p.Done >= p.Steps {
			list[i].State = PhaseOver
		}
	}
	next := slices.IndexFunc(list, func(p Phase) bool { return p.State != PhaseOver })
	if next >= 0 {
		list[next].State = PhaseCurrent
	}
}
