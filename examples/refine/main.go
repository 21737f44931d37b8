// Refine runs a debate in which experts propose solutions, criticize the proposals of the others and refine their own. A
// judge combines the proposals into one solution.
//
//	go run ./examples/refine -agents architect,security,cost "How should we store our customers' documents?"
//
// The example defines the role "cost"; the other roles are built in. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST
// to choose a model. If none is set, the example uses an offline demo model.
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

// roles contains the roles that are not built in.
var roles = map[string]refine.RolePrompt{
	"cost": {System: "You focus on costs: the costs of building, running, changing and replacing a solution.", Source: "examples/refine"},
}

func run(ctx context.Context, p *console.Program) error {
	agents := p.Flags.String("agents", "architect,security,cost", "roles, separated by commas: architect, performance, security, testing, generalist or cost")
	rounds := p.Flags.Int("rounds", 2, "maximum number of rounds")
	topic, err := p.Topic("How should we store our customers' documents?")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	config := debate.Config{
		Topic:    topic,
		Protocol: refine.Protocol{Roles: roles, SummaryPolicy: refine.SummaryPolicy{Threshold: 5000, TargetLength: 2500}},
		Judges:   []debate.Participant{{Name: "Judge"}},
		Limits:   debate.Limits{MaxRounds: *rounds},
	}
	for role := range strings.SplitSeq(*agents, ",") {
		config.Participants = append(config.Participants, debate.Participant{Name: role, Role: role})
	}
	result, err := p.Debate(ctx, config, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	return printResult(p, result)
}

// printResult prints the solution, the roles of the agents and the sizes of the summaries.
func printResult(p *console.Program, r *debate.Result) error {
	came, err := refine.DecodeAnswer(r.Answer)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s\n\n%s\n\n", r.Topic, r.Answer.Text)
	for _, a := range came.Roles {
		fmt.Fprintf(p.Stdout, "%s: %s (%s)\n", a.Agent, a.Role, a.Source)
	}
	for _, s := range came.Summaries {
		fmt.Fprintf(p.Stdout, "summary for %s in round %d: %d characters reduced to %d\n", s.Agent, s.Round, s.Before, s.After)
	}
	return nil
}
