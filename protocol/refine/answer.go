package refine

import (
	"cmp"
	"unicode/utf8"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Result is the result of a debate.
type Result struct {
	Solution  *Solution        `json:"solution,omitempty"` // nil if the judge has given no valid solution
	Summaries []SummarySize    `json:"summaries"`          // in order of creation
	Roles     []RoleAssignment `json:"roles"`              // roles of the active participants
}

// SummarySize describes how much a summary shortened the text that it replaces. Sizes are in characters.
type SummarySize struct {
	Agent  string `json:"agent,omitempty"` // agent whose view is summarized; empty for the judge's digest
	Round  int    `json:"round"`           // round in which the summary was made
	Before int    `json:"before"`          // size of the turns that it covers
	After  int    `json:"after"`           // size of the summary; equal to Before if it is invalid
}

// RoleAssignment is the role of an agent.
type RoleAssignment struct {
	Agent  string `json:"agent"`
	Role   string `json:"role"`
	Source string `json:"source"` // origin of the role: "built-in", "configuration" or RolePrompt.Source
}

// DecodeAnswer returns the data of a debate's answer. It returns an error if there is no answer yet, or if another protocol
// gave it.
func DecodeAnswer(a protocol.Answer) (Result, error) { return outcome.Decode[Result](a, Protocol{}) }

// Answer returns the solution as the text and a [Result] as the data.
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
	return outcome.Answer(a.Text, res)
}

// summarySize returns the sizes for a summary turn that covers before characters.
func summarySize(t *transcript.Turn, agent string, before int) SummarySize {
	s := SummarySize{Agent: agent, Round: t.Round, Before: before, After: before}
	if valid(*t) {
		s.After = utf8.RuneCountInString(t.Text)
	}
	return s
}

// roleSource returns the origin of a role's prompt.
func (p Protocol) roleSource(name string) string {
	if own, ok := p.Roles[name]; ok {
		return cmp.Or(own.Source, "configuration")
	}
	return "built-in"
}
