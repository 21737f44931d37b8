package readmodel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/markup"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Sentence returns what a debate has decided, by how much, how sure it is and who dissents. Before the end, it says how far the debate
// has come, and for whom it waits.
func Sentence(r *debate.Result, waiting []string) string {
	text := strings.TrimSpace(progress(r, waiting) + " " + r.Outcome.String())
	if text != "" {
		return text
	}
	if e := r.Ending; e.Outcome != "" {
		return fmt.Sprintf("The debate has ended by %s in round %d.", Words(e.Outcome), e.Round)
	}
	return "The debate has ended."
}

// progress says how far a debate has come that has not ended with an answer, and returns "" for others.
func progress(r *debate.Result, waiting []string) string {
	at := "before round 1"
	if r.Round > 0 {
		at = fmt.Sprintf("in round %d", r.Round)
	}
	switch {
	case r.State == fsm.Completed, r.State == "":
		return ""
	case r.State == fsm.Error:
		return "The debate stopped with an error " + at + "."
	case r.State.Final():
		return "The debate was " + string(r.State) + " " + at + "."
	case len(waiting) > 0:
		return fmt.Sprintf("There is no answer yet: the debate waits %s for a reply of %s.", at, naming.Enumerate(waiting, 4))
	case r.Question != nil:
		return "There is no answer yet: the debate waits " + at + " for a person's decision."
	case r.State == fsm.Paused:
		return "There is no answer yet: the debate is paused " + at + "."
	}
	return "There is no answer yet: the debate is " + at + "."
}

// earlyOutcomes lists the outcomes of debates that ended before they were finished.
var earlyOutcomes = []transcript.Outcome{
	transcript.TokenBudget, transcript.CostBudget, transcript.TimeBudget, transcript.QuorumLost, transcript.Stopped, transcript.Canceled,
}

// seriousFlags lists the flags of turns that make an answer less reliable.
var seriousFlags = []transcript.Flag{
	transcript.Defaulted, transcript.Refused, transcript.SpokeForOthers, transcript.Partial, transcript.Truncated, transcript.Filtered,
	transcript.Substituted, transcript.Edited,
}

// Notices returns what a reader should know before relying on the answer, one sentence for each. The sentences contain names of
// participants and judges, but no text of models.
func Notices(r *debate.Result, dropped []debate.Dropped) (list []string) {
	if slices.Contains(earlyOutcomes, r.Ending.Outcome) {
		list = append(list, fmt.Sprintf("The debate ended early: %s in round %d.", Words(r.Ending.Outcome), r.Ending.Round))
	}
	if r.Failure != nil {
		list = append(list, fmt.Sprintf("The debate stopped with an error: %s.", Words(r.Failure.Kind)))
	}
	switch {
	case !r.State.Final() && r.State != fsm.Error:
	case r.Verdict == nil && strings.TrimSpace(r.Answer.Text) == "" && r.Outcome.Sentence == "":
		list = append(list, "There is no verdict.")
	case r.Verdict != nil && slices.Contains(r.Verdict.Flags, transcript.Defaulted):
		list = append(list, "The verdict is a "+FlagText(r.Verdict, transcript.Defaulted)+".")
	}
	list = append(list, r.Answer.Warnings...)
	for _, d := range dropped {
		why := ""
		if d.Failure != nil {
			why = " after an error: " + Words(d.Failure.Kind)
		}
		list = append(list, d.Name+" dropped out"+why+".")
	}
	return slices.Concat(list, quoteNotices(r.Turns), turnNotices(r))
}

// quoteNotices says how many quotes are not in their sources, and whose they are.
func quoteNotices(turns []transcript.Turn) []string {
	wrong := 0
	var names []string
	for i := range turns {
		for _, c := range turns[i].Citations {
			if c.Quote == "" || c.Verdict != transcript.Altered && c.Verdict != transcript.NotFound {
				continue
			}
			wrong++
			if !slices.Contains(names, turns[i].Actor) {
				names = append(names, turns[i].Actor)
			}
		}
	}
	by := naming.Enumerate(names, 4)
	switch wrong {
	case 0:
		return nil
	case 1:
		return []string{"1 quote by " + by + " is not in the source that it names."}
	}
	return []string{outcome.Thousands(wrong) + " quotes by " + by + " are not in the sources that they name."}
}

// maxTurnNotices limits the sentences about turns with the same flag. One sentence counts them if there are more.
const maxTurnNotices = 3

// turnNotices returns the notices about turns, by flag in the order of the flags' first turns.
func turnNotices(r *debate.Result) (list []string) {
	var flags []transcript.Flag
	turns := map[transcript.Flag][]*transcript.Turn{}
	for i := range r.Turns {
		t := &r.Turns[i]
		for _, f := range t.Flags {
			hasSentence := f == transcript.Defaulted && r.Verdict != nil && t.Key == r.Verdict.Key
			if hasSentence || !slices.Contains(seriousFlags, f) {
				continue
			}
			if turns[f] == nil {
				flags = append(flags, f)
			}
			turns[f] = append(turns[f], t)
		}
	}
	for _, f := range flags {
		var names []string
		for _, t := range turns[f] {
			if len(turns[f]) <= maxTurnNotices {
				part, _ := Part(t)
				list = append(list, fmt.Sprintf("%s, %s: %s.", TurnLabel(t), strings.ToLower(part), FlagText(t, f)))
			} else if !slices.Contains(names, t.Actor) {
				names = append(names, t.Actor)
			}
		}
		if len(names) > 0 {
			list = append(list, fmt.Sprintf("%s replies of %s: %s.", outcome.Thousands(len(turns[f])), naming.Enumerate(names, 4),
				flagTexts[f]))
		}
	}
	return list
}

// Readable returns a text of a model with its quotes of sources as readers know them, if the debate has sources.
func Readable(r *debate.Result, text string) string {
	if len(r.Sources) == 0 {
		return text
	}
	return sources.Readable(text)
}

// maxPoints limits the points that a person has in a reason. The transcript has all.
const maxPoints = 10

// Points returns the points of a reason. Speeches become points with their beginnings.
func Points(r *debate.Result, x protocol.Reason) []string {
	points := slices.Clone(x.Points)
	for _, s := range x.Speeches {
		if s.Turn < 0 || s.Turn >= len(r.Turns) {
			continue // the result was edited
		}
		text := beginning(Readable(r, r.Turns[s.Turn].Text))
		if s.Label != "" {
			text = s.Label + ": " + text
		}
		points = append(points, text)
	}
	points = slices.DeleteFunc(points, func(s string) bool { return strings.TrimSpace(s) == "" })
	more := len(points) - maxPoints
	if x.Name != "" && more > 0 {
		points = append(points[:maxPoints], fmt.Sprintf("%d more, in the transcript", more))
	}
	return points
}

// beginning returns the first sentences of a text in Markdown.
func beginning(text string) string {
	const length = 240
	first, rest := markup.Fold(text, length)
	if rest != "" {
		first += " …"
	}
	return first
}
