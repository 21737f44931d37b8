package mad_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// One side answers, the other disagrees, and the moderator ends the debate after the second round.
func Example() {
	ctx := context.Background()
	d, err := debate.New(ctx, debate.Config{
		Topic:    "A bat and a ball cost 1.10 together. The bat costs 1 more than the ball. What does the ball cost?",
		Protocol: mad.Protocol{},
		Participants: []debate.Participant{
			{Name: "Ada", Role: mad.Affirmative, Provider: "ada"}, {Name: "Bo", Role: mad.Negative, Provider: "bo"},
		},
		Judges: []debate.Participant{{Name: "Judge", Provider: "judge"}},
	}, debate.Options{Providers: map[string]providers.Provider{ // scripted models stand for real ones
		"ada": scripted.Text("10 cents: 1.10 less 1.", "You are right: the bat would cost 1.10."),
		"bo":  scripted.Text("With 10 cents, the bat costs 90 cents more. The ball costs 5 cents.", "The ball costs 5 cents."),
		"judge": scripted.Text(`{"reasoning": "Ada has not answered yet.", "preference": false}`,
			`{"reasoning": "Ada agrees, and 1.05 is 1 more than 0.05.", "preference": true, "supported": "Bo", "answer": "5 cents"}`),
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
	fmt.Println(res.Ending.Outcome, res.Round)
	fmt.Println(res.Answer.Text)
	// Output:
	// judge_decided 2
	// 5 cents
	//
	// Ada agrees, and 1.05 is 1 more than 0.05.
	//
	// The moderator decided after round 2 for the answer of Bo.
}
