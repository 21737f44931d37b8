// Decision lets two models argue about a refund case and a third one decide it, with a percentage that a program can act on.
//
//	go run ./examples/integrations/decision -store refunds.db -case examples/integrations/decision/case.txt
//
// The debate is stored in SQLite. Kill the program at any point and start it again: it continues where it was, and asks for
// no reply twice. If the case is decided, it prints the decision again.
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a service, and -customer, -shop and -judge to choose a
// different model of that service for each actor. If no key or host is set, the example uses an offline demo model.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/sqlite"
)

//go:embed case.txt
var usualCase string

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) (err error) {
	path := p.Flags.String("store", "refunds.db", "SQLite `file`")
	file := p.Flags.String("case", "", "text `file` with the case; empty for an example")
	customer := p.Flags.String("customer", "", "`model` that speaks for the customer")
	shop := p.Flags.String("shop", "", "`model` that speaks for the shop")
	decides := p.Flags.String("judge", "", "`model` that decides")
	order, err := p.Topic("Order 4711")
	if err != nil {
		return err
	}
	text := []byte(usualCase)
	if *file != "" {
		text, err = os.ReadFile(*file)
		if err != nil {
			return err
		}
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	stored, err := sqlite.Open(*path) //nolint:contextcheck // it takes none
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	engine, err := debate.NewEngine(debate.Options{
		Providers: map[string]providers.Provider{"model": model}, Store: stored, Contracts: []*reply.Contract{contract},
	})
	if err != nil {
		return err
	}
	defer func() { _ = engine.Close(context.WithoutCancel(ctx)) }()
	config := refundCase(order, string(text), *customer, *shop, *decides)
	d, err := engine.Open(ctx, config.ID)
	if errors.Is(err, store.ErrNotFound) {
		d, err = engine.Create(ctx, config)
	}
	if err != nil {
		return err
	}
	for event, err := range d.Run(ctx) {
		if err != nil {
			return err
		}
		if turn, ok := event.(debate.TurnDone); ok {
			fmt.Fprintf(p.Stderr, "round %d, %s: %s\n", turn.Turn.Round, turn.Turn.Phase, turn.Turn.Actor)
		}
	}
	result, err := d.Result(ctx)
	if err != nil {
		return err
	}
	var j decision.Joint[Refund]
	if err := result.Answer.Decode(decision.Type, &j); err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s: refund %d %%, with a confidence of %.0f %%\n\n%s\n", order, j.Value.Percent, j.Value.Confidence, j.Value.Letter)
	fmt.Fprintf(p.Stdout, "\nscores of the arguments: %s; tokens: %d\n", cmp.Or(j.Scores.String(), "none"), result.Total.Usage.Input+result.Total.Usage.Output)
	return nil
}

// refundCase returns the debate about an order.
func refundCase(order, text, customer, shop, decides string) debate.Config {
	return debate.Config{
		ID: fmt.Sprintf("refund-%x", sha256.Sum256([]byte(order+"\n"+text)))[:39], Topic: order + ": how much of the price does the shop refund?", Background: text,
		Protocol: panel.Protocol{Format: panel.StructuredRounds, Decision: decision.Task{Contract: contract.Name()}},
		Participants: []debate.Participant{
			{Name: "Ada", Role: "speaks for the customer", Position: "The shop refunds the price.", Model: customer},
			{Name: "Bo", Role: "speaks for the shop", Position: "The shop refunds nothing.", Model: shop},
		},
		Judges: []debate.Participant{{Name: "Cy", Model: decides}},
		Rubric: judge.Rubric{
			{Name: "facts", Weight: 60, Description: "Do the arguments keep to the facts of the case?", Zero: "invented facts", Ten: "each claim can be found in the case"},
			{Name: "terms", Weight: 40, Description: "Do they apply the shop's terms?", Zero: "the terms are ignored", Ten: "the term that decides is applied"},
		},
		Limits: debate.Limits{MaxRounds: 2},
	}
}
