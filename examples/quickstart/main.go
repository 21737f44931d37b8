// Quickstart debates a topic: two participants and a judge, round by round on stderr, the verdict on stdout.
//
//	go run ./examples/quickstart "Should cities ban private cars?"
//
// The model is the first that the environment has a key or a host for; without one a script speaks. Ctrl-C cancels the
// debate.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/internal/console"
	"github.com/elenchus-go/debate/examples/internal/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/providers/ollama"
	"github.com/elenchus-go/debate/providers/openai"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// run is main with all that it reads and writes. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, env func(string) string) int {
	v := view{Writer: console.Printable{Writer: stderr}, live: console.Watched(stderr)}
	topic := strings.Join(args, " ")
	if strings.TrimSpace(topic) == "" || strings.HasPrefix(topic, "-") {
		fmt.Fprintln(v, `usage: quickstart "Should cities ban private cars?"`)
		return 2
	}
	model, name, err := choose(env, v.live)
	if err != nil {
		fmt.Fprintln(v, "quickstart:", err)
		return 1
	}
	fmt.Fprintln(v, name)
	model = middleware.Wrap(model, middleware.Timeout(middleware.Timeouts{})) // a call that hangs is made again
	result, err := hold(ctx, topic, model, v)
	switch {
	case err != nil:
		fmt.Fprintln(v, "\nquickstart:", err)
		return 1
	case result.State == fsm.Canceled:
		fmt.Fprintf(v, "\ncanceled; turns held: %d\n", result.Total.Turns)
		return 130
	}
	return conclude(console.Printable{Writer: stdout}, result)
}

// hold runs the debate. When ctx ends it is the debate that is canceled, so that there is a result nevertheless.
func hold(ctx context.Context, topic string, model providers.Provider, v view) (*debate.Result, error) {
	whole := context.WithoutCancel(ctx)
	d, err := debate.New(whole, debate.Config{
		Topic:        topic,
		Protocol:     panel.Protocol{Format: panel.ConvergenceSeeking},
		Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
		Limits:       debate.Limits{MaxRounds: 3},
	}, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return nil, err // *debate.Problems lists everything that is wrong
	}
	defer context.AfterFunc(ctx, func() { _ = d.Cancel(whole) })() // fails where the debate has just ended
	for event, err := range d.Run(whole) {
		if err != nil {
			return nil, err
		}
		v.show(event)
	}
	return d.Result(whole)
}

// choose gives the model that the environment names, and says which it is. Without one it is a script, which takes its
// time where somebody watches.
func choose(env func(string) string, live bool) (p providers.Provider, name string, err error) {
	switch {
	case env("OPENAI_API_KEY") != "":
		name = cmp.Or(env("OPENAI_MODEL"), "gpt-4.1-mini")
		p, err = openai.New(openai.Config{Key: env("OPENAI_API_KEY"), BaseURL: env("OPENAI_BASE_URL"), Model: name})
	case env("ANTHROPIC_API_KEY") != "":
		name = cmp.Or(env("ANTHROPIC_MODEL"), "claude-sonnet-4-5")
		p, err = anthropic.New(anthropic.Config{Key: env("ANTHROPIC_API_KEY"), Model: name})
	case env("OLLAMA_HOST") != "":
		name = cmp.Or(env("OLLAMA_MODEL"), "llama3.2")
		p, err = ollama.New(ollama.Config{BaseURL: address(env("OLLAMA_HOST")), Model: name, Window: 16_384})
	default:
		return offline.Model(live), offline.Notice + "; set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST", nil
	}
	return p, "model: " + name, err
}

// address makes a URL of the host that OLLAMA_HOST may be, with or without a port.
func address(host string) string {
	if strings.Contains(host, "://") {
		return host
	}
	if !strings.Contains(host, ":") {
		host += ":11434"
	}
	return "http://" + host
}
