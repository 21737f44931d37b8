package pairwise

import (
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Result is the data of the answer.
type Result struct {
	Winner agreement.Decision `json:"winner"`           // the better answer, or Tie
	Margin float64            `json:"margin"`           // mean of the margins toward A, from -3 to 3, of those who decided
	Senior string             `json:"senior,omitempty"` // the senior judge, if it has decided
	// Decisions has the decisions of each judge, the senior one included: in the order A, B, and then in the order B, A. None
	// is a decision that could not be read.
	Decisions map[string][]agreement.Decision `json:"decisions"`
	// Challenged has the decisions after the challenge, in the same order. None is a judge that was not challenged, or whose
	// decision could not be read.
	Challenged map[string][]agreement.Decision `json:"challenged,omitempty"`
	Reasons    []string                        `json:"reasons"` // of each decision, with the judge
}

// DecodeAnswer returns the data of a debate's answer. It returns an error if there is no answer yet, or if another protocol gave it.
func DecodeAnswer(a protocol.Answer) (Result, error) { return outcome.Decode[Result](a, Protocol{}) }

// Answer returns the decision of the majority of the jury, or that of the senior judge where the jury does not decide. It is
// zero before there is one.
func (p Protocol) Answer(r *protocol.Record) (a protocol.Answer) {
	jury, turns := p.Selection.Jury(r.Judges), said(r, phaseJudge)
	if !allIn(turns, jury...) {
		return a
	}
	deciding, decided, warnings := p.selected().Concluding(r)
	if len(deciding) == 0 { // the senior judge has not decided
		return protocol.Answer{Warnings: warnings}
	}
	item := itemOf(r, turns)
	x := Result{Winner: item.Majority(jury...), Decisions: item.Decisions}
	switch {
	case p.Selection.Senior == "":
	case decided != agreement.None:
		x.Winner = decided
	default:
		x.Senior = p.Selection.Senior
		senior := itemOf(r, deciding)
		x.Winner = senior.Majority(x.Senior)
		x.Decisions[x.Senior] = senior.Decisions[x.Senior]
		turns = append(turns, deciding...)
	}
	for _, o := range judge.Opinions[Preference](deciding...) {
		x.Margin += o.Value.margin(o.Swapped) / float64(len(deciding))
	}
	text := []string{x.sentence() + "."}
	for _, o := range judge.Opinions[Preference](turns...) {
		x.Reasons = append(x.Reasons, o.Judge+": "+o.Value.Reason)
	}
	if p.Challenge {
		x.Challenged = p.afterChallenge(r, jury)
	}
	return outcome.Answer(strings.Join(append(text, x.Reasons...), "\n"), x, warnings...)
}

// letter returns the letter of the better answer, or "" if neither is better.
func (x *Result) letter() string {
	return map[agreement.Decision]string{agreement.A: "A", agreement.B: "B"}[x.Winner]
}

// sentence says which answer is better, without a full stop.
func (x *Result) sentence() string {
	if x.letter() == "" {
		return "Neither answer is better"
	}
	return "Answer " + x.letter() + " is better"
}

// afterChallenge returns the decisions after the challenge.
func (p Protocol) afterChallenge(r *protocol.Record, jury []string) map[string][]agreement.Decision {
	after := map[string][]agreement.Decision{}
	for _, name := range jury {
		after[name] = make([]agreement.Decision, p.asked())
	}
	for _, o := range judge.Opinions[Preference](said(r, phaseChallenge)...) {
		if at := after[o.Judge]; at != nil && !o.Failed {
			at[map[bool]int{true: 1}[o.Swapped]] = o.Value.Decision(o.Swapped)
		}
	}
	return after
}

// allIn reports whether each judge has a turn. A person has only one, in one order.
func allIn(turns []transcript.Turn, judges ...string) bool {
	return !slices.ContainsFunc(judges, func(name string) bool {
		return !slices.ContainsFunc(turns, func(t transcript.Turn) bool { return t.Actor == name })
	})
}
