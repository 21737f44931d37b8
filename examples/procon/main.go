// Procon runs a debate for and against a claim. The judge gives one judgment at the end.
//
//	go run ./examples/procon -for gpt-4.1 -against gpt-4.1-mini "Cities should ban private cars"
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a service, and -for and -against to choose a different
// model of that service for each participant. If no key or host is set, the example uses an offline demo model.
package main

import (
	"context"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	pro := p.Flags.String("for", "", "`model` of the participant who argues for the claim")
	con := p.Flags.String("against", "", "`model` of the participant who argues against the claim")
	rounds := p.Flags.Int("rounds", 3, "maximum number of rounds")
	claim, err := p.Topic("Cities should ban private cars")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	result, err := p.Debate(ctx, debate.Config{
		Topic:    claim,
		Protocol: procon.Protocol{},
		Participants: []debate.Participant{
			{Name: "Ada", Position: "Yes: " + claim, Model: *pro},
			{Name: "Bo", Position: "No, I disagree with this claim: " + claim, Model: *con},
		},
		Judges: []debate.Participant{{Name: "Judge"}},
		Limits: debate.Limits{MaxRounds: *rounds}, // the other limits have the protocol's defaults
	}, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	j, err := procon.DecodeAnswer(result.Answer)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s\n\n%s\n\n", claim, j.Summary)
	for _, s := range j.Participants {
		fmt.Fprintf(p.Stdout, "%-10s %4.1f of 10\n", s.Name, s.Score)
	}
	if j.Winner != "" {
		fmt.Fprintln(p.Stdout, "winner:", j.Winner)
	}
	return nil
}
