// Inspector serves web pages on which you can watch and control debates, and speak in one of them.
//
//	go run ./examples/inspector
//
// Open http://127.0.0.1:8080 in a browser. The example starts two debates about a topic: one between models, and one in
// which you speak for Bo. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model. If none is set, the
// example uses an offline demo model. Ctrl-C stops the service. docs/serving.md explains the pages.
package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/debatehttp"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/inspector"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	address := p.Flags.String("listen", "127.0.0.1:8080", "`address` to listen on; everyone who can reach it can control the debates")
	topic, err := p.Topic("Should cities ban private cars?")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(true))
	if err != nil {
		return err
	}
	engine, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	for _, human := range []bool{false, true} {
		_, err := engine.Launch(ctx, debate.Config{
			Topic: topic, Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against", Human: human}},
			Judges: []debate.Participant{{Name: "Judge"}}, Labels: map[string]string{"example": "inspector"},
		})
		if err != nil {
			return err
		}
	}
	handler, err := inspector.Handler(engine, inspector.Options{Authorize: debatehttp.AllowEveryone, Controls: true})
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", *address)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "listening on http://%s\n", l.Addr())
	return debatehttp.Serve(ctx, l, engine, handler, 10*time.Second)
}
