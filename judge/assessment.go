package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/judge/reply"
)

var assessments = reply.New[Assessment]("assessment/1")

// Assessment is what a judge says after a round.
type Assessment struct {
	Participants       []ParticipantAssessment `json:"participants" jsonschema:"maxItems=64" jsonschema_description:"one entry for each participant, in any order"`
	Reasoning          string                  `json:"reasoning,omitempty" jsonschema:"maxLength=1900" jsonschema_description:"what the assessment rests on, in a few sentences"`
	Repetitive         bool                    `json:"repetitive,omitempty" jsonschema_description:"whether the round mostly repeats what was said before"`
	Drifting           bool                    `json:"drifting,omitempty" jsonschema_description:"whether the debate has left its topic"`
	DiminishingReturns bool                    `json:"diminishing_returns,omitempty" jsonschema_description:"whether the last rounds have added less and less"`
	Converged          bool                    `json:"converged,omitempty" jsonschema_description:"whether the participants have come to agree on the substance"`
	Quality            float64                 `json:"quality" jsonschema:"minimum=0,maximum=10" jsonschema_description:"the quality of the round as a whole, 0 the worst and 10 the best"`
	ShouldContinue     bool                    `json:"should_continue" jsonschema_description:"whether another round is worth having"`
	Recommendations    []string                `json:"recommendations,omitempty" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"what the participants should turn to next"`
}

// ParticipantAssessment is an assessment of one participant.
type ParticipantAssessment struct {
	Name       string           `json:"name" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"the participant's name, exactly as it was given"`
	Strengths  []string         `json:"strengths,omitempty" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"what was strong in this round"`
	Weaknesses []string         `json:"weaknesses,omitempty" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"what was weak in this round"`
	Criteria   []CriterionScore `json:"criteria" jsonschema:"maxItems=16" jsonschema_description:"one mark for each criterion, and no other"`
	Score      float64          `json:"score" jsonschema:"-"` // from 0 to 10: the mean of the marks by weight, computed and never asked for
}

// CriterionScore is how well a participant met a criterion.
type CriterionScore struct {
	Criterion string  `json:"criterion" jsonschema:"minLength=1,maxLength=100" jsonschema_description:"the criterion's name, exactly as it was given"`
	Score     float64 `json:"score" jsonschema:"minimum=0,maximum=10" jsonschema_description:"how well the participant met it in this round, 0 the worst and 10 the best"`
}

// Check finds participants that are not assessed exactly once.
func (a *Assessment) Check(names []string) []string {
	var spoken []*string
	for i := range a.Participants {
		spoken = append(spoken, &a.Participants[i].Name)
	}
	findings := checkNames(spoken, names, "/participants/%d/name", participant)
	for _, name := range names {
		if !slices.ContainsFunc(a.Participants, func(s ParticipantAssessment) bool { return s.Name == name }) {
			findings = append(findings, fmt.Sprintf("/participants: %q is not assessed", name))
		}
	}
	return findings
}

// Default lets the debate go on, with everyone in the middle. The marks that a rubric asks for are its contract's to
// give.
func (a *Assessment) Default(names []string) {
	*a = Assessment{
		Participants:   []ParticipantAssessment{},
		Reasoning:      "No valid assessment came from the judge. These are neutral values that stand in for it.",
		Quality:        5,
		ShouldContinue: true,
	}
	for _, name := range names {
		a.Participants = append(a.Participants, ParticipantAssessment{Name: name, Score: 5})
	}
}

// Text sums the assessment up.
func (a *Assessment) Text() string {
	var s summary
	s.line("", a.Reasoning)
	for _, p := range a.Participants {
		s.line(p.Name+": ", formatNumber(p.Score)+" of 10"+p.formatScores())
		s.line("  strengths: ", p.Strengths...)
		s.line("  weaknesses: ", p.Weaknesses...)
	}
	s.line("Quality of the round: ", formatNumber(a.Quality)+" of 10")
	s.line("Signs: ", a.flagNames()...)
	s.line("Recommended: ", a.Recommendations...)
	if a.ShouldContinue {
		s.line("", "The debate should go on.")
	} else {
		s.line("", "The debate should end.")
	}
	return s.String()
}

// formatScores lists what the total is made of.
func (s *ParticipantAssessment) formatScores() string {
	var list []string
	for _, m := range s.Criteria {
		list = append(list, wordSeparators.Replace(m.Criterion)+" "+formatNumber(m.Score))
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// flagNames names the flags that are set.
func (a *Assessment) flagNames() []string {
	var set []string
	for _, f := range []struct {
		on   bool
		name string
	}{
		{a.Repetitive, "repetitive"},
		{a.Drifting, "drifting off the topic"},
		{a.DiminishingReturns, "diminishing returns"},
		{a.Converged, "converged"},
	} {
		if f.on {
			set = append(set, f.name)
		}
	}
	return set
}

// MeanScore is the mean mark for a criterion over the participants, from 0 to 10; NaN where nobody has one.
func (a *Assessment) MeanScore(criterion string) float64 {
	sum, n := 0.0, 0
	for _, p := range a.Participants {
		for _, m := range p.Criteria {
			if m.Criterion == criterion {
				sum, n = sum+m.Score, n+1
			}
		}
	}
	return sum / float64(n) // 0/0 is NaN
}

// participant is that of a participant; nil where there is none.
func (a *Assessment) participant(name string) *ParticipantAssessment {
	if i := slices.IndexFunc(a.Participants, func(s ParticipantAssessment) bool { return s.Name == name }); i >= 0 {
		return &a.Participants[i]
	}
	return nil
}

// criterionScore is that of a participant for a criterion; nil where there is none.
func (a *Assessment) criterionScore(name, criterion string) *float64 {
	s := a.participant(name)
	if s == nil {
		return nil
	}
	if i := slices.IndexFunc(s.Criteria, func(m CriterionScore) bool { return m.Criterion == criterion }); i >= 0 {
		return &s.Criteria[i].Score
	}
	return nil
}

// cloneScores is an assessment whose numbers may be changed.
func cloneScores(a *Assessment) Assessment {
	c := *a
	c.Participants = slices.Clone(a.Participants)
	for i := range c.Participants {
		c.Participants[i].Criteria = slices.Clone(c.Participants[i].Criteria)
	}
	return c
}
