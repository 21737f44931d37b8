package main

import (
	"fmt"
	"io"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/arbitration"
)

// arbitrated debates the scores of a fictional evaluation, one topic in each round.
var arbitrated = kind{
	about: "an advocate and a challenger debate the scores of an evaluation; the arbiter's rulings change them",
	topic: "Should we fund the shift planner for clinics?",
	config: debate.Config{
		Protocol: arbitration.Protocol{
			Evidence: []string{
				"Nine of twelve clinics that we surveyed plan shifts on paper.",
				"One clinic used a first version for six weeks.",
				"Two competitors sell to hospitals, but none sells to clinics.",
			},
			Scores:        map[string]float64{"problem": 7, "solution": 6, "market": 5, "team": 8},
			Challenges:    []string{"No customer has paid yet."},
			MaxAdjustment: 2, // a ruling with confidence 100 changes a score by 2 of 10 points
		},
		Participants: []debate.Participant{{Name: "Ada", Role: arbitration.Advocate}, {Name: "Bo", Role: arbitration.Challenger}},
		Judges:       people("Arbiter"),
	},
	show: showRulings,
}

// showRulings prints who won each topic, and the whole evaluation as Markdown.
func showRulings(w io.Writer, r *debate.Result) error {
	came, err := arbitration.DecodeAnswer(r.Answer)
	if err != nil {
		return err
	}
	for _, a := range came.Topics {
		fmt.Fprintf(w, "%s: %s, %s %+.2f\n", a.Topic, a.Ruling.Winner, a.Category, a.Delta)
	}
	_, err = fmt.Fprintf(w, "\n# %s\n\n%s", r.Topic, r.Answer.Text)
	return err
}
