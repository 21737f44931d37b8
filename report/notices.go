package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// earlyOutcomes lists the outcomes of debates that ended before they were finished.
var earlyOutcomes = []transcript.Outcome{
	transcript.TokenBudget, transcript.CostBudget, transcript.TimeBudget, transcript.QuorumLost, transcript.Stopped, transcript.Canceled,
}

// seriousFlags lists the flags of turns that make an answer less reliable.
var seriousFlags = []transcript.Flag{
	transcript.Defaulted, transcript.Partial, transcript.Truncated, transcript.Filtered, transcript.Substituted, transcript.Edited,
}

// Notices returns what a reader should know before relying on the answer, one sentence for each: that the debate ended
// early, that there is no verdict or only a default, who dropped out, and which replies are
// incomplete, a default, by a substitute or edited in a fork. It returns none if nothing of this happened. The sentences contain names of participants and judges, but no
// text of models.
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
	case res.Verdict == nil && strings.TrimSpace(res.Answer.Text) == "":
		list = append(list, "There is no verdict.")
	case res.Verdict != nil && slices.Contains(res.Verdict.Flags, transcript.Defaulted):
		list = append(list, "The verdict is a "+flagTexts[transcript.Defaulted]+".")
	}
	for _, d := range r.Dropped {
		why := ""
		if d.Failure != nil {
			why = " after an error: " + humanize(d.Failure.Kind)
		}
		list = append(list, d.Name+" dropped out"+why+".")
	}
	for i := range res.Turns {
		t := &res.Turns[i]
		isVerdict := res.Verdict != nil && t.Key == res.Verdict.Key
		for _, f := range t.Flags {
			if hasSentence := isVerdict && f == transcript.Defaulted; !hasSentence && slices.Contains(seriousFlags, f) {
				list = append(list, fmt.Sprintf("%s, %s: %s.", turnLabel(t), strings.ToLower(roundTitle(t)), flagTexts[f]))
			}
		}
	}
	return list
}
