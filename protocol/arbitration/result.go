package arbitration

import (
	"maps"
	"slices"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Result is the result of an arbitration.
type Result struct {
	Topics []Adjustment  `json:"topics"` // topics with a ruling, in order
	Scores []ScoreChange `json:"scores"` // scores of all categories, sorted by name
	Total  ScoreChange   `json:"total"`  // sums of Scores
	Scale  float64       `json:"scale"`  // highest possible score of a category
}

// Adjustment is the effect of a ruling on the score of the topic's category.
type Adjustment struct {
	Round     int    `json:"round"` // round of the ruling
	Topic     string `json:"topic"`
	Ruling    Ruling `json:"ruling"`
	Defaulted bool   `json:"defaulted,omitempty"` // there was no valid ruling, and the default was used
	ScoreChange
}

// ScoreChange is a score before and after the rulings. The score of a category is between 0 and the scale.
type ScoreChange struct {
	Category string  `json:"category,omitempty"`
	Before   float64 `json:"before"`
	After    float64 `json:"after"`
	Delta    float64 `json:"delta"` // After minus Before
}

// adjust returns the score after a ruling, as the package documentation describes. A score that does not change is not
// rounded.
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

// currentScore returns the score of a category before the current round. It reads only the rulings on that category.
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

// result returns the result of all rulings so far.
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
			Round:       i + 1,
			Topic:       topic.Name,
			Ruling:      ruling,
			Defaulted:   fallback,
			ScoreChange: scoreChange(topic.Category, before, now[topic.Category]),
		})
	}
	var before, after float64
	for _, category := range slices.Sorted(maps.Keys(p.Scores)) {
		res.Scores = append(res.Scores, scoreChange(category, p.Scores[category], now[category]))
		before += p.Scores[category]
		after += now[category]
	}
	res.Total = scoreChange("", roundHundredths(before), roundHundredths(after))
	return res
}

// findRuling returns the ruling of a round by any judge, and whether it is a default.
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
