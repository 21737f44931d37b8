package judge

import "github.com/elenchus-go/debate/internal/naming"

// Verdict is a judge's reply at the end of a debate.
type Verdict struct {
	Summary         string      `json:"summary" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"the debate and its result, in a few sentences"`
	Participants    []KeyPoints `json:"participants,omitempty" each:"active" jsonschema:"maxItems=64" jsonschema_description:"one entry for each participant, with the key points"`
	Agreement       []string    `json:"agreement,omitempty" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"points on which the participants agree"`
	Disagreement    []string    `json:"disagreement,omitempty" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"points that remain disputed"`
	Insights        []string    `json:"insights,omitempty" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"insights gained from the debate"`
	Dissent         string      `json:"dissent,omitempty" jsonschema:"maxLength=1900" jsonschema_description:"the strongest case against this verdict"`
	WinnerReasoning string      `json:"winner_reasoning,omitempty" jsonschema:"maxLength=1900" jsonschema_description:"why the winner won, or why there is no winner"`
	Winner          string      `json:"winner,omitempty" names:"participants" jsonschema:"maxLength=200" jsonschema_description:"the winner's name, exactly as given; leave it out if there is no winner"`
	Quality         float64     `json:"quality" jsonschema:"minimum=0,maximum=100" jsonschema_description:"the quality of the debate as a whole, from 0 (worst) to 100 (best)"`
}

// KeyPoints lists the main points of one participant.
type KeyPoints struct {
	Name   string   `json:"name" names:"participants" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"the participant's name, exactly as given"`
	Points []string `json:"points" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"the participant's main points"`
}

// CheckSpeakers corrects the spelling of names of those whose key points the verdict has. It returns a violation for each one
// that is not among names, and for each participant with more than one entry.
func (v *Verdict) CheckSpeakers(names []string) []string {
	var spoken []*string
	for i := range v.Participants {
		spoken = append(spoken, &v.Participants[i].Name)
	}
	return naming.Participant.CheckEach(spoken, names, "/participants/%d/name")
}

// Check corrects the spelling of the winner's name. It returns a violation if the winner is not a participant.
func (v *Verdict) Check(names []string) []string {
	return naming.Participant.CheckOptional(&v.Winner, names, "/winner")
}

// Default fills the verdict with a default that names no winner and says that it is a default.
func (v *Verdict) Default([]string) {
	*v = Verdict{
		Summary: "The judge gave no valid verdict. The debate ends without a winner.",
		Quality: 50,
	}
}

// Text returns a readable summary of the verdict.
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
