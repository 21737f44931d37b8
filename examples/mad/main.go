// Mad runs a multi-agent debate: one model answers a question, another must disagree, and a moderator may end the debate
// after each round. Otherwise the moderator lists the candidate answers and decides.
//
//	go run ./examples/mad -affirmative gpt-4.1 -negative gpt-4.1-mini "Is 2027 a prime number?"
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a service, and -affirmative, -negative and -judge to choose
// models of that service. If no key or host is set, the example uses an offline demo model.
package main

import (
	"context"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	affirmative := p.Flags.String("affirmative", "", "`model` of the side that answers first")
	negative := p.Flags.String("negative", "", "`model` of the side that disagrees")
	judge := p.Flags.String("judge", "", "`model` of the moderator and judge")
	rounds := p.Flags.Int("rounds", 3, "maximum number of rounds")
	topic, err := p.Topic("Is 2027 a prime number?")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	result, err := p.Debate(ctx, debate.Config{
		Topic:    topic,
		Protocol: mad.Protocol{},
		Participants: []debate.Participant{
			{Name: "Ada", Role: mad.Affirmative, Model: *affirmative}, {Name: "Bo", Role: mad.Negative, Model: *negative},
		},
		Judges: []debate.Participant{{Name: "Judge", Model: *judge}},
		Limits: debate.Limits{MaxRounds: *rounds}, // the temperatures have the protocol's default, 0
	}, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s\nended in round %d: %s\n\n%s\n", topic, result.Round, result.Ending.Outcome, result.Answer.Text)
	return nil
}
