package mad

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Result is the result of a debate, and the data of its answer.
type Result struct {
	// Notes states what is missing, one sentence each: the judge's decision, its list of candidates, or a decision of the
	// moderator. It is empty if nothing is. The text of the debate's answer begins with them.
	Notes     []string `json:"notes,omitempty"`
	Answer    string   `json:"answer,omitempty"` // the correct answer; empty if nobody has decided
	Reasoning string   `json:"reasoning,omitempty"`
	Supported string   `json:"supported,omitempty"` // the participant whose answer it is; empty if it is nobody's
	// DecidedBy is "moderator" or "judge". It is empty if nobody has decided.
	DecidedBy  string        `json:"decided_by,omitempty"`
	Candidates []string      `json:"candidates,omitempty"` // answers between which the judge decided
	Rounds     []RoundResult `json:"rounds"`               // the moderator's decisions, in order
}

// RoundResult is the moderator's decision after one round.
type RoundResult struct {
	Round int `json:"round"`
	Moderation

	Defaulted bool `json:"defaulted,omitempty"` // whether the moderator gave no valid decision
}

// DecodeAnswer returns the data of a debate's answer. It returns an error if there is no answer yet, or if another protocol
// gave it.
func DecodeAnswer(a protocol.Answer) (Result, error) { return outcome.Decode[Result](a, Protocol{}) }

// Answer returns the decision and the way to it. It is zero before the first decision of the moderator or the judge.
func (Protocol) Answer(r *protocol.Record) protocol.Answer {
	res, replied := Result{Rounds: []RoundResult{}}, false
	for i := range r.Turns {
		if t := &r.Turns[i]; t.Kind == transcript.Assessment || t.Kind == transcript.Conclusion {
			res.add(t)
			replied = true
		}
	}
	over := r.Ending.Outcome != "" && r.Ending.Outcome != transcript.Canceled && r.Cursor.Stage != transcript.Conclusion
	if !replied && !over || len(r.Turns) == 0 {
		return protocol.Answer{}
	}
	if m, ended := preference(r); ended {
		res.Answer = m.Answer
		res.Reasoning = m.Reasoning
		res.Supported = m.Supported
		res.DecidedBy = "moderator"
	}
	if over && res.DecidedBy == "" {
		why := "the judge has not decided"
		if slices.ContainsFunc(r.Turns, func(t transcript.Turn) bool { return t.Phase == phaseDecide }) {
			why = "the judge gave no valid decision"
		}
		res.Notes = append([]string{"There is no answer: " + why + "."}, res.Notes...)
	}
	return outcome.Answer(res.text(), res)
}

// add adds a turn of the moderator or the judge.
func (res *Result) add(t *transcript.Turn) {
	switch t.Phase {
	case phaseModerate:
		m := judge.Opinions[Moderation](*t)[0]
		res.Rounds = append(res.Rounds, RoundResult{t.Round, m.Value, m.Failed})
		if m.Failed {
			res.Notes = append(res.Notes, fmt.Sprintf("The moderator gave no valid decision after round %d.", t.Round))
		}
	case phaseCandidates:
		res.Candidates = judge.Opinions[Candidates](*t)[0].Value.Candidates
		if len(res.Candidates) == 0 {
			res.Notes = append(res.Notes, "The judge listed no candidates.")
		}
	case phaseDecide:
		if d := judge.Opinions[Decision](*t)[0]; !d.Failed {
			res.Answer = d.Value.Answer
			res.Reasoning = d.Value.Reasoning
			res.Supported = d.Value.Supported
			res.DecidedBy = "judge"
		}
	}
}

// text returns the result for readers.
func (res *Result) text() string {
	parts := slices.Clone(res.Notes)
	if res.Answer != "" {
		parts = append(parts, res.Answer, res.Reasoning)
	}
	round := 0
	if n := len(res.Rounds); n > 0 {
		round = res.Rounds[n-1].Round
	}
	switch {
	case res.DecidedBy == "moderator":
		parts = append(parts, fmt.Sprintf("The moderator decided after round %d for the answer of %s.", round, res.Supported))
	case res.DecidedBy == "judge" && res.Supported != "":
		parts = append(parts, "The judge decided for the answer of "+res.Supported+".")
	case res.DecidedBy == "judge":
		parts = append(parts, "The judge decided for an answer of its own.")
	case round > 0:
		parts = append(parts, fmt.Sprintf("The moderator had no preference up to round %d.", round))
	}
	if len(res.Candidates) > 0 {
		parts = append(parts, "The candidates:\n- "+strings.Join(res.Candidates, "\n- "))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}
