package judge

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/judge/reply"
)

// Criterion is one criterion on which participants are scored from 0 to 10.
type Criterion struct {
	Name        string   `json:"name"`                  // name in replies, such as "logical_consistency"
	Weight      float64  `json:"weight"`                // weight in the total score, relative to the other weights
	Description string   `json:"description,omitempty"` // what the criterion asks, in one sentence
	Zero        string   `json:"zero,omitempty"`        // what a score of 0 means
	Ten         string   `json:"ten,omitempty"`         // what a score of 10 means
	Bands       []string `json:"bands,omitempty"`       // what ranges of scores mean, such as "0-2: repeats earlier points"
}

// Rubric lists the criteria by which judges score. The zero Rubric stands for the default rubric: logical consistency
// 20 %, evidence 20 %, engagement 20 %, novelty 15 %, persuasiveness 15 % and relevance 10 %.
type Rubric []Criterion

// Criteria of the default rubric whose scores the detectors use.
const (
	Novelty   string = "novelty"
	Relevance string = "relevance"
)

var defaultRubric = Rubric{
	{
		Name: "logical_consistency", Weight: 20,
		Description: "do the conclusions follow from the premises, and are the statements consistent with one another?",
		Zero:        "contradicts itself, or the conclusions do not follow", Ten: "every conclusion follows, and all statements are consistent",
	},
	{
		Name: "evidence", Weight: 20,
		Description: "are the claims supported by reasons, facts and examples?",
		Zero:        "unsupported claims or invented facts", Ten: "every important claim is supported by evidence that can be checked",
	},
	{
		Name: "engagement", Weight: 20,
		Description: "are the opponents' arguments, above all the strongest, identified and answered?",
		Zero:        "ignores the opponents", Ten: "answers the strongest arguments in their strongest form",
	},
	{
		Name: Novelty, Weight: 15,
		Description: "are there new arguments, new evidence or new distinctions?",
		Zero:        "repeats earlier points", Ten: "changes the course of the debate",
		Bands: []string{
			"0-2: repeats earlier points, even if reworded",
			"3-4: earlier arguments with new examples or details",
			"5-6: earlier arguments with new evidence, or a new answer to an objection",
			"7-8: a new argument or distinction that is relevant to the question",
			"9-10: a new line of argument that all opponents have to answer",
		},
	},
	{
		Name: "persuasiveness", Weight: 15,
		Description: "would it persuade an informed and fair-minded listener?",
		Zero:        "would persuade nobody, or would alienate listeners", Ten: "would change the mind of a listener who held the opposite view",
	},
	{
		Name: Relevance, Weight: 10,
		Description: "do the arguments address the topic?",
		Zero:        "off topic", Ten: "every sentence addresses the question",
	},
}

// Size limits of a rubric.
const (
	maxCriteria  = 16
	maxNameBytes = 100
	maxTextBytes = 400 // for each text other than a name
	maxBands     = 11
	maxWeight    = 1_000_000
)

// criteria returns the criteria of the rubric, or those of the default rubric if there are none.
func (r Rubric) criteria() Rubric {
	if len(r) == 0 {
		return defaultRubric
	}
	return r
}

// Check returns a description of everything that is wrong with a rubric. A rubric has at most 16 criteria. Names are
// not empty, at most 100 bytes long, and differ in more than case, surrounding space, hyphens and underscores.
// Weights are from 0 to 1,000,000 and not all zero. A criterion has at most 11 bands. Each text is one line of at
// most 400 bytes. The zero Rubric is valid.
func (r Rubric) Check() (problems []string) {
	if len(r) > maxCriteria {
		problems = append(problems, fmt.Sprintf("%d criteria, at most %d are allowed", len(r), maxCriteria))
	}
	for i, c := range r {
		for _, p := range c.check(r[:i]) {
			problems = append(problems, fmt.Sprintf("criterion %d: %s", i+1, p))
		}
	}
	if len(r) > 0 && !slices.ContainsFunc(r, func(c Criterion) bool { return c.Weight != 0 }) {
		problems = append(problems, "all weights are 0, at least one must be greater")
	}
	return problems
}

