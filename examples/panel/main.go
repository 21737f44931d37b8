// Panel runs a debate before judges in one of five formats. A model assigns the personas.
//
//	go run ./examples/panel -format structured-rounds "Should cities ban private cars?"
//	go run ./examples/panel -format oxford -judges 5 "Cities should ban private cars"
//	go run ./examples/panel -format convergence-seeking -advocate -judges 3 -rotate "Should cities ban private cars?"
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model. If none is set, the example uses an offline
// demo model.
package main

import (
	"context"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	format := p.Flags.String("format", string(panel.FreeForm), "free-form, structured-rounds, round-limited, convergence-seeking or oxford, in which the judges vote")
	mode := p.Flags.String("mode", string(panel.Sequential), "sequential, or simultaneous: all participants speak at the same time")
	style := p.Flags.String("personas", string(panel.Binary), "binary, spectrum or multi-perspective; empty for no personas")
	rounds := p.Flags.Int("rounds", 3, "maximum number of rounds")
	judges := p.Flags.Int("judges", 1, "number of judges")
	rotate := p.Flags.Bool("rotate", false, "let one judge assess each round, in turn")
	advocate := p.Flags.Bool("advocate", false, "let a devil's advocate argue against a consensus")
	topic, err := p.Topic("Should cities ban private cars?")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	config := debate.Config{
		Topic: topic,
		Protocol: panel.Protocol{
			Format: panel.Format(*format), Mode: panel.Mode(*mode), Personas: panel.PersonaStyle(*style), RotateJudges: *rotate, DevilsAdvocate: *advocate,
		},
		Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
		Limits:       debate.Limits{MaxRounds: *rounds},
	}
	for i := 2; i <= *judges; i++ {
		config.Judges = append(config.Judges, debate.Participant{Name: fmt.Sprintf("Judge %d", i)})
	}
	if *format == string(panel.Oxford) {
		config.Participants[0].Side, config.Participants[1].Side = "for", "against"
	}
	result, err := p.Debate(ctx, config, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s\nended in round %d: %s\n\n%s\n", topic, result.Round, result.Ending.Outcome, result.Answer.Text)
	return nil
}
