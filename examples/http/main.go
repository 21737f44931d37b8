// Http is a web service that runs debates. Clients can follow a debate live.
//
//	go run ./examples/http
//	curl localhost:8080/debates -d '{"id": "cars", "topic": "Should cities ban private cars?",
//	  "participants": [{"name": "Ada"}, {"name": "Bo"}], "judges": [{"name": "Judge"}]}'
//	curl -N localhost:8080/debates/cars/events
//	curl localhost:8080/debates/cars/result
//	curl localhost:8080/openapi.json
//
// A person may speak for a participant or a judge with "human": true. The service lists what it asks, and takes answers:
//
//	curl localhost:8080/debates/cars/waiting
//	curl localhost:8080/debates/cars/answers -d '{"key": {"run": 1, ...}, "text": "No."}'
//	curl -N localhost:8080/debates/cars/events?seat=Ada
//
// Any OpenAI client can ask the model "debate":
//
//	curl localhost:8080/v1/chat/completions -d '{"model": "debate", "messages": [{"role": "user", "content": "Ban cars?"}]}'
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model. If none is set, the example uses an offline
// demo model. Ctrl-C stops the service after the calls in flight. docs/serving.md explains the service.
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
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

var presets = map[string]debate.Config{"debate": {Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}}, Judges: []debate.Participant{{Name: "Judge"}}}}

func run(ctx context.Context, p *console.Program) error {
	address := p.Flags.String("listen", "127.0.0.1:8080", "`address` to listen on; everyone who can reach it can run debates at your expense")
	if _, err := p.Topic(""); err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(true))
	if err != nil {
		return err
	}
	engine, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"model": model}}) // with a Store, also call engine.Recover
	if err != nil {
		return err
	}
	handler, err := debatehttp.New(engine, debatehttp.Options{Authorize: debatehttp.AllowEveryone, Presets: presets})
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", *address)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stderr, "listening on http://%s\n", l.Addr())
	return debatehttp.Serve(ctx, l, engine, handler, time.Minute)
}
