package budget

import (
	"fmt"
	"maps"
	"slices"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Stage is the phases of a stage.
type Stage struct {
	Kind   transcript.Kind
	Phases []protocol.Phase
}

// Forecast describes the steps that a protocol says it can ask for, before the first turn.
type Forecast struct {
	Steps      []protocol.Step // one for each actor, prompt and contract, in order
	First      []Stage         // the setup, and the first phase of round 1
	Output     int             // tokens of all replies if each has its maximum length
	Assesses   bool            // a judge assesses each round by the rubric
	Duplicates []string        // what phases have a step twice
}

// ForecastOf asks a protocol for the steps of all stages and rounds. r is the record of a debate that has not begun, phases returns
// the phases of a stage in the round at hand, and output the tokens of the replies to steps if each has its maximum length.
func ForecastOf(
	r *protocol.Record, p protocol.Protocol, phases func(stage transcript.Kind) []protocol.Phase, output func([]protocol.Step) int,
) (f Forecast) {
	add := func(stage transcript.Kind) int { return f.add(stage, r.Cursor.Round, phases(stage), output) }
	at := r.Cursor
	defer func() { r.Cursor = at }()
	f.Output = add(transcript.Setup)
	most := 0
	for r.Cursor.Round = 1; r.Cursor.Round <= r.MaxRounds; r.Cursor.Round++ {
		most = max(most, add(transcript.Speech)+add(transcript.Assessment))
	}
	r.Cursor.Round = r.MaxRounds
	f.Output += r.MaxRounds*most + add(transcript.Conclusion)
	if p, ok := p.(interface {
		Steps(r *protocol.Record) []protocol.Step
	}); ok {
		for _, s := range p.Steps(r) {
			f.addStep(s)
		}
	}
	return f
}

// add adds the steps of a stage in a round. It returns the output tokens of replies of maximum length.
func (f *Forecast) add(stage transcript.Kind, round int, phases []protocol.Phase, output func([]protocol.Step) int) (tokens int) {
	switch {
	case stage == transcript.Setup:
		f.First = []Stage{{stage, phases}}
	case stage == transcript.Speech && len(f.First) == 1:
		f.First = append(f.First, Stage{stage, phases[:min(1, len(phases))]})
	}
	for _, p := range phases {
		tokens += output(p.Steps)
		if problem := DuplicateStep(p.Name, p.Steps); problem != "" && !slices.Contains(f.Duplicates, problem) {
			f.Duplicates = append(f.Duplicates, problem)
		}
		for _, s := range p.Steps {
			f.Assesses = f.Assesses || stage == transcript.Assessment && s.Contract == judge.AssessmentContract.Name()
			s.Kind = stage
			s.Round = round
			s.Phase = p.Name
			f.addStep(s)
		}
	}
	return tokens
}

// addStep adds a step unless there is one with the same prompt.
func (f *Forecast) addStep(s protocol.Step) {
	for i := range f.Steps {
		if sameRequest(&f.Steps[i], &s) {
			return
		}
	}
	f.Steps = append(f.Steps, s)
}

// sameRequest reports whether the prompts of two steps differ at most in values.
func sameRequest(a, b *protocol.Step) bool {
	if a.Actor != b.Actor || a.Kind != b.Kind || a.Blind != b.Blind {
		return false
	}
	if a.Prompt != b.Prompt || a.Contract != b.Contract || len(a.Vars) != len(b.Vars) {
		return false
	}
	for key := range a.Vars {
		if _, both := b.Vars[key]; !both {
			return false
		}
	}
	return true
}

// DuplicateStep returns a sentence if a phase has a step twice, or the empty string. Only one of them could be committed.
func DuplicateStep(phase string, steps []protocol.Step) string {
	for i := range steps {
		for j := range i {
			if steps[i].Actor == steps[j].Actor && steps[i].Target == steps[j].Target {
				return fmt.Sprintf("phase %q has two steps of %q about %q, set another Target in each", phase, steps[i].Actor, steps[i].Target)
			}
		}
	}
	return ""
}

// LongestChain returns the largest number of steps that a single actor performs one after the other, at least 1.
func LongestChain(steps []protocol.Step) int {
	if len(steps) < 2 {
		return 1
	}
	count := map[string]int{"": 1}
	for i := range steps {
		count[steps[i].Actor]++
	}
	return slices.Max(slices.Collect(maps.Values(count)))
}
