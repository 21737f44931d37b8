// Arbitration debates the scores of an evaluation, one topic in each round. The arbiter's rulings change the scores.
//
//	go run ./examples/arbitration > transcript.md
//
// The evaluation is fictional. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model. If none is set,
// the example uses an offline demo model.
package main

import (
	"context"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

// evaluation is the evaluation whose scores are debated.
var evaluation = arbitration.Protocol{
	Evidence: []string{
		"Nine of twelve clinics that we surveyed plan shifts on paper.",
		"One clinic used a first version for six weeks.",
		"Two competitors sell to hospitals, but none sells to clinics.",
	},
	Scores:        map[string]float64{"problem": 7, "solution": 6, "market": 5, "team": 8},
	Challenges:    []string{"No customer has paid yet."},
	MaxAdjustment: 2, // a ruling with confidence 100 changes a score by 2 of 10 points
}

func run(ctx context.Context, p *console.Program) error {
	topic, err := p.Topic("Should we fund the shift planner for clinics?")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	result, err := p.Debate(ctx, debate.Config{
		Topic:        topic,
		Protocol:     evaluation,
		Participants: []debate.Participant{{Name: "Ada", Role: arbitration.Advocate}, {Name: "Bo", Role: arbitration.Challenger}},
		Judges:       []debate.Participant{{Name: "Arbiter"}},
	}, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	came, err := arbitration.DecodeAnswer(result.Answer)
	if err != nil {
		return err
	}
	for _, a := range came.Topics {
		fmt.Fprintf(p.Stderr, "%s: %s, %s %+.2f\n", a.Topic, a.Ruling.Winner, a.Category, a.Delta)
	}
	fmt.Fprintf(p.Stdout, "# %s\n\n%s", topic, result.Answer.Text)
	return nil
}
