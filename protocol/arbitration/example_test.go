package arbitration_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// An arbiter decides on one topic for the challenger, with a confidence of 80, and lowers its score by 0.8 of 10.
func Example() {
	ctx := context.Background()
	d, err := debate.New(ctx, debate.Config{
		Topic: "A shop for used bicycles",
		Protocol: arbitration.Protocol{
			Topics: []arbitration.Topic{{
				Name: "market", Question: "Are there enough buyers?", Category: "market",
				Advocate: "There are enough buyers.", Challenger: "There are too few buyers.",
			}},
			Scores: map[string]float64{"market": 7},
		},
		Participants: []debate.Participant{{Name: "Ada", Role: "advocate", Provider: "ada"}, {Name: "Bo", Role: "challenger", Provider: "bo"}},
		Judges:       []debate.Participant{{Name: "Cy", Provider: "cy"}},
	}, debate.Options{Providers: map[string]providers.Provider{ // scripted models stand for real ones
		"ada": scripted.Text(`{"arguments": [{"claim": "Students buy used bicycles.", "reasoning": "They have little money.", "evidence": "A survey."}]}`),
		"bo":  scripted.Text(`{"arguments": [{"claim": "Students buy online.", "reasoning": "It is cheaper.", "evidence": "The same survey."}]}`),
		"cy":  scripted.Text(`{"reasoning": "The survey supports Bo.", "key_points": [], "winner": "challenger", "confidence": 80}`),
	}})
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range d.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
	}
	res, err := d.Result(ctx)
	if err != nil {
		log.Fatal(err)
	}
	result, err := arbitration.DecodeAnswer(res.Answer)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range result.Scores {
		fmt.Println(s.Category, s.Before, "->", s.After)
	}
	// Output:
	// market 7 -> 6.2
}
