// Vote has agents answer a question, see one another's answers and revise their own, and counts the answers.
//
//	go run ./examples/vote -agents 5 -topology ring "Is 2027 a prime number? Answer yes or no."
//
// Where all agree in round 1 there is no debate. The model is the first that the environment has a key or a host for;
// without one a script speaks.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/internal/console"
	"github.com/elenchus-go/debate/examples/internal/offline"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	agents := p.Flags.Int("agents", 3, "how many answer")
	decision := p.Flags.String("decision", string(vote.Majority), "majority, confidence or judge")
	topology := p.Flags.String("topology", string(vote.Full), "who sees whom: full, ring, star or groups")
	extract := p.Flags.String("extract", "text", "how answers are read: text, number, letter or boxed")
	rounds := p.Flags.Int("rounds", 2, "the most rounds")
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
		Judges: []debate.Participant{{Name: "Judge"}}, // asked where the vote is a tie, or is to be the judge's
		Limits: debate.Limits{MaxRounds: *rounds},
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

// printResult prints the answer, and where each agent stood.
func printResult(p *console.Program, r *debate.Result) error {
	var t vote.Tally
	if err := json.Unmarshal(r.Answer.Data, &t); err != nil {
		return fmt.Errorf("read the tally: %w", err)
	}
	fmt.Fprintf(p.Stdout, "%s\nended in round %d: %s\n\n%s\n\n", r.Topic, r.Round, r.Ending.Outcome, r.Answer.Text)
	for _, a := range t.Agents {
		fmt.Fprintf(p.Stdout, "%s: %s\n", a.Name, strings.Join(a.Answers, " -> "))
	}
	return nil
}
