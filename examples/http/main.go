// Http is a web service that runs debates. Clients can follow a debate live.
//
//	go run ./examples/http
//	curl localhost:8080/debates -d '{"id": "cars", "topic": "Should cities ban private cars?",
//	  "participants": [{"name": "Ada"}, {"name": "Bo"}], "judges": [{"name": "Judge"}]}'
//	curl -N localhost:8080/debates/cars/events
//	curl localhost:8080/debates/cars
//
// A person may speak for a participant or a judge with "human": true. The service lists what it asks, and takes replies:
//
//	curl localhost:8080/debates/cars/waiting
//	curl localhost:8080/debates/cars/replies -d '{"key": {"run": 1, ...}, "text": "No.", "by": "Ada"}'
//	curl -N localhost:8080/debates/cars/events?as=Ada
//
// A debate continues when its viewers disconnect. A viewer that reconnects with Last-Event-ID receives the events that it
// missed; a browser's EventSource does this automatically. Close the EventSource at the event "ended".
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model. If none is set, the example uses an offline
// demo model. Ctrl-C stops the service after the calls in flight.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	address := p.Flags.String("listen", "127.0.0.1:8080", "`address` to listen on; everyone who can reach it can run debates at your expense")
	grace := p.Flags.Duration("grace", time.Minute, "time that calls in flight may take when the service stops")
	if _, err := p.Topic(""); err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(true))
	if err != nil {
		return err
	}
	engine, err := debate.NewEngine(debate.Options{
		Providers: map[string]providers.Provider{"model": model},
		Store:     store.Memory(), // use store/sqlite or store/postgres to keep debates when the process ends
	})
	if err != nil {
		return err
	}
	if err := resumeDebates(ctx, engine); err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", *address)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stderr, "listening on http://%s\n", l.Addr())
	return serve(ctx, l, server{engine: engine, keepAlive: 15 * time.Second}, *grace)
}

// resumeDebates continues the debates that an earlier process did not complete.
func resumeDebates(ctx context.Context, engine *debate.Engine) error {
	for head, err := range engine.List(ctx, store.Query{States: fsm.Active()}) {
		if err != nil {
			return err
		}
		d, err := engine.Open(ctx, head.ID)
		if err == nil {
			err = d.Start(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// serve handles requests until ctx ends. Then it accepts no new debates and waits at most grace for calls in flight.
// Closing the engine ends the streams of all viewers.
func serve(ctx context.Context, l net.Listener, s server, grace time.Duration) error {
	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	closed := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		err := s.engine.Close(late)
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		closed <- errors.Join(err, web.Shutdown(end), web.Close())
	})
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-closed
}
