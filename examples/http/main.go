// Http is a web service that runs debates, with pages on which you can watch and control them and speak in one of them.
//
//	go run ./examples/http
//	curl localhost:8080/debates -d '{"id": "cars", "topic": "Should cities ban private cars?",
//	  "participants": [{"name": "Ada"}, {"name": "Bo", "human": true}], "judges": [{"name": "Judge"}]}'
//	curl -N localhost:8080/debates/cars/events?seat=Bo
//	curl localhost:8080/debates/cars/waiting
//	curl localhost:8080/debates/cars/result
//	curl localhost:8080/openapi.json
//
// Bo is a person: the service lists what it asks, and takes answers with the key that stands there.
//
//	curl localhost:8080/debates/cars/answers -d '{"key": {"run": 1, "round": 1, "phase": "respond", "actor": "Bo"}, "text": "No."}'
//
// Any OpenAI client can ask the model "debate":
//
//	curl localhost:8080/v1/chat/completions -d '{"model": "debate", "messages": [{"role": "user", "content": "Ban cars?"}]}'
//
// The pages are at http://127.0.0.1:8080/inspector/. With a topic, the service begins two debates about it: one between models, and
// one in which you speak for Bo.
//
//	go run ./examples/http "Should cities ban private cars?"
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model. If none is set, the example uses an offline
// demo model. Ctrl-C stops the service after the calls in flight. docs/serving.md explains the service and the pages.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/inspector"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

// presets holds what OpenAI clients can choose as a model.
var presets = map[string]debate.Config{"debate": {
	Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}},
	Judges:       []debate.Participant{{Name: "Judge"}},
	Limits:       debate.Limits{MaxRounds: 2},
}}

func run(ctx context.Context, p *console.Program) error {
	address := p.Flags.String("listen", "127.0.0.1:8080", "`address` to listen on; who reaches it can hold debates at your expense")
	topic, err := p.Topic("")
	if err != nil {
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
	handler, err := newHandler(engine)
	if err != nil {
		return err
	}
	if err := begin(ctx, engine, topic); err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", *address)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stderr, "listening on http://%s\n", l.Addr())
	return debatehttp.Serve(ctx, l, engine, handler, time.Minute)
}

// newHandler returns a handler for the API, and below /inspector/ for the pages.
func newHandler(engine *debate.Engine) (http.Handler, error) {
	api, err := debatehttp.New(engine, debatehttp.Options{Authorize: debatehttp.AllowEveryone, Presets: presets})
	if err != nil {
		return nil, err
	}
	pages, err := inspector.Handler(engine, inspector.Options{Authorize: debatehttp.AllowEveryone, Controls: true})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.Handle("/inspector/", http.StripPrefix("/inspector", pages))
	return mux, nil
}

// begin launches two debates about a topic, if there is one. In the second, a person speaks for Bo.
func begin(ctx context.Context, engine *debate.Engine, topic string) error {
	if topic == "" {
		return nil
	}
	for _, human := range []bool{false, true} {
		_, err := engine.Launch(ctx, debate.Config{
			Topic: topic, Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against", Human: human}},
			Judges: []debate.Participant{{Name: "Judge"}}, Labels: map[string]string{"example": "http"},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
