package panel_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

const scores = `[{"criterion": "logical_consistency", "score": 7}, {"criterion": "evidence", "score": 6},
	{"criterion": "engagement", "score": 8}, {"criterion": "novelty", "score": 7}, {"criterion": "persuasiveness", "score": 7},
	{"criterion": "relevance", "score": 9}]`

// Two participants speak, the judge assesses the round and ends the debate, and then gives its verdict.
func Example() {
	ctx := context.Background()
	d, err := debate.New(ctx, debate.Config{
		Topic:        "Should cities ban private cars?",
		Protocol:     panel.Protocol{Format: panel.ConvergenceSeeking},
		Participants: []debate.Participant{{Name: "Ada", Provider: "ada"}, {Name: "Bo", Provider: "bo"}},
		Judges:       []debate.Participant{{Name: "Cy", Provider: "cy"}},
	}, debate.Options{Providers: map[string]providers.Provider{ // scripted models stand for real ones
		"ada": scripted.Text("Yes, but not for those who work at night."),
		"bo":  scripted.Text("With that exception, yes."),
		"cy": scripted.Text(`{"should_continue": false, "converged": true, "quality": 8, "reasoning": "Both want the same.",
			"participants": [{"name": "Ada", "criteria": `+scores+`}, {"name": "Bo", "criteria": `+scores+`}]}`,
			`{"summary": "Ban cars, with an exception for night workers.", "quality": 80}`),
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
	joint, err := panel.DecodeAnswer(res.Answer)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Ending.Outcome)
	fmt.Println(joint.Value.Summary)
	// Output:
	// converged
	// Ban cars, with an exception for night workers.
}
