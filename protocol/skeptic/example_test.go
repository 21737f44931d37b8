package skeptic_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// The skeptic accepts the answer in round 1, and the synthesizer writes the final text.
func Example() {
	ctx := context.Background()
	d, err := debate.New(ctx, debate.Config{
		Topic:        "How can we release every day?",
		Protocol:     skeptic.Protocol{Templates: -1}, // no retrieval
		Participants: []debate.Participant{{Name: "Ada", Role: "proposer", Provider: "ada"}, {Name: "Bo", Role: "skeptic", Provider: "bo"}},
		Judges:       []debate.Participant{{Name: "Cy", Provider: "cy"}},
		Limits:       debate.Limits{MinRounds: 1},
	}, debate.Options{Providers: map[string]providers.Provider{ // scripted models stand for real ones
		"ada": scripted.Text("Test every commit and release the newest one that passes."),
		"bo":  scripted.Text(`The answer holds. {"issues": [{"severity": "minor", "text": "It does not say who watches."}], "ready": true, "score": 9}`),
		"cy":  scripted.Text("Release the newest tested commit every day."),
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
	trace, err := skeptic.DecodeAnswer(res.Answer)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Ending.Outcome, "after round", res.Ending.Round, "with score", *trace.Quality.AutomaticScore)
	fmt.Println(trace.Answer)
	// Output:
	// early_stop after round 1 with score 9
	// Release the newest tested commit every day.
}
