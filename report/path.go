package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/readmodel"
)

// transitionBlocks returns the state transitions, the answers that people gave, and the participants who dropped out, in
// order.
func (r *Report) transitionBlocks() []block {
	type step struct {
		seq   int64
		cells []string
	}
	var steps []step
	for i, s := range r.Transitions {
		stayed := ""
		if i+1 < len(r.Transitions) {
			stayed = formatDuration(r.Transitions[i+1].At.Sub(s.At))
		}
		steps = append(steps, step{
			s.Seq,
			[]string{
				formatTime(s.At), readmodel.Words(s.On), string(s.From) + " → " + string(s.To), fmt.Sprint(s.Round), stayed,
				transitionReason(s),
			},
		})
	}
	for _, d := range r.Decisions {
		steps = append(steps, step{d.Seq, []string{formatTime(d.At), "decided", "", "", "", strings.TrimSuffix("a person answered: "+d.Action+", "+d.Reason, ", ")}})
	}
	for _, d := range r.Dropped {
		steps = append(steps, step{d.Seq, []string{formatTime(d.At), "dropped", "", "", "", d.Name + " dropped out"}})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.seq, b.seq) })
	var cells [][]string
	for _, s := range steps {
		cells = append(cells, s.cells)
	}
	return tableBlock("Transitions, with the time spent in each new state",
		[]string{"Time", "Event", "Transition", "Round", "Time spent", "Reason"}, cells)
}

// transitionReason returns the reason for a transition.
func transitionReason(s debate.StateChanged) string {
	var why []string
	if s.Ending.Outcome != "" {
		why = append(why, readmodel.Words(s.Ending.Outcome)+": "+s.Ending.Evidence)
	}
	for _, p := range s.Problems {
		why = append(why, p.String())
	}
	if s.Question != nil {
		why = append(why, "question: "+s.Question.Cause)
	}
	if s.Failure != nil && s.Ending.Outcome == "" {
		why = append(why, s.Failure.Error())
	}
	for _, f := range s.Findings {
		if f.Found {
			why = append(why, f.String())
		}
	}
	return strings.Join(why, "; ")
}

// failures returns the steps that failed in all their attempts, each once, in order of time.
func (r *Report) failures() (list []*debate.Failure) {
	seen := map[string]bool{}
	for _, f := range r.allFailures() {
		if id := f.Key.String() + formatTime(f.At) + f.Message; !seen[id] {
			seen[id] = true
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b *debate.Failure) int { return a.At.Compare(b.At) })
	return list
}
