package council

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Result is the result of a council, and the data of the debate's answer.
type Result struct {
	// Notes states what is missing, such as a member's ranking, one sentence each. It is empty if nothing is. The text of the
	// debate's answer begins with them.
	Notes  []string `json:"notes,omitempty"`
	Answer string   `json:"answer,omitempty"` // the chair's answer, or the one that stands in
	// By is who gave Answer: the chair, or the member whose answer stands in. It is empty before the end.
	By            string          `json:"by,omitempty"`
	StandIn       bool            `json:"stand_in,omitempty"` // whether the chair failed and the best-ranked answer stands in
	Standings     []Standing      `json:"standings"`          // all answers, the best first
	Rankings      []MemberRanking `json:"rankings"`           // valid rankings, in the order of the members
	Disagreements []string        `json:"disagreements,omitempty"`
}

// DecodeAnswer returns the data of a debate's answer. It returns an error if there is no answer yet, or if another protocol
// gave it.
func DecodeAnswer(a protocol.Answer) (Result, error) { return outcome.Decode[Result](a, Protocol{}) }

// Answer returns the chair's answer, or before the end only the standings. It is zero before the first answer.
func (p Protocol) Answer(r *protocol.Record) protocol.Answer {
	res := Result{Rankings: rankings(r)}
	res.Standings = standings(r, res.Rankings)
	if len(res.Standings) == 0 {
		return protocol.Answer{}
	}
	if o := r.Ending.Outcome; o != "" && o != transcript.Canceled {
		p.conclude(r, &res)
	}
	text := slices.Clone(res.Notes)
	if res.Answer != "" {
		text = append(text, res.Answer)
	}
	if len(res.Disagreements) > 0 {
		text = append(text, "Where the answers differ:\n- "+strings.Join(res.Disagreements, "\n- "))
	}
	text = append(text, "Ranks of the answers, with scores from 0 to 1:\n"+res.ranks())
	return outcome.Answer(strings.Join(text, "\n\n"), res)
}

// conclude sets the answer and the notes of a debate that ends.
func (p Protocol) conclude(r *protocol.Record, res *Result) {
	turn, replied := chairTurn(r)
	if !replied && r.Cursor.Stage == transcript.Conclusion && len(r.Judges) > 0 {
		return // the chair has not answered yet
	}
	chair := judge.Opinions[ChairAnswer](turn)[0]
	if !replied || chair.Failed {
		best, _ := answerOf(r, res.Standings[0].Member)
		res.Answer = best.Text
		res.By = best.Actor
		res.StandIn = true
		res.Notes = append(res.Notes, "The chair gave no valid answer. "+standInText(res.Standings))
	} else {
		res.Answer = chair.Value.Answer
		res.By = turn.Actor
		res.Disagreements = chair.Value.Disagreements
	}
	if slices.Contains(turn.Flags, transcript.Substituted) {
		res.Notes = append(res.Notes, "The chair's model failed. A substitute wrote the answer.")
	}
	res.Notes = append(res.Notes, p.missing(r, res.Rankings)...)
}

// standInText states which answer stands in for the chair's.
func standInText(standings []Standing) string {
	best := standings[0]
	var equal []string
	for _, s := range standings[1:] {
		if s.Place == 1 {
			equal = append(equal, s.Member)
		}
	}
	switch {
	case best.Rankings == 0:
		return "No ranking shows which answer is best. The answer of " + best.Member + ", the first in the list, stands in."
	case len(equal) > 0:
		return "The answer of " + best.Member + " stands in. It shares the first place with that of " + strings.Join(equal, " and ") + "."
	}
	return "The best-ranked answer, that of " + best.Member + ", stands in."
}

// missing returns a sentence for each member without an answer, with an incomplete answer, or without a valid ranking.
func (p Protocol) missing(r *protocol.Record, valid []MemberRanking) (notes []string) {
	authors := authorsOf(r)
	members := slices.Clone(authors)
	for _, name := range append(r.ParticipantNames(), r.Dropped...) {
		if !slices.Contains(members, name) {
			members = append(members, name)
		}
	}
	for _, name := range members {
		answer, answered := answerOf(r, name)
		ranked := slices.ContainsFunc(valid, func(k MemberRanking) bool { return k.Member == name })
		if !answered {
			notes = append(notes, name+" gave no answer.")
			continue
		}
		if isIncomplete(answer) {
			notes = append(notes, "The answer of "+name+" is incomplete.")
		}
		if !ranked && len(p.rankedBy(name, authors)) > 0 {
			notes = append(notes, name+" gave no valid ranking.")
		}
	}
	return notes
}

// isIncomplete reports whether a reply was cut off.
func isIncomplete(t transcript.Turn) bool {
	return slices.ContainsFunc(t.Flags, func(f transcript.Flag) bool {
		return f == transcript.Partial || f == transcript.Truncated || f == transcript.Filtered
	})
}

// chairTurn returns the chair's turn. It reports whether there is one.
func chairTurn(r *protocol.Record) (t transcript.Turn, ok bool) {
	for _, t := range r.TurnsFrom(1) {
		if t.Kind == transcript.Conclusion {
			return t, true
		}
	}
	return t, false
}

// answerOf returns a member's answer. It reports whether there is one.
func answerOf(r *protocol.Record, member string) (transcript.Turn, bool) {
	t, ok := r.Find(answerKey(r, member))
	return t, ok && isAnswer(&t)
}

// ranks returns the standings for readers, one line each.
func (res *Result) ranks() string {
	var lines []string
	for _, s := range res.Standings {
		line := fmt.Sprintf("%d. %s: %s", s.Place, s.Member, formatScore(s.Score))
		if s.Rankings == 0 {
			line = fmt.Sprintf("%d. %s: not ranked", s.Place, s.Member)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
