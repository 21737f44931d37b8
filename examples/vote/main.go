// Vote lets agents answer a question, read the answers of the others and revise their own. Then it counts the answers.
//
//	go run ./examples/vote -agents 5 -topology ring "Is 2027 a prime number? Answer yes or no."
//
// If all agents agree in round 1, the debate ends. For self-consistency, let one agent answer several times:
//
//	go run ./examples/vote -agents 1 -samples 5 "Is 2027 a prime number? Answer yes or no."
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
	question, err := p.Topic("Is 2027 a prime number? Answer yes or no.")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	config := debate.Config{
		Topic: question,
		Protocol: vote.Protocol{
			Decision: vote.DecisionRule(*decision), Topology: vote.Topology(*topology), Extract: *extract, Unanimity: vote.Stop,
		},
		Judges: []debate.Participant{{Name: "Judge"}}, // decides ties, and all votes if the decision rule is judge
		Limits: debate.Limits{MaxRounds: *rounds},
	}
	if *samples != 0 {
		config.Protocol = vote.Protocol{Decision: vote.DecisionRule(*decision), Samples: *samples, Extract: *extract}
		config.Judges, config.Limits = nil, debate.Limits{}
	}
	for i := range *agents {
		config.Participants = append(config.Participants, debate.Participant{Name: fmt.Sprintf("%c%d", 'A'+i%26, i+1)})
	}
	result, err := p.Debate(ctx, config, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	return printResult(p, result)
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
