// Skeptic runs a debate between a proposer and a skeptic. The proposer revises its answer until the skeptic finds no
// critical issue.
//
//	go run ./examples/skeptic "How should we move our data to another database?"
//
// Before the first round, the example retrieves reasoning templates for the topic from the library's own collection. Set
// OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model. If none is set, the example uses an offline demo
// model.
package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	ready := p.Flags.Float64("ready", 8, "lowest score (0 to 10) at which the skeptic can end the debate")
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
		// If the retrieval fails, continue without templates.
		OnRetrievalFailure: debate.Continue,
	}, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	return printResult(p, result)
}

// printResult prints the answer, and from the trace the templates, the issues of each round and the reason for the end.
func printResult(p *console.Program, r *debate.Result) error {
	t, err := skeptic.DecodeAnswer(r.Answer)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s\n\n%s\n\n", r.Topic, t.Answer)
	fmt.Fprintln(p.Stdout, "reasoning templates:", strings.Join(t.Templates, ", "))
	for _, round := range t.Rounds {
		fmt.Fprintf(p.Stdout, "round %d:", round.Round)
		if round.Critique == nil {
			fmt.Fprintln(p.Stdout, " no critique")
			continue
		}
		for _, issue := range round.Critique.Issues {
			fmt.Fprintf(p.Stdout, " [%s] %s", issue.Severity, issue.Text)
		}
		fmt.Fprintln(p.Stdout)
	}
	how := "at a limit"
	if t.StoppedEarly {
		how = "early: " + r.Ending.Evidence
	}
	fmt.Fprintf(p.Stdout, "ended %s\nduration: %s\n", how, t.Timing.Total.Round(time.Millisecond))
	return nil
}
