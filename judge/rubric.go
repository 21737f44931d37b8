package judge

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/elenchus-go/debate/judge/reply"
)

// Criterion is one thing that participants are marked for, from 0 to 10.
type Criterion struct {
	Name        string   `json:"name"`                  // how a reply speaks of it, such as "logical_consistency"
	Weight      float64  `json:"weight"`                // its part of the total, relative to those of the others
	Description string   `json:"description,omitempty"` // what it asks, in a sentence
	Zero        string   `json:"zero,omitempty"`        // what a mark of 0 means
	Ten         string   `json:"ten,omitempty"`         // what a mark of 10 means
	Bands       []string `json:"bands,omitempty"`       // what the marks between mean, such as "0-2: repeats what was said"
}

// Rubric is what judges mark by. The zero Rubric is the default one: logical consistency 20 %, evidence 20 %,
// engagement 20 %, novelty 15 %, persuasiveness 15 % and relevance 10 %.
type Rubric []Criterion

// Criteria of the default rubric that detectors go by.
const (
	Novelty   string = "novelty"
	Relevance string = "relevance"
)

var defaultRubric = Rubric{
	{
		Name: "logical_consistency", Weight: 20,
		Description: "do the conclusions follow, and do the statements agree with one another?",
		Zero:        "contradicts itself, or nothing follows", Ten: "each conclusion follows, and all statements fit together",
	},
	{
		Name: "evidence", Weight: 20,
		Description: "do reasons, facts and examples bear out the claims?",
		Zero:        "bare claims, or invented facts", Ten: "each claim that matters is borne out by what can be checked",
	},
	{
		Name: "engagement", Weight: 20,
		Description: "are the opponents' points named, the strongest above all, and answered?",
		Zero:        "speaks as if nobody else had spoken", Ten: "meets the strongest points in their strongest form",
	},
	{
		Name: Novelty, Weight: 15,
		Description: "are there arguments, evidence or distinctions that were not there before?",
		Zero:        "says again what was said", Ten: "changes what the debate is about",
		Bands: []string{
			"0-2: repeats what was said, if in new words",
			"3-4: old arguments with new examples or details",
			"5-6: old arguments with new evidence, or a new answer to an objection",
			"7-8: a new argument or distinction that bears on the question",
			"9-10: a new line of thought that all others have to answer",
		},
	},
	{
		Name: "persuasiveness", Weight: 15,
		Description: "would it move an informed and fair-minded listener?",
		Zero:        "would move nobody, or turn listeners away", Ten: "would change the mind of one who came with the opposite view",
	},
	{
		Name: Relevance, Weight: 10,
		Description: "does what is said bear on the topic?",
		Zero:        "about something else", Ten: "each sentence serves the question",
	},
}

// What a rubric may hold at most.
const (
	maxCriteria  = 16
	maxNameBytes = 100 // bytes
	maxTextBytes = 400 // bytes of any other text
	maxBands     = 11
	maxWeight    = 1_000_000
)

// criteria are those that hold: the default ones where there are none.
func (r Rubric) criteria() Rubric {
	if len(r) == 0 {
		return defaultRubric
	}
	return r
}

// Check says all that is wrong with a rubric: more than 16 criteria, names that are empty, too long or alike, weights
// that are negative, beyond a million or all zero, and texts that are too long or of several lines. The zero Rubric is
// good.
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
		problems = append(problems, "all weights are 0, one at least must be greater")
	}
	return problems
}

// check says what is wrong with a criterion that comes after others.
func (c Criterion) check(before []Criterion) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if strings.TrimSpace(c.Name) == "" {
		wrong("name is empty, give one such as %q", "evidence")
	}
	if slices.ContainsFunc(before, func(b Criterion) bool { return sameName(b.Name, c.Name) }) {
		wrong("name %q stands there twice", c.Name)
	}
	if !(c.Weight >= 0 && c.Weight <= maxWeight) { // nor is NaN
		wrong("weight %g, give a number from 0 to %d", c.Weight, maxWeight)
	}
	if len(c.Bands) > maxBands {
		wrong("%d bands, at most %d are allowed", len(c.Bands), maxBands)
	}
	line := func(field, text string, limit int) {
		if len(text) > limit {
			wrong("%s has %d bytes, at most %d are allowed", field, len(text), limit)
		}
		if strings.ContainsAny(text, "\r\n") {
			wrong("%s has several lines, give one", field)
		}
	}
	line("name", c.Name, maxNameBytes)
	line("about", c.Description, maxTextBytes)
	line("zero", c.Zero, maxTextBytes)
	line("ten", c.Ten, maxTextBytes)
	for _, b := range c.Bands {
		line("a band", b, maxTextBytes)
	}
	return problems
}

// Outline describes the criteria in plain words for a judge's system prompt: a line for each with its share of the
// total, and indented ones for what the marks mean.
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

// totalWeight is that of all weights.
func (r Rubric) totalWeight() (sum float64) {
	for _, c := range r.criteria() {
		sum += c.Weight
	}
	return sum
}

// Contract is the contract of assessments by this rubric. It is [AssessmentContract], held against the rubric as
// well: each participant has a mark for each criterion, once, and for nothing else. The total is computed from the
// marks: their mean by weight, rounded to hundredths. A total that the judge gave is not looked at.
func (r Rubric) Contract() *reply.Contract {
	names := r.criterionNames()
	return assessments.WithCheck(func(v any) (findings []string) {
		a := v.(*Assessment)
		for i := range a.Participants {
			s := &a.Participants[i]
			if s.Criteria == nil { // only a fallback has none: the schema wants a list
				s.Criteria = r.UniformScores(5)
			}
			findings = append(findings, s.checkCriteria(names, fmt.Sprintf("/participants/%d/criteria", i))...)
			s.Score = r.weightedMean(s.Criteria)
		}
		return findings
	})
}

func (r Rubric) criterionNames() (names []string) {
	for _, c := range r.criteria() {
		names = append(names, c.Name)
	}
	return names
}

// checkCriteria corrects the spelling of the criteria that have a mark, and finds those that have not exactly one.
func (s *ParticipantAssessment) checkCriteria(names []string, at string) []string {
	var spoken []*string
	for i := range s.Criteria {
		spoken = append(spoken, &s.Criteria[i].Criterion)
	}
	findings := checkNames(spoken, names, at+"/%d/criterion", criterion)
	for _, name := range names {
		if !slices.ContainsFunc(s.Criteria, func(m CriterionScore) bool { return m.Criterion == name }) {
			findings = append(findings, fmt.Sprintf("%s: %q has no mark", at, name))
		}
	}
	return findings
}

// UniformScores are the same mark for each criterion, so that it is the total as well.
func (r Rubric) UniformScores(score float64) (marks []CriterionScore) {
	for _, name := range r.criterionNames() {
		marks = append(marks, CriterionScore{Criterion: name, Score: score})
	}
	return marks
}

// weightedMean is the mean of marks by weight, rounded to hundredths.
func (r Rubric) weightedMean(marks []CriterionScore) (total float64) {
	sum := r.totalWeight()
	for _, c := range r.criteria() {
		if i := slices.IndexFunc(marks, func(m CriterionScore) bool { return m.Criterion == c.Name }); i >= 0 {
			total += c.Weight / sum * marks[i].Score
		}
	}
	return roundToHundredths(total)
}
