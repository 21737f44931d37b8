// Quickstart runs a debate between two participants before a judge. It writes the progress to stderr and the verdict to
// stdout.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart "Is tea better than coffee?"
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model. If none is set, the example uses an offline
// demo model. Ctrl-C cancels the debate.
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
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report/printer"
	"github.com/elenchus-go/debate/transcript"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// run is like main, but takes what main takes from the process as arguments. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, env func(string) string) int {
	v := printer.SafeWriter{Writer: stderr}
	live := printer.IsTerminal(stderr)
	topic := cmp.Or(strings.TrimSpace(strings.Join(args, " ")), "Should cities ban private cars?")
	if strings.HasPrefix(topic, "-") {
		fmt.Fprintln(v, `usage: quickstart ["topic"]`)
		return 2
	}
	model, err := offline.Choose(env, v, offline.Model(live))
	if err != nil {
		fmt.Fprintln(v, "quickstart:", err)
		return 1
	}
	result, err := runDebate(ctx, topic, model, &printer.Printer{Output: v, Live: live})
	switch {
	case err != nil:
		fmt.Fprintln(v, "\nquickstart:", err)
		return 1
	case result.State == fsm.Canceled:
		fmt.Fprintf(v, "\ncanceled; completed turns: %d\n", result.Total.Turns)
		return 130
	}
	return printResult(printer.SafeWriter{Writer: stdout}, result)
}

// runDebate runs the debate and returns its result. If ctx ends, runDebate cancels the debate and still returns a result.
func runDebate(ctx context.Context, topic string, model providers.Provider, p *printer.Printer) (*debate.Result, error) {
	whole := context.WithoutCancel(ctx)
	d, err := debate.New(whole, debate.Config{
		Topic:        topic,
		Protocol:     panel.Protocol{Format: panel.ConvergenceSeeking},
		Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
		Limits:       debate.Limits{MaxRounds: 3},
	}, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return nil, err // *debate.Problems lists every configuration error
	}
	defer context.AfterFunc(ctx, func() { _ = d.Cancel(whole) })() // fails if the debate has just ended
	for event, err := range d.Run(whole) {
		if err != nil {
			return nil, err
		}
		p.Show(event)
	}
	return d.Result(whole)
}

// printResult prints the verdict and returns the exit code.
func printResult(w io.Writer, r *debate.Result) int {
	fmt.Fprintf(w, "%s\nended in round %d: %s\n", r.Topic, r.Round, r.Ending.Outcome)
	if r.Verdict == nil {
		fmt.Fprintln(w, "the debate has no verdict")
		return 1
	}
	v, err := transcript.Decode[judge.Verdict](*r.Verdict)
	if err != nil {
		fmt.Fprintln(w, "quickstart:", err)
		return 1
	}
	fmt.Fprintf(w, "winner: %s\n\n%s\n", cmp.Or(v.Winner, "none"), v.Summary)
	for _, p := range v.Participants {
		fmt.Fprintf(w, "\n%s:\n- %s\n", p.Name, strings.Join(p.Points, "\n- "))
	}
	return 0
}
