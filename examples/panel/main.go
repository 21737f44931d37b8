// Panel runs a debate before a judge in one of four formats. A model assigns the personas.
//
//	go run ./examples/panel -format structured-rounds "Should cities ban private cars?"
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
	format := p.Flags.String("format", string(panel.FreeForm), "free-form, structured-rounds, round-limited or convergence-seeking")
	mode := p.Flags.String("mode", string(panel.Sequential), "sequential, or simultaneous: all participants speak at the same time")
	style := p.Flags.String("personas", string(panel.Binary), "binary, spectrum or multi-perspective; empty for no personas")
	rounds := p.Flags.Int("rounds", 3, "maximum number of rounds")
	topic, err := p.Topic("Should cities ban private cars?")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	result, err := p.Debate(ctx, debate.Config{
		Topic:        topic,
		Protocol:     panel.Protocol{Format: panel.Format(*format), Mode: panel.Mode(*mode), Personas: panel.PersonaStyle(*style)},
		Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
		Limits:       debate.Limits{MaxRounds: *rounds},
	}, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s\nended in round %d: %s\n\n%s\n", topic, result.Round, result.Ending.Outcome, result.Answer.Text)
	return nil
}
