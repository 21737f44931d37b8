package procon_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// Two debaters with opposite positions speak in turn, and a judge scores both at the end.
func Example() {
	ctx := context.Background()
	d, err := debate.New(ctx, debate.Config{
		Topic:    "Should cities ban private cars?",
		Protocol: procon.Protocol{},
		Participants: []debate.Participant{
			{Name: "Ada", Position: "Yes, cities should ban cars", Provider: "ada"},
			{Name: "Bo", Position: "No, they should not", Provider: "bo"},
		},
		Judges: []debate.Participant{{Name: "Cy", Provider: "cy"}},
		Limits: debate.Limits{MaxRounds: 2},
	}, debate.Options{Providers: map[string]providers.Provider{ // scripted models stand for real ones
		"ada": scripted.Text("Cars take the space that people need.", "Space is for people."),
		"bo":  scripted.Text("Many people have no other way to get to work.", "A ban would hit the poor."),
		"cy": scripted.Text(`{"summary": "Bo answered Ada's point, and Ada did not answer his.", "no_new_arguments": false,
			"participants": [{"name": "Ada", "score": 6}, {"name": "Bo", "score": 8}], "winner": "Bo"}`),
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
	judgment, err := procon.DecodeAnswer(res.Answer)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(judgment.Winner, "wins")
	fmt.Println(res.Answer.Text)
	// Output:
	// Bo wins
	// Bo answered Ada's point, and Ada did not answer his.
	// Ada: 6 of 10
	// Bo: 8 of 10
	// Winner: Bo
}
