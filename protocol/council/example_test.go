package council_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// Three members answer and rank one another's answers. The chair fails, so the best-ranked answer stands in.
func Example() {
	ctx := context.Background()
	ranking := func(first, second string) string {
		return fmt.Sprintf(`{"comparison": "Both are brief.", "ranking": [{"name": %q, "reason": "It is complete."}, {"name": %q, "reason": "It lacks a test."}]}`, first, second)
	}
	d, err := debate.New(ctx, debate.Config{
		Topic:    "How should a small team back up its database?",
		Protocol: council.Protocol{},
		Participants: []debate.Participant{
			{Name: "Ada", Provider: "ada"}, {Name: "Bo", Provider: "bo"}, {Name: "Cy", Provider: "cy"},
		},
		Judges: []debate.Participant{{Name: "Chair", Provider: "chair"}},
	}, debate.Options{Providers: map[string]providers.Provider{ // scripted models stand for real ones
		"ada":   scripted.Text("Copy the files each night.", ranking("Bo", "Cy")),
		"bo":    scripted.Text("Stream the log to another machine, and restore it each week.", ranking("Cy", "Ada")),
		"cy":    scripted.Text("Rent a managed database.", ranking("Bo", "Ada")),
		"chair": scripted.Text("I would rather not.", "No."),
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
	answer, err := council.DecodeAnswer(res.Answer)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("stand-in:", answer.StandIn, answer.By)
	fmt.Println(res.Answer.Text)
	// Output:
	// stand-in: true Bo
	// The chair gave no valid answer. The best-ranked answer, that of Bo, stands in.
	//
	// Stream the log to another machine, and restore it each week.
	//
	// Ranks of the answers, with scores from 0 to 1:
	// 1. Bo: 1
	// 2. Cy: 0.5
	// 3. Ada: 0
}
