// Skeptic has an answer proposed, attacked and repaired, round by round, until the skeptic finds nothing critical.
//
//	go run ./examples/skeptic "How should we move our data to another database?"
//
// Before the first round ways of reasoning are looked up for the topic, in the library's own collection. The model is the
// first that the environment has a key or a host for; without one a script speaks.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/internal/console"
	"github.com/elenchus-go/debate/examples/internal/offline"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	ready := p.Flags.Float64("ready", 8, "the score, of 10, from which on the skeptic's word ends the debate")
	topic, err := p.Topic("How should we move our data to another database?")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	result, err := p.Debate(ctx, debate.Config{
		Topic:        topic,
		Protocol:     skeptic.Protocol{ReadyScore: *ready},
		Participants: []debate.Participant{{Name: "Ada", Role: "proposer"}, {Name: "Bo", Role: "skeptic"}},
		Judges:       []debate.Participant{{Name: "Synthesizer"}},
		// Without its templates the debate goes on all the same.
		OnRetrievalFailure: debate.Continue,
	}, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	return printResult(p, result)
}

// printResult prints the answer, and what the trace says of how it came to be.
func printResult(p *console.Program, r *debate.Result) error {
	var t skeptic.Trace
	if err := json.Unmarshal(r.Answer.Data, &t); err != nil {
		return fmt.Errorf("read the trace: %w", err)
	}
	fmt.Fprintf(p.Stdout, "%s\n\n%s\n\n", r.Topic, t.Answer)
	fmt.Fprintln(p.Stdout, "reasoning templates:", strings.Join(t.Templates, ", "))
	for _, round := range t.Rounds {
		fmt.Fprintf(p.Stdout, "round %d:", round.Round)
		if round.Critique == nil {
			fmt.Fprintln(p.Stdout, " not attacked")
			continue
		}
		for _, issue := range round.Critique.Issues {
			fmt.Fprintf(p.Stdout, " [%s] %s", issue.Severity, issue.Text)
		}
		fmt.Fprintln(p.Stdout)
	}
	how := "by the limits"
	if t.StoppedEarly {
		how = "early: " + r.Ending.Evidence
	}
	fmt.Fprintf(p.Stdout, "ended %s\ntook %s\n", how, t.Timing.Total.Round(time.Millisecond))
	return nil
}
