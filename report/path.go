package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/transcript"
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
		steps = append(steps, step{s.Seq, []string{formatTime(s.At), humanize(s.On), string(s.From) + " → " + string(s.To), fmt.Sprint(s.Round), stayed, transitionReason(s)}})
	}
	for _, d := range r.Decisions {
		steps = append(steps, step{d.Seq, []string{formatTime(d.At), "decided", "", "", "", "a person answered: " + d.Action}})
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
		why = append(why, humanize(s.Ending.Outcome)+": "+s.Ending.Evidence)
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

// failureBlocks returns warnings, participants who dropped out, failed steps, and failed attempts of completed turns.
func (r *Report) failureBlocks() []block {
	var gone [][]string
	for _, d := range r.Dropped {
		gone = append(gone, []string{d.Name, formatTime(d.At), failureText(d.Failure)})
	}
	var steps, attempts [][]string
	for _, f := range r.failures() {
		model := strings.Trim(f.Provider+", "+f.Model, ", ")
		steps = append(steps, []string{f.Key.Actor, f.Key.Phase, roundLabel(f.Key), formatTime(f.At), humanize(f.Kind), model, fmt.Sprint(f.Attempts), f.Message})
	}
	for i := range r.Result.Turns {
		t := &r.Result.Turns[i]
		for n, a := range t.Attempts {
			if a.ErrorKind != "" {
				attempts = append(attempts, []string{turnLabel(t), fmt.Sprint(t.Round), fmt.Sprint(n + 1), humanize(a.ErrorKind), a.ErrorMessage})
			}
		}
	}
	return slices.Concat(
		listBlock("Warnings:", r.Result.Warnings),
		tableBlock("Participants who dropped out", []string{"Name", "Time", "Reason"}, gone),
		tableBlock("Steps that failed in all attempts", []string{"Actor", "Phase", "Round", "Time", "Kind", "Model", "Attempts", "Message"}, steps),
		tableBlock("Failed attempts of completed turns", []string{"Turn", "Round", "Attempt", "Kind", "Message"}, attempts),
	)
}

// roundLabel returns the round of a step, and its run unless it is the first.
func roundLabel(k transcript.Key) string {
	if k.Run > 1 {
		return fmt.Sprintf("%d of run %d", k.Round, k.Run)
	}
	return fmt.Sprint(k.Round)
}

func failureText(f *debate.Failure) string {
	if f == nil {
		return ""
	}
	return f.Error()
}
