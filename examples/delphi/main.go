// Delphi runs a debate with its own protocol: experts estimate a number until their estimates are close.
//
//	go run ./examples/delphi "How many bicycles are there in Utrecht?"
//
// The protocol is in protocol.go and its prompts are in estimate.tmpl and summary.tmpl; docs/protocols.md explains them. The model
// is the first for which the environment has a key or a host, or else the offline demo model.
package main

import (
	"context"
	"embed"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
)

//go:embed *.tmpl
var prompts embed.FS

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	topic, err := p.Topic("How many bicycles are there in Utrecht?")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, script{offline.Model(p.IsTerminal)})
	if err != nil {
		return err
	}
	result, err := p.Debate(ctx, config(topic), options(model))
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s\n\n%s\n", topic, result.Outcome.String())
	return nil
}

func config(topic string) debate.Config {
	return debate.Config{
		Topic:        topic,
		Protocol:     delphi,
		Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}},
		Judges:       []debate.Participant{{Name: "Facilitator"}},
	}
}

// options returns what an engine needs for the protocol.
func options(model providers.Provider) debate.Options {
	return debate.Options{
		Providers: map[string]providers.Provider{"model": model},
		Protocols: []protocol.Protocol{delphi}, // so that the engine can read stored debates
		Prompts:   prompts,
		Contracts: []*reply.Contract{contract},
	}
}
