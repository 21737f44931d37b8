package judge

import (
	"slices"
	"strings"
)

// Verdict is what a judge says about a debate at its end.
type Verdict struct {
	Summary         string      `json:"summary" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"the debate and its result, in a few sentences"`
	Participants    []KeyPoints `json:"participants,omitempty" jsonschema:"maxItems=64" jsonschema_description:"the key points of each participant, one entry each"`
	Agreement       []string    `json:"agreement,omitempty" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"what the participants agree on"`
	Disagreement    []string    `json:"disagreement,omitempty" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"what remains disputed"`
	Insights        []string    `json:"insights,omitempty" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"what the debate brought to light"`
	Dissent         string      `json:"dissent,omitempty" jsonschema:"maxLength=1900" jsonschema_description:"the best case against this verdict"`
	WinnerReasoning string      `json:"winner_reasoning,omitempty" jsonschema:"maxLength=1900" jsonschema_description:"why this participant won, or why nobody did"`
	Winner          string      `json:"winner,omitempty" jsonschema:"maxLength=200" jsonschema_description:"the winner's name, exactly as it was given; leave it out where nobody won"`
	Quality         float64     `json:"quality" jsonschema:"minimum=0,maximum=100" jsonschema_description:"the quality of the debate as a whole, 0 the worst and 100 the best"`
}

// KeyPoints are the main points of one participant.
type KeyPoints struct {
	Name   string   `json:"name" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"the participant's name, exactly as it was given"`
	Points []string `json:"points" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"the main points that the participant made"`
}

// noWinner is what judges write where they mean that there is no winner.
var noWinner = []string{"", "none", "nobody", "no one", "no winner", "draw", "tie", "null", "n/a"}

// Check finds winners and participants who did not take part, and participants who come twice.
func (v *Verdict) Check(names []string) []string {
	var spoken []*string
	for i := range v.Participants {
		spoken = append(spoken, &v.Participants[i].Name)
	}
	findings := checkNames(spoken, names, "/participants/%d/name", participant)
	if winner, ok := matchName(v.Winner, names); ok {
		v.Winner = winner
	} else if slices.Contains(noWinner, strings.ToLower(strings.TrimSpace(v.Winner))) {
		v.Winner = ""
	} else {
		findings = append(findings, "/winner: "+participant.unknown(v.Winner, names))
	}
	return findings
}

// Default is a verdict without a winner that says what it is.
func (v *Verdict) Default([]string) {
	*v = Verdict{
		Summary: "The judge gave no valid verdict. The debate ends without a winner.",
		Quality: 50,
	}
}

// Text sums the verdict up.
func (v *Verdict) Text() string {
	var s summary
	s.line("", v.Summary)
	for _, p := range v.Participants {
		s.line(p.Name+": ", p.Points...)
	}
	s.line("Agreement: ", v.Agreement...)
	s.line("Disagreement: ", v.Disagreement...)
	s.line("Insights: ", v.Insights...)
	s.line("Winner: ", v.Winner)
	s.line("Reason: ", v.WinnerReasoning)
	s.line("Dissent: ", v.Dissent)
	s.line("Quality of the debate: ", formatNumber(v.Quality)+" of 100")
	return s.String()
}
