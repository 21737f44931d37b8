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
	"math"

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
