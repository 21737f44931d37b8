// Council lets several models answer a question and rank one another's answers under pseudonyms. A chair writes the final
// answer.
//
//	go run ./examples/council -models gpt-4.1,gpt-4.1-mini,o4-mini,gpt-4o -chair gpt-4.1 "How should a small team back up its database?"
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a service, and -models and -chair to choose models of that
// service. If no key or host is set, the example uses an offline demo model.
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	models := p.Flags.String("models", ",,,", "models of the members, separated by commas; an empty name is the default model")
	chair := p.Flags.String("chair", "", "`model` of the chair")
	topic, err := p.Topic("How should a small team back up its database?")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	config := debate.Config{
		Topic:    topic,
		Protocol: council.Protocol{},
		Judges:   []debate.Participant{{Name: "Chair", Model: *chair}},
	}
	for i, name := range strings.Split(*models, ",") {
		config.Participants = append(config.Participants, debate.Participant{Name: fmt.Sprintf("%c%d", 'A'+i%26, i+1), Model: name})
	}
	result, err := p.Debate(ctx, config, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s\n\n%s\n", topic, result.Answer.Text) // the text begins with what is missing
	res, err := council.DecodeAnswer(result.Answer)
	if err != nil {
		return err
	}
	if res.StandIn {
		return fmt.Errorf("the chair failed, and the answer of %s stands in", res.By)
	}
	return nil
}
