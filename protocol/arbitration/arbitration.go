// Package arbitration reviews the scores of an evaluation, one topic in each round. An advocate and a challenger give
// their arguments, an arbiter rules, and the ruling moves the score of the topic's category.
//
//	d, err := debate.New(ctx, debate.Config{
//		Topic: "A shop for used bicycles",
//		Protocol: arbitration.Protocol{
//			Scores:   map[string]float64{"problem": 6, "solution": 5, "market": 7},
//			Evidence: []string{"In a survey, 40 of 50 students own a used bicycle."},
//		},
//		Participants: []debate.Participant{{Name: "Ada", Role: "advocate"}, {Name: "Bo", Role: "challenger"}},
//		Judges:       []debate.Participant{{Name: "Cy"}},
//	}, options)
//
// In a JSON configuration the protocol's name is "arbitration/1", and the fields of [Protocol] stand next to it:
//
//	"protocol": {"name": "arbitration/1", "scores": {"problem": 6, "solution": 5, "market": 7}}
//
// # Scores
//
// A ruling for the advocate raises the score of the topic's category, and a ruling for the challenger lowers it: by
// [Protocol.MaxAdjustment] at a confidence of 100, and by proportionally less at a lower confidence. The new score is
// limited to the range from 0 to [Protocol.Scale] and rounded to hundredths. The score does not change after a draw, at a
// confidence of 0, or if the arbiter gave no valid ruling. If several topics have the same category, each ruling starts
// from the score after the previous one.
//
// # Prompts
//
// The prompts are "arbitration-argue" for both sides and "arbitration-rule" for the arbiter.
//
// # Answer
//
// The data of the answer decodes to a [Result]. Its text is a transcript in Markdown with a table of the scores.
package arbitration

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/protocol"
)

// Topic is the subject of a round.
type Topic struct {
	Name       string `json:"name"`       // unique, such as "solution fit"
	Question   string `json:"question"`   // the question that the arbiter decides
	Category   string `json:"category"`   // the category whose score the ruling changes
	Advocate   string `json:"advocate"`   // position of the advocate, who defends the score
	Challenger string `json:"challenger"` // position of the challenger
}

// Protocol holds the parameters of an arbitration. Scores are required.
type Protocol struct {
	// Topics are the topics in the order of their rounds. Defaults to problem validity, solution fit and market
	// opportunity, with the categories "problem", "solution" and "market".
	Topics []Topic `json:"topics,omitempty"`
	// Evidence is the evidence of the evaluation.
	Evidence []string `json:"evidence,omitempty"`
	// Scores are the scores of the evaluation by category, from 0 to Scale. The category of each topic needs a score. A
	// score without a topic does not change.
	Scores map[string]float64 `json:"scores"`
	// Challenges are the open questions of the evaluation.
	Challenges []string `json:"challenges,omitempty"`
	// Scale is the highest possible score, at most 1e9. Defaults to 10.
	Scale float64 `json:"scale,omitempty"`
	// MaxAdjustment is the change of a score by a ruling with a confidence of 100. Defaults to a tenth of Scale.
	MaxAdjustment float64 `json:"max_adjustment,omitempty"`
}

// The sides, and the possible winners of a ruling.
const (
	Advocate   = "advocate"
	Challenger = "challenger"
	Draw       = "draw"
)

var defaultTopics = []Topic{
	{
		"problem validity", "Is the problem real, and is it serious for the people who have it?", "problem",
		"The problem is real, frequent, and serious for the people who have it.",
		"The problem is small, rare, or already solved well enough.",
	},
	{
		"solution fit", "Does the proposed solution solve the problem, and can it be built?", "solution",
		"The solution solves the problem, can be built, and is better than the existing alternatives.",
		"The solution does not solve the problem, cannot be built, or is no better than the existing alternatives.",
	},
	{
		"market opportunity", "Is there a market large enough to justify the effort?", "market",
		"Enough customers will pay enough for it, and they can be reached.",
		"Too few customers will pay, they pay too little, or competitors reach them first.",
	},
}

func (p Protocol) topics() []Topic {
	if len(p.Topics) == 0 {
		return defaultTopics
	}
	return p.Topics
}

const maxScale = 1e9

func (p Protocol) scale() float64 { return cmp.Or(p.Scale, 10) }

func (p Protocol) maxAdjustment() float64 { return cmp.Or(p.MaxAdjustment, p.scale()/10) }

func roundHundredths(f float64) float64 { return math.Round(f*100) / 100 }

// Name returns "arbitration/1".
func (Protocol) Name() string { return "arbitration/1" }

// Defaults returns one round for each topic.
func (p Protocol) Defaults() protocol.Defaults {
	return protocol.Defaults{MaxRounds: len(p.topics())}
}

// Check requires an advocate, a challenger and one arbiter, complete topics, at most one round for each topic, and a score
// within the scale for the category of each topic.
func (p Protocol) Check(r *protocol.Record) []protocol.Problem {
	problems := protocol.Problems(p.flow().Check(r))
	if n := len(p.topics()); r.MaxRounds > n {
		problems.Add("limits.max_rounds", "%d, use at most %d, one round for each topic", r.MaxRounds, n)
	}
	p.checkTopics(&problems)
	p.checkScores(&problems)
	return problems
}

// checkRoles requires that not both participants have the same role.
func checkRoles(r *protocol.Record) (problems []protocol.Problem) {
	a, b := r.Participants[0], r.Participants[1]
	if a.Role == b.Role && (a.Role == Advocate || a.Role == Challenger) {
		problems = append(problems, protocol.Problemf("participants[1].role", "%q is taken by %s", a.Role, a.Name))
	}
	return problems
}

func (p Protocol) checkTopics(problems *protocol.Problems) {
	seen := map[string]int{}
	for i, t := range p.topics() {
		at := fmt.Sprintf("protocol.topics[%d]", i)
		for _, f := range [][2]string{
			{"name", t.Name}, {"question", t.Question}, {"category", t.Category}, {"advocate", t.Advocate}, {"challenger", t.Challenger},
		} {
			if strings.TrimSpace(f[1]) == "" {
				problems.Add(at+"."+f[0], "it is blank, a topic needs a name, a question, a category and both positions")
			}
		}
		if first, again := seen[t.Name]; again {
			problems.Add(at+".name", "%q is also the name of topics[%d]", t.Name, first)
		}
		seen[t.Name] = i
		if t.Advocate == t.Challenger && t.Advocate != "" {
			problems.Add(at+".challenger", "%q is also the position of the advocate", t.Challenger)
		}
		if _, scored := p.Scores[t.Category]; !scored && t.Category != "" {
			problems.Add("protocol.scores", "no score for %q, the category of topic %q", t.Category, t.Name)
		}
	}
}

func (p Protocol) checkScores(problems *protocol.Problems) {
	scale, step := p.scale(), p.maxAdjustment()
	if !(scale > 0 && scale <= maxScale) {
		problems.Add("protocol.scale", "%v, use a number above 0 and at most %v", scale, maxScale)
		return
	}
	if !(step > 0 && step <= scale) {
		problems.Add("protocol.max_adjustment", "%v, use a number above 0 and at most %v, the scale", step, scale)
	}
	for _, category := range slices.Sorted(maps.Keys(p.Scores)) {
		if s := p.Scores[category]; !(s >= 0 && s <= scale) {
			problems.Add("protocol.scores."+category, "%v, use a number from 0 to %v", s, scale)
		}
	}
}
