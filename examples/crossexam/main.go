// Crossexam runs a debate with its own protocol, a cross-examination. An evasive answer leads to a further question.
//
//	go run ./examples/crossexam -follow-ups 2 "Should cities ban private cars?"
//
// The protocol is in protocol.go and its prompts are in ask.tmpl and answer.tmpl; docs/protocols.md explains how to write one. The model
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
	followUps := p.Flags.Int("follow-ups", 1, "most further questions after evasive answers")
	rounds := p.Flags.Int("rounds", 3, "most rounds; the first is for opening statements")
	topic, err := p.Topic("Should cities ban private cars?")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, script{offline.Model(p.IsTerminal)})
	if err != nil {
		return err
	}
	result, err := p.Debate(ctx, config(topic, *followUps, *rounds), options(model))
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s\n\n%s\n", topic, result.Answer.Text)
	return nil
}

func config(topic string, followUps, rounds int) debate.Config {
	return debate.Config{
		Topic:        topic,
		Protocol:     Cross{FollowUps: followUps},
		Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
		Limits:       debate.Limits{MaxRounds: rounds},
	}
}

// options returns what an engine needs for the protocol.
func options(model providers.Provider) debate.Options {
	return debate.Options{
		Providers: map[string]providers.Provider{"model": model},
		Protocols: []protocol.Protocol{Cross{}}, // so that the engine can read stored debates
		Prompts:   prompts,
		Contracts: []*reply.Contract{answerContract},
	}
}
