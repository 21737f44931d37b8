// Quickstart debates a topic: two participants and a judge, round by round on stderr, the verdict on stdout.
//
//	go run ./examples/quickstart "Should cities ban private cars?"
//
// The model is the first that the environment has a key or a host for; without one a script speaks. Ctrl-C cancels the
// debate.
package main

import (
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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// run is main with all that it reads and writes. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, env func(string) string) int {
	v := view{Writer: console.SafeWriter{Writer: stderr}, live: console.IsTerminal(stderr)}
	topic := strings.Join(args, " ")
	if strings.TrimSpace(topic) == "" || strings.HasPrefix(topic, "-") {
		fmt.Fprintln(v, `usage: quickstart "Should cities ban private cars?"`)
		return 2
	}
	model, err := offline.Choose(env, v, offline.Model(v.live))
	if err != nil {
		fmt.Fprintln(v, "quickstart:", err)
		return 1
	}
	result, err := runDebate(ctx, topic, model, v)
	switch {
	case err != nil:
		fmt.Fprintln(v, "\nquickstart:", err)
		return 1
	case result.State == fsm.Canceled:
		fmt.Fprintf(v, "\ncanceled; turns held: %d\n", result.Total.Turns)
		return 130
	}
	return printResult(console.SafeWriter{Writer: stdout}, result)
}

// runDebate runs the debate. When ctx ends it is the debate that is canceled, so that there is a result nevertheless.
func runDebate(ctx context.Context, topic string, model providers.Provider, v view) (*debate.Result, error) {
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
