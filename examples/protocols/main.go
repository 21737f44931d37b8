// Protocols holds a debate in one of the ways of the library, and prints what the answer of its protocol has. There is a file for
// each protocol; the protocol of reviews has a program of its own, examples/review.
//
//	go run ./examples/protocols
//	go run ./examples/protocols -protocol vote "Is 2027 a prime number? Answer yes or no."
//	go run ./examples/protocols -protocol panel-oxford -rounds 2 "Cities should ban private cars"
//	go run ./examples/protocols -protocol council -models gpt-4.1,gpt-4.1-mini,o4-mini,gpt-4o -judge gpt-4.1 "How should a small team back up its database?"
//	go run ./examples/protocols -list
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a service, and -models and -judge to choose models of that service.
// If no key or host is set, the example uses an offline demo model. docs/choose.md says which protocol fits which question.
package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

var kinds = map[string]kind{
	"panel":                   freePanel,
	"panel-structured-rounds": structuredPanel,
	"panel-convergence":       convergingPanel,
	"panel-oxford":            oxfordPanel,
	"skeptic":                 skepticism,
	"refine":                  refinement,
	"arbitration":             arbitrated,
	"procon":                  proAndCon,
	"vote":                    majorityVote,
	"vote-ring":               ringVote,
	"vote-reconcile":          reconcileVote,
	"vote-s2-mad":             groupVote,
	"vote-self-consistency":   sampledVote,
	"council":                 councilOfFour,
	"mad":                     disagreement,
	"oversight":               overseen,
	"oversight-consultancy":   consulted,
}

func run(ctx context.Context, p *console.Program) error {
	name := p.Flags.String("protocol", "panel", "`name` of a protocol or of a variant; see -list")
	models := p.Flags.String("models", "", "`models` of the participants in turn, with commas between them")
	judge := p.Flags.String("judge", "", "`model` of the judge")
	rounds := p.Flags.Int("rounds", 0, "largest `number` of rounds (default: that of the example)")
	list := p.Flags.Bool("list", false, "list the protocols and variants")
	topic, err := p.Topic("")
	if err != nil {
		return err
	}
	if *list {
		for _, name := range slices.Sorted(maps.Keys(kinds)) {
			fmt.Fprintf(p.Stdout, "%-24s %s\n", name, kinds[name].about)
		}
		return nil
	}
	k, known := kinds[*name]
	if !known {
		return fmt.Errorf("-protocol: %q is unknown, use one of %s", *name, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	result, err := p.Debate(ctx, k.configure(topic, strings.Split(*models, ","), *judge, *rounds), debate.Options{
		Providers: map[string]providers.Provider{"model": model},
		Documents: func(context.Context, string, map[string]string, evidence.Document) (string, error) {
			return k.text, nil
		},
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s\nended in round %d: %s\n\n", result.Topic, result.Round, result.Ending.Outcome)
	return k.show(p.Stdout, result)
}
