package arbitration

import (
	"fmt"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/protocol"
)

// Outcome returns how the rulings moved the scores.
func (Protocol) Outcome(_ *protocol.Record, a protocol.Answer) protocol.Outcome {
	o := protocol.Outcome{Kind: "Arbitration"}
	res, err := DecodeAnswer(a)
	if err != nil || len(res.Topics)+len(res.Scores) == 0 {
		return o
	}
	wins := addRulings(&o, res)
	most := res.Scale * float64(len(res.Scores))
	o.Sentence = fmt.Sprintf("The total score %s of %s", moved(res.Total), outcome.Number(most))
	if len(res.Topics) > 0 {
		sure := 0.0
		for _, t := range res.Topics {
			sure += t.Ruling.Confidence / float64(len(res.Topics))
		}
		o.Clauses = []string{
			fmt.Sprintf("the advocate won %d of %s, the challenger %d, and %d ended in a draw",
				wins[Advocate], outcome.Count(len(res.Topics), "topic", "topics"), wins[Challenger], wins[Draw]),
			"the mean confidence of the rulings is " + outcome.Number(sure) + " of 100",
		}
	}
	o.Measure = &protocol.Measure{Name: "the total of the scores", Most: most, Values: map[string]float64{"": res.Total.After}}
	o.Chart = &protocol.Chart{
		Title: "Scores before and after the rulings", Unit: "Score (0–" + outcome.Number(res.Scale) + ")", Maximum: res.Scale,
	}
	for _, s := range res.Scores {
		o.SetScore(s.Category, s.After)
		o.Chart.Set(s.Category, "before", s.Before)
		o.Chart.Set(s.Category, "after", s.After)
	}
	return o
}

// addRulings adds the ruling on each topic with its reasons, and returns how many rulings each side won.
func addRulings(o *protocol.Outcome, res Result) map[string]int {
	wins := map[string]int{}
	table := protocol.Exhibit{Title: "Rulings", Header: []string{"Topic", "Winner", "Confidence (0–100)", "Category", "Before", "After"}}
	for _, t := range res.Topics {
		wins[t.Ruling.Winner]++
		winner := t.Ruling.Winner
		if t.Defaulted {
			winner += " (no valid ruling was received)"
		}
		table.Rows = append(table.Rows, []string{
			t.Topic, winner, outcome.Number(t.Ruling.Confidence), t.Category, outcome.Number(t.Before), outcome.Number(t.After),
		})
		verdict := "for the " + t.Ruling.Winner
		if t.Ruling.Winner == Draw {
			verdict = "a draw"
		}
		o.AddReason("On "+t.Topic+": "+verdict, "", append([]string{t.Ruling.Reasoning}, t.Ruling.KeyPoints...)...)
	}
	o.Evidence = []protocol.Exhibit{table}
	return wins
}

// moved says how a score has changed.
func moved(s ScoreChange) string {
	switch {
	case s.After > s.Before:
		return fmt.Sprintf("rose from %s to %s", outcome.Number(s.Before), outcome.Number(s.After))
	case s.After < s.Before:
		return fmt.Sprintf("fell from %s to %s", outcome.Number(s.Before), outcome.Number(s.After))
	}
	return "did not change: it is " + outcome.Number(s.After)
}