// check returns a description of everything that is wrong with a criterion. before holds the criteria that precede
// it.
func (c Criterion) check(before []Criterion) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if strings.TrimSpace(c.Name) == "" {
		wrong("name is empty, use one such as %q", "evidence")
	}
	if slices.ContainsFunc(before, func(b Criterion) bool { return naming.Same(b.Name, c.Name) }) {
		wrong("name %q appears twice", c.Name)
	}
	if !(c.Weight >= 0 && c.Weight <= maxWeight) { // also rejects NaN
		wrong("weight %g, use a number from 0 to %d", c.Weight, maxWeight)
	}
	if len(c.Bands) > maxBands {
		wrong("%d bands, at most %d are allowed", len(c.Bands), maxBands)
	}
	line := func(field, text string, limit int) {
		if len(text) > limit {
			wrong("%s has %d bytes, at most %d are allowed", field, len(text), limit)
		}
		if strings.ContainsAny(text, "\r\n") {
			wrong("%s has several lines, use one", field)
		}
	}
	line("name", c.Name, maxNameBytes)
	line("description", c.Description, maxTextBytes)
	line("zero", c.Zero, maxTextBytes)
	line("ten", c.Ten, maxTextBytes)
	for _, b := range c.Bands {
		line("band", b, maxTextBytes)
	}
	return problems
}

// Outline describes the criteria for a judge's system prompt. Each criterion has a line with its share of the total,
// followed by indented lines that say what scores mean.
func (r Rubric) Outline() string {
	if len(r) == 0 {
		return defaultOutline()
	}
	return r.outline()
}

// defaultOutline returns the outline of the default rubric, which most debates have.
var defaultOutline = sync.OnceValue(func() string { return Rubric(nil).outline() })

func (r Rubric) outline() string {
	var b strings.Builder
	sum := r.totalWeight()
	for _, c := range r.criteria() {
		fmt.Fprintf(&b, "- %s (%s %%)", c.Name, formatNumber(100*c.Weight/sum))
		if c.Description != "" {
			b.WriteString(": " + c.Description)
		}
		b.WriteString("\n")
		for _, anchor := range []struct{ mark, means string }{{"0", c.Zero}, {"10", c.Ten}} {
			if anchor.means != "" {
				fmt.Fprintf(&b, "  - %s means: %s\n", anchor.mark, anchor.means)
			}
		}
		for _, band := range c.Bands {
			b.WriteString("  - " + band + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// totalWeight returns the sum of all weights.
func (r Rubric) totalWeight() (sum float64) {
	for _, c := range r.criteria() {
		sum += c.Weight
	}
	return sum
}

// Contract returns the contract of assessments by this rubric. It extends [AssessmentContract] with a check against
// the rubric: each participant has exactly one score for each criterion, and no other scores. The contract computes
// each participant's score as the weighted mean of the criterion scores, rounded to hundredths. It ignores a
// participant's score in the judge's reply.
func (r Rubric) Contract() *reply.Contract {
	names := r.Names()
	return assessments.WithCheck(func(v any) (findings []string) {
		a := v.(*Assessment)
		for i := range a.Participants {
			s := &a.Participants[i]
			if s.Criteria == nil { // only a default has none, because the schema requires a list
				s.Criteria = r.UniformScores(5)
			}
			findings = append(findings, s.checkCriteria(names, fmt.Sprintf("/participants/%d/criteria", i))...)
			s.Score = r.weightedMean(s.Criteria)
		}
		return findings
	})
}

// Shares returns the criteria in order, those of the default rubric if there are none. Their weights are percentages of the
// total, rounded to hundredths.
func (r Rubric) Shares() Rubric {
	list, sum := slices.Clone(r.criteria()), r.totalWeight()
	for i := range list {
		list[i].Weight = roundToHundredths(100 * list[i].Weight / sum)
	}
	return list
}

// Names returns the names of the criteria, in order.
func (r Rubric) Names() (names []string) {
	for _, c := range r.criteria() {
		names = append(names, c.Name)
	}
	return names
}

// checkCriteria corrects the spelling of the criteria in a reply, and returns a violation for each criterion that
// does not have exactly one score.
func (s *ParticipantAssessment) checkCriteria(names []string, at string) []string {
	var spoken []*string
	for i := range s.Criteria {
		spoken = append(spoken, &s.Criteria[i].Criterion)
	}
	return naming.Criterion.CheckAll(spoken, names, at, "criterion", "has no score")
}

// UniformScores returns the same score for each criterion. The weighted mean is then that score too.
func (r Rubric) UniformScores(score float64) (marks []CriterionScore) {
	for _, name := range r.Names() {
		marks = append(marks, CriterionScore{Criterion: name, Score: score})
	}
	return marks
}

// weightedMean returns the weighted mean of criterion scores, rounded to hundredths.
func (r Rubric) weightedMean(marks []CriterionScore) (total float64) {
	sum := r.totalWeight()
	for _, c := range r.criteria() {
		if i := slices.IndexFunc(marks, func(m CriterionScore) bool { return m.Criterion == c.Name }); i >= 0 {
			total += c.Weight / sum * marks[i].Score
		}
	}
	return roundToHundredths(total)
}
