package eval_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
)

// A vote of three with a revision, against one answer of the same model, and against as many answers as the vote costs.
func Example() {
	tasks, err := eval.Format{}.Read(strings.NewReader(strings.Repeat(`{"topic": "Q1: is it 0 or 1?", "gold": 1}`+"\n", 40)))
	if err != nil {
		log.Fatal(err)
	}
	for i := range tasks {
		tasks[i].Topic = fmt.Sprintf("Q%d: is it 0 or 1?", i+1)
	}
	single, err := eval.Template(eval.Samples(debate.Participant{Name: "Ann"}, 1))
	if err != nil {
		log.Fatal(err)
	}
	debaters, err := eval.Template(debate.Config{
		Protocol:     vote.Protocol{Extract: "{{extract}}"},
		Participants: []debate.Participant{{Name: "Ann"}, {Name: "Ben"}, {Name: "Cem"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	e := eval.Evaluation{Name: "first", Tasks: tasks, Arms: []eval.Arm{{Name: "single", Config: single}, {Name: "debate", Config: debaters}}}
	report, err := e.Run(context.Background(), debate.Options{
		Providers: map[string]providers.Provider{"m": &simulated{accuracy: 0.3}}, // a simulated model, which is right three times out of ten
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, arm := range report.Arms {
		fmt.Println(arm.Name, arm.Runs, arm.Calls)
	}
	fmt.Println(len(report.Summary), "comparisons")
	// Output:
	// single 40 1
	// debate 40 6
	// single@debate 40 6
	// 2 comparisons
}

// An arm can be a function. This control has one model argue both sides in one call, and then decide.
func ExampleArm() {
	both := eval.Arm{Name: "both-sides", Config: func(t eval.Task) debate.Config {
		c := eval.Samples(debate.Participant{
			Name:         "Ann",
			Instructions: "Give the strongest argument for each possible answer, one after another. Then say which argument is right, and decide.",
		}, 1)
		c.Topic, c.Protocol = t.Question(), vote.Protocol{Samples: 1, Extract: "letter"}
		return c
	}}
	c := both.Config(eval.Task{ID: "1", Topic: "Which?", Choices: []string{"red", "blue"}, Gold: []string{"A"}})
	fmt.Println(c.Topic)
	// Output:
	// Which?
	//
	// A. red
	// B. blue
}
