package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/transcript"
)

// earlyOutcomes lists the outcomes of debates that ended before they were finished.
var earlyOutcomes = []transcript.Outcome{
	transcript.TokenBudget, transcript.CostBudget, transcript.TimeBudget, transcript.QuorumLost, transcript.Stopped, transcript.Canceled,
}

// seriousFlags lists the flags of turns that make an answer less reliable.
var seriousFlags = []transcript.Flag{
	transcript.Defaulted, transcript.Refused, transcript.SpokeForOthers, transcript.Partial, transcript.Truncated, transcript.Filtered,
	transcript.Substituted, transcript.Edited,
}

// Notices returns what a reader should know before relying on the answer, one sentence for each: that the debate ended
// early, that there is no verdict or only a default, what the answer warns of, who dropped out, whose quotes are not in their
// sources, and which replies are refusals, incomplete, a default, by a substitute or edited in a fork, or how many if they are many. It
// returns none if nothing of this happened. The sentences contain names of participants and judges, but no text of models.
func (r *Report) Notices() (list []string) {
	res := &r.Result
	if e := res.Ending; slices.Contains(earlyOutcomes, e.Outcome) {
		list = append(list, fmt.Sprintf("The debate ended early: %s in round %d.", humanize(e.Outcome), e.Round))
	}
	if f := res.Failure; f != nil {
		list = append(list, fmt.Sprintf("The debate stopped with an error: %s.", humanize(f.Kind)))
	}
	switch {
	case !res.State.Final() && res.State != fsm.Error:
	case res.Verdict == nil && strings.TrimSpace(res.Answer.Text) == "" && res.Outcome.Sentence == "":
		list = append(list, "There is no verdict.")
	case res.Verdict != nil && slices.Contains(res.Verdict.Flags, transcript.Defaulted):
		list = append(list, "The verdict is a "+flagText(res.Verdict, transcript.Defaulted)+".")
	}
	list = append(list, res.Answer.Warnings...)
	for _, d := range r.Dropped {
		why := ""
		if d.Failure != nil {
			why = " after an error: " + humanize(d.Failure.Kind)
		}
		list = append(list, d.Name+" dropped out"+why+".")
	}
	return slices.Concat(list, quoteNotices(r), r.turnNotices())
}

// maxTurnNotices limits the sentences about turns with the same flag. One sentence counts them if there are more.
const maxTurnNotices = 3

// turnNotices returns the notices about turns, by flag in the order of the flags' first turns.
func (r *Report) turnNotices() (list []string) {
	verdict := r.Result.Verdict
	var flags []transcript.Flag
	turns := map[transcript.Flag][]*transcript.Turn{}
	for i := range r.Result.Turns {
		t := &r.Result.Turns[i]
		for _, f := range t.Flags {
			hasSentence := f == transcript.Defaulted && verdict != nil && t.Key == verdict.Key
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
				list = append(list, fmt.Sprintf("%s, %s: %s.", turnLabel(t), strings.ToLower(roundTitle(t)), flagText(t, f)))
			} else if !slices.Contains(names, t.Actor) {
				names = append(names, t.Actor)
			}
		}
		if len(names) > 0 {
			list = append(list, fmt.Sprintf("%s replies of %s: %s.", formatCount(len(turns[f])), naming.Enumerate(names, 4), flagTexts[f]))
		}
	}
	return list
}
