// Arbitration disputes an evaluation topic by topic: the arbiter's rulings move its scores.
//
//	go run ./examples/arbitration > transcript.md
//
// The evaluation is made up. The model is the first that the environment has a key or a host for; without one a script
// speaks.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/internal/console"
	"github.com/elenchus-go/debate/examples/internal/offline"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

// evaluation is what is disputed.
var evaluation = arbitration.Protocol{
	Evidence: []string{
		"Nine of twelve clinics that were asked plan shifts on paper.",
		"A first version was used by one clinic for six weeks.",
		"Two competitors offer the same to hospitals, none to clinics.",
	},
	Scores:        map[string]float64{"problem": 7, "solution": 6, "market": 5, "team": 8},
	Challenges:    []string{"Nobody has paid yet."},
	MaxAdjustment: 2, // of 10: a ruling that is quite sure moves a score by two points
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
	var came arbitration.Result
	if err := json.Unmarshal(result.Answer.Data, &came); err != nil {
		return fmt.Errorf("read the result: %w", err)
	}
	for _, a := range came.Topics {
		fmt.Fprintf(p.Stderr, "%s: %s, %s %+.2f\n", a.Topic, a.Ruling.Winner, a.Category, a.Delta)
	}
	fmt.Fprintf(p.Stdout, "# %s\n\n%s", topic, result.Answer.Text)
	return nil
}
