// Crossexam debates by a protocol of its own: a cross-examination, in which an evasive answer brings a further question.
//
//	go run ./examples/crossexam -follow-ups 2 "Should cities ban private cars?"
//
// The protocol is protocol.go, with its prompts in ask.tmpl and answer.tmpl; docs/protocols.md explains it. The model is
// the first that the environment has a key or a host for; without one a script speaks.
package main

import (
	"context"
	"embed"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/internal/console"
	"github.com/elenchus-go/debate/examples/internal/offline"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
)

//go:embed *.tmpl
var prompts embed.FS

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	followUps := p.Flags.Int("follow-ups", 1, "the most further questions where an answer evades")
	rounds := p.Flags.Int("rounds", 3, "the most rounds, of which the first is for opening statements")
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

// options are all that an engine needs to know of the protocol.
func options(model providers.Provider) debate.Options {
	return debate.Options{
		Providers: map[string]providers.Provider{"model": model},
		Protocols: []protocol.Protocol{Cross{}}, // so that stored debates can be read
		Prompts:   prompts,
		Contracts: []*reply.Contract{answerContract},
	}
}
