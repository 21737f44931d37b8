package arbitration

import (
	"maps"
	"slices"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Result is what an arbitration came to, as data.
type Result struct {
	Topics []Adjustment  `json:"topics"` // those that were ruled on, in order
	Scores []ScoreChange `json:"scores"` // of all categories, by name
	Total  ScoreChange   `json:"total"`  // their sums
	Scale  float64       `json:"scale"`  // the best score that a category can have
}

// Adjustment is what a ruling did to the score of its topic's category.
type Adjustment struct {
	Round     int    `json:"round"` // in which it was ruled on
	Topic     string `json:"topic"`
	Ruling    Ruling `json:"ruling"`
	Defaulted bool   `json:"defaulted,omitempty"` // no valid ruling came
	ScoreChange
}

// ScoreChange is a score before and after, from 0 to the scale; a total is a sum of such.
type ScoreChange struct {
	Category string  `json:"category,omitempty"`
	Before   float64 `json:"before"`
	After    float64 `json:"after"`
	Delta    float64 `json:"delta"` // After less Before
}

// adjust is a score after a ruling, by the rule of the package. One that does not move is left as it is.
func (p Protocol) adjust(before float64, ruling Ruling) float64 {
	move := p.maxAdjustment() * ruling.Confidence / 100
	switch ruling.Winner {
	case Advocate:
	case Challenger:
		move = -move
	default:
		return before
	}
	if move == 0 {
		return before
	}
	return min(max(roundHundredths(before+move), 0), p.scale())
}

func scoreChange(category string, before, after float64) ScoreChange {
	return ScoreChange{Category: category, Before: before, After: after, Delta: roundHundredths(after - before)}
}

// currentScore is the score of a category before the round at hand. It reads the rulings that moved it, and no others.
func (p Protocol) currentScore(r *protocol.Record, category string) float64 {
	now := p.Scores[category]
	for i, topic := range p.topics()[:r.Cursor.Round-1] {
		if topic.Category != category {
			continue
		}
		if ruling, fallback, ok := findRuling(r, i+1); ok && !fallback {
			now = p.adjust(now, ruling)
		}
	}
	return now
}

// result applies all rulings.
func (p Protocol) result(r *protocol.Record) Result {
	res := Result{Topics: []Adjustment{}, Scores: []ScoreChange{}, Scale: p.scale()}
	now := maps.Clone(p.Scores)
	if now == nil {
		now = map[string]float64{}
	}
	for i, topic := range p.topics() {
		ruling, fallback, ok := findRuling(r, i+1)
		if !ok {
			continue
		}
		before := now[topic.Category]
		if !fallback {
			now[topic.Category] = p.adjust(before, ruling)
		}
		res.Topics = append(res.Topics, Adjustment{
			Round: i + 1, Topic: topic.Name, Ruling: ruling, Defaulted: fallback, ScoreChange: scoreChange(topic.Category, before, now[topic.Category]),
		})
	}
	var before, after float64
	for _, category := range slices.Sorted(maps.Keys(p.Scores)) {
		res.Scores = append(res.Scores, scoreChange(category, p.Scores[category], now[category]))
		before, after = before+p.Scores[category], after+now[category]
	}
	res.Total = scoreChange("", roundHundredths(before), roundHundredths(after))
	return res
}

// findRuling is the ruling of a round, whoever was the arbiter then.
func findRuling(r *protocol.Record, round int) (ruling Ruling, fallback, ok bool) {
	for _, t := range r.TurnsFrom(round) {
		if t.Round != round || t.Kind != transcript.Assessment {
			continue
		}
		ruling, err := transcript.Decode[Ruling](t)
		return ruling, slices.Contains(t.Flags, transcript.Defaulted), err == nil
	}
	return Ruling{}, false, false
}
