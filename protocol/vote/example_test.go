package vote_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// Three agents answer, see the other answers, and answer again. The majority decides.
func Example() {
	ctx := context.Background()
	d, err := debate.New(ctx, debate.Config{
		Topic:    "What is the capital of Australia?",
		Protocol: vote.Protocol{Decision: vote.Majority},
		Participants: []debate.Participant{
			{Name: "Ann", Provider: "ann"}, {Name: "Ben", Provider: "ben"}, {Name: "Cem", Provider: "cem"},
		},
	}, debate.Options{Providers: map[string]providers.Provider{ // scripted models stand for real ones
		"ann": scripted.Text(ballotFor("Sydney", 60), ballotFor("Canberra", 80)),
		"ben": scripted.Text(ballotFor("Canberra", 90), ballotFor("Canberra", 95)),
		"cem": scripted.Text(ballotFor("Sydney", 70), ballotFor("Sydney", 55)),
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
	tally, err := vote.DecodeAnswer(res.Answer)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tally.Answer, "by", tally.Decision)
	fmt.Println(res.Answer.Text)
	// Output:
	// canberra by majority
	// Answer: Canberra (by majority)
	// Canberra: 2 votes, total confidence 175 (Ann, Ben)
	// Sydney: 1 vote, total confidence 55 (Cem)
	// Changed their minds: Ann
}

func ballotFor(answer string, confidence float64) string {
	return fmt.Sprintf(`{"reasoning": "I looked at a map.", "answer": %q, "confidence": %v}`, answer, confidence)
}
