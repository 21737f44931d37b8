// Vote lets agents answer a question, read the answers of the others and revise their own. Then it counts the answers.
//
//	go run ./examples/vote -agents 5 -topology ring "Is 2027 a prime number? Answer yes or no."
//
// If all agents agree in round 1, the debate ends. With samples, each agent answers several times, and there is no debate:
//
//	go run ./examples/vote -agents 2 -samples 5 "Is 2027 a prime number? Answer yes or no."
//
// These are variants of the literature; the documentation of package protocol/vote describes them:
//
//	go run ./examples/vote -variant reconcile "Is 2027 a prime number? Answer yes or no."
//	go run ./examples/vote -variant s2-mad -agents 5 "Is 2027 a prime number? Answer yes or no."
//	go run ./examples/vote -variant self-consistency "Is 2027 a prime number? Answer yes or no."
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model.
// If none is set, the example uses an offline demo model.
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	agents := p.Flags.Int("agents", 3, "number of agents")
	decision := p.Flags.String("decision", string(vote.Majority), "decision rule: majority, confidence or judge")
	topology := p.Flags.String("topology", string(vote.Full), "whose answers an agent reads: full, ring, star or groups")
	extract := p.Flags.String("extract", "text", "how to extract answers: text, number, letter or boxed")
	samples := p.Flags.Int("samples", 0, "answers of each agent in a single round, without revisions and a judge; 0 for a debate")
	rounds := p.Flags.Int("rounds", 2, "maximum number of rounds")
	variant := p.Flags.String("variant", "", "reconcile (without convincing explanations), s2-mad or self-consistency; only -agents and -extract change it")
	topic, err := p.Topic("Is 2027 a prime number? Answer yes or no.")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	config := debate.Config{
		Topic:  topic,
		Judges: []debate.Participant{{Name: "Judge"}}, // decides ties, and all votes if the decision rule is judge
		Limits: debate.Limits{MaxRounds: *rounds},
	}
	rules := vote.Protocol{Decision: vote.DecisionRule(*decision), Topology: vote.Topology(*topology), Unanimity: vote.Stop}
	if *samples != 0 {
		rules = vote.Protocol{Decision: vote.DecisionRule(*decision), Samples: *samples}
		config.Judges, config.Limits = nil, debate.Limits{}
	}
	if *variant != "" {
		v, known := variants[*variant]
		if !known {
			return fmt.Errorf("-variant: %q is unknown, use reconcile, s2-mad or self-consistency", *variant)
		}
		rules, config.Judges, config.Limits = v.rules, nil, debate.Limits{MaxRounds: v.rounds}
		if rules.Samples > 0 {
			*agents = 1
		}
	}
	rules.Extract = *extract
	config.Protocol = rules
	for i := range *agents {
		config.Participants = append(config.Participants, debate.Participant{Name: fmt.Sprintf("%c%d", 'A'+i%26, i+1)})
	}
	result, err := p.Debate(ctx, config, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	return printResult(p, result)
}

// variants lists the variants of the literature by name. They have no judge.
var variants = map[string]struct {
	rules  vote.Protocol
	rounds int // 0 for the default
}{
	"reconcile":        {vote.Protocol{Decision: vote.Confidence, Rescale: true, Grouped: true, Unanimity: vote.Stop}, 3},
	"s2-mad":           {vote.Protocol{Topology: vote.Groups, Filter: new(0.0), Conditional: true}, 0},
	"self-consistency": {vote.Protocol{Samples: 5}, 0}, // of a single agent
}

// printResult prints the answer of the debate, and the answers of each agent by round.
func printResult(p *console.Program, r *debate.Result) error {
	t, err := vote.DecodeAnswer(r.Answer)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s\nended in round %d: %s\n\n%s\n\n", r.Topic, r.Round, r.Ending.Outcome, r.Answer.Text)
	for _, a := range t.Agents {
		fmt.Fprintf(p.Stdout, "%s: %s\n", a.Name, strings.Join(a.Answers, " -> "))
	}
	return nil
}
