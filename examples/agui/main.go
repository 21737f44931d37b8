// Agui is a web service for user interfaces that speak AG-UI, such as CopilotKit: each run is a debate about the last
// message, and the answer is its last message. The messages before it are the background.
//
//	go run ./examples/agui
//	curl -N localhost:8080/agui -d '{"threadId": "cars", "runId": "1", "messages": [{"role": "user", "content": "Ban cars?"}]}'
//
// The id of the debate is derived from those of the thread and the run, so a request that is repeated follows the same
// debate. It is in the shared state. The service also has all routes of package debatehttp, by which a user can control the
// debate:
//
//	curl -X POST localhost:8080/debates/agui-e3b0.../stop
//
// With -origin, pages of another site may use the service. With -stop-on-cancel, a user who aborts a run cancels its debate.
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model. If none is set, the example uses an offline
// demo model.
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
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	address := p.Flags.String("listen", "127.0.0.1:8080", "`address` to listen on; everyone who can reach it can run debates at your expense")
	origin := p.Flags.String("origin", "", "`site` whose pages may use the service, such as http://localhost:3000")
	stop := p.Flags.Bool("stop-on-cancel", false, "cancel a debate when its viewer leaves")
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
	var origins []string
	if *origin != "" {
		origins = append(origins, *origin)
	}
	handler, err := newHandler(&agent{engine: engine, stopOnCancel: *stop}, origins...)
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

// newHandler returns a handler for AG-UI beside the routes of package debatehttp, for pages of its own and of some origins.
func newHandler(a *agent, origins ...string) (http.Handler, error) {
	debates, err := debatehttp.New(a.engine, debatehttp.Options{Authorize: debatehttp.AllowEveryone, TrustedOrigins: origins})
	if err != nil {
		return nil, err
	}
	runs, err := debatehttp.CrossOrigin(a, origins...)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", debates)
	mux.Handle("POST /agui", runs)
	mux.Handle("OPTIONS /agui", runs) // what browsers ask before they send a run from another site
	return debatehttp.CheckHost(mux), nil
}
