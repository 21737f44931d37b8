package refine

import (
	"cmp"
	"encoding/json"
	"unicode/utf8"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Result is what the debate came to, as data.
type Result struct {
	Solution  *Solution        `json:"solution,omitempty"` // nil where the judge gave no valid one, or none yet
	Summaries []SummarySize    `json:"summaries"`          // in the order in which they were made
	Roles     []RoleAssignment `json:"roles"`              // of those who are still in
}

// SummarySize is what a summary achieved, in characters.
type SummarySize struct {
	Agent  string `json:"agent,omitempty"` // whose perspective it sums up; empty: it is the judge's of the final round
	Round  int    `json:"round"`           // in which it was made
	Before int    `json:"before"`          // of the turns that it covers
	After  int    `json:"after"`           // of the summary; Before where no valid one came
}

// RoleAssignment is an agent's role.
type RoleAssignment struct {
	Agent  string `json:"agent"`
	Role   string `json:"role"`
	Source string `json:"source"` // where its words came from: "built-in", "configuration" or Role.Source
}

// Answer has the solution as its text, and a [Result] as its data.
func (p Protocol) Answer(r *protocol.Record) (a protocol.Answer) {
	if len(r.Turns) == 0 {
		return a
	}
	res := Result{Summaries: []SummarySize{}, Roles: []RoleAssignment{}}
	for i := range r.Turns {
		t := &r.Turns[i]
		switch {
		case inPhase(t, phaseSummarize):
			before, _ := perspectiveOf(r, t.Target, t.Round)
			res.Summaries = append(res.Summaries, summarySize(t, t.Target, before))
		case t.Kind == transcript.Conclusion && t.Phase == phaseDigest:
			res.Summaries = append(res.Summaries, summarySize(t, "", p.judgeView(r).size))
		case t.Kind == transcript.Conclusion && t.Phase == phaseSynthesize:
			a.Text = t.Text
			if s, err := transcript.Decode[Solution](*t); err == nil && valid(*t) {
				res.Solution = &s
			}
		}
	}
	for _, s := range r.Participants {
		role := cmp.Or(s.Role, defaultRole)
		res.Roles = append(res.Roles, RoleAssignment{Agent: s.Name, Role: role, Source: p.roleSource(role)})
	}
	a.Data, _ = json.Marshal(res) // plain data always encodes
	return a
}

func summarySize(t *transcript.Turn, agent string, before int) SummarySize {
	s := SummarySize{Agent: agent, Round: t.Round, Before: before, After: before}
	if valid(*t) {
		s.After = utf8.RuneCountInString(t.Text)
	}
	return s
}

// roleSource is where the words of a role came from.
func (p Protocol) roleSource(name string) string {
	if own, ok := p.Roles[name]; ok {
		return cmp.Or(own.Source, "configuration")
	}
	return "built-in"
}
