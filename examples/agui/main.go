// Agui is a web service for user interfaces that speak AG-UI, such as CopilotKit: each run is a debate about the last
// message.
//
//	go run ./examples/agui
//	curl -N localhost:8080/agui -d '{"threadId": "cars", "runId": "1", "messages": [{"role": "user", "content": "Ban cars?"}]}'
//
// The id of the debate is the one of the thread and the run, so a request that is repeated follows the same debate. The
// service also has all routes of package debatehttp, by which a user can control the debate:
//
//	curl -X POST localhost:8080/debates/cars.1/stop
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model. If none is set, the example uses an offline
// demo model.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/debatehttp"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	address := p.Flags.String("listen", "127.0.0.1:8080", "`address` to listen on; everyone who can reach it can run debates at your expense")
	if _, err := p.Topic(""); err != nil {
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
	handler, err := newHandler(engine)
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

// newHandler returns a handler for AG-UI beside the routes of package debatehttp.
func newHandler(engine *debate.Engine) (http.Handler, error) {
	debates, err := debatehttp.New(engine, debatehttp.Options{Authorize: debatehttp.AllowEveryone})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", debates)
	mux.Handle("POST /agui", http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := agent(engine, w, r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})))
	return debatehttp.CheckHost(mux), nil
}

// agent launches a debate and streams its events as those of AG-UI. It returns an error before the stream begins.
func agent(engine *debate.Engine, w http.ResponseWriter, r *http.Request) error {
	var in input
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in); err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	if len(in.Messages) == 0 {
		return errors.New("read run: it has no message")
	}
	d, err := launch(r.Context(), engine, in)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	for e := range translate(in, d.Watch(r.Context(), 0)) {
		b, err := json.Marshal(e)
		if err != nil {
			return nil
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", b); err != nil || http.NewResponseController(w).Flush() != nil {
			return nil // the viewer has left; the debate goes on
		}
	}
	return nil
}

// launch launches the debate of a run, or opens it if the run is repeated.
func launch(ctx context.Context, engine *debate.Engine, in input) (*debate.Debate, error) {
	d, err := engine.Launch(context.WithoutCancel(ctx), debate.Config{
		ID: in.ThreadID + "." + in.RunID, Topic: in.Messages[len(in.Messages)-1].Content,
		Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}}, Judges: []debate.Participant{{Name: "Judge"}},
		Limits: debate.Limits{MaxRounds: 2},
	})
	if _, taken := errors.AsType[*store.Conflict](err); taken {
		return engine.Open(ctx, in.ThreadID+"."+in.RunID)
	}
	return d, err
}
