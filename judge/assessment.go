package judge

import (
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/judge/reply"
)

var assessments = reply.New[Assessment]("assessment/1")

// Assessment is a judge's reply after a round.
type Assessment struct {
	Participants       []ParticipantAssessment `json:"participants" each:"active" jsonschema:"maxItems=64" jsonschema_description:"one entry for each participant"`
	Reasoning          string                  `json:"reasoning,omitempty" jsonschema:"maxLength=1900" jsonschema_description:"the reasons for the assessment, in a few sentences"`
	Repetitive         bool                    `json:"repetitive,omitempty" jsonschema_description:"whether the round mostly repeats earlier arguments"`
	Drifting           bool                    `json:"drifting,omitempty" jsonschema_description:"whether the debate has drifted off its topic"`
	DiminishingReturns bool                    `json:"diminishing_returns,omitempty" jsonschema_description:"whether each of the last rounds added less than the round before"`
	Converged          bool                    `json:"converged,omitempty" jsonschema_description:"whether the participants now agree on the substance"`
	Quality            float64                 `json:"quality" jsonschema:"minimum=0,maximum=10" jsonschema_description:"the quality of the round as a whole, from 0 (worst) to 10 (best)"`
	ShouldContinue     bool                    `json:"should_continue" jsonschema_description:"whether another round is worthwhile"`
	Recommendations    []string                `json:"recommendations,omitempty" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"what the participants should address next"`
}

// ParticipantAssessment is the assessment of one participant.
type ParticipantAssessment struct {
	Name       string           `json:"name" names:"participants" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"the participant's name, exactly as given"`
	Strengths  []string         `json:"strengths,omitempty" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"the strengths in this round"`
	Weaknesses []string         `json:"weaknesses,omitempty" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"the weaknesses in this round"`
	Criteria   []CriterionScore `json:"criteria" each:"criteria" jsonschema:"maxItems=16" jsonschema_description:"one score for each criterion"`
	Score      float64          `json:"score" jsonschema:"-"` // weighted mean of the criterion scores, 0 to 10; computed, and never read from a reply
}

// CriterionScore is the score of a participant for one criterion.
type CriterionScore struct {
	Criterion string  `json:"criterion" names:"criteria" jsonschema:"minLength=1,maxLength=100" jsonschema_description:"the criterion's name, exactly as given"`
	Score     float64 `json:"score" jsonschema:"minimum=0,maximum=10" jsonschema_description:"how well the participant met the criterion in this round, from 0 (worst) to 10 (best)"`
}

// Check returns a violation for each participant that is not assessed exactly once. It corrects the spelling of
// names.
func (a *Assessment) Check(names []string) []string {
	var spoken []*string
	for i := range a.Participants {
		spoken = append(spoken, &a.Participants[i].Name)
	}
	return naming.Participant.CheckAll(spoken, names, "/participants", "name", "has no assessment")
}

// Default fills the assessment with neutral values that let the debate continue. It sets no criterion scores: the
// contract of a [Rubric] adds them.
func (a *Assessment) Default(names []string) {
	*a = Assessment{
		Participants:   []ParticipantAssessment{},
		Reasoning:      "The judge gave no valid assessment. Neutral default values are used instead.",
		Quality:        5,
		ShouldContinue: true,
	}
	for _, name := range names {
		a.Participants = append(a.Participants, ParticipantAssessment{Name: name, Score: 5})
	}
}

// Text returns a readable summary of the assessment.
func (a *Assessment) Text() string {
	var s summary
	s.line("", a.Reasoning)
	for _, p := range a.Participants {
		s.line(p.Name+": ", formatNumber(p.Score)+" of 10"+p.formatScores())
		s.line("  strengths: ", p.Strengths...)
		s.line("  weaknesses: ", p.Weaknesses...)
	}
	s.line("Quality of the round: ", formatNumber(a.Quality)+" of 10")
	s.line("Signals: ", a.flagNames()...)
	s.line("Recommendations: ", a.Recommendations...)
	if a.ShouldContinue {
		s.line("", "The debate should continue.")
	} else {
		s.line("", "The debate should end.")
	}
	return s.String()
}

// formatScores lists the criterion scores in parentheses. It returns "" if there are none.
func (s *ParticipantAssessment) formatScores() string {
	var list []string
	for _, m := range s.Criteria {
		list = append(list, naming.Words(m.Criterion)+" "+formatNumber(m.Score))
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// flagNames returns the names of the flags that are set.
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

// MeanScore returns the mean score for a criterion over all participants, from 0 to 10. It returns NaN if no
// participant has a score for it.
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

// participant returns the assessment of a participant, or nil if there is none.
func (a *Assessment) participant(name string) *ParticipantAssessment {
	if i := slices.IndexFunc(a.Participants, func(s ParticipantAssessment) bool { return s.Name == name }); i >= 0 {
		return &a.Participants[i]
	}
	return nil
}

// criterionScore returns a pointer to a participant's score for a criterion, or nil if there is none.
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

// cloneScores returns a copy of an assessment whose scores can be changed without changing the original.
func cloneScores(a *Assessment) Assessment {
	c := *a
	c.Participants = slices.Clone(a.Participants)
	for i := range c.Participants {
		c.Participants[i].Criteria = slices.Clone(c.Participants[i].Criteria)
	}
	return c
}
