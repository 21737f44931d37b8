// Refine has experts propose solutions, criticize one another and refine their own; a judge makes one solution of them.
//
//	go run ./examples/refine -agents architect,security,cost "How should we store our customers' documents?"
//
// The role "cost" is the example's own, the others are built in. The model is the first that the environment has a key or
// a host for; without one a script speaks.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/internal/console"
	"github.com/elenchus-go/debate/examples/internal/offline"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

// roles are beside the built-in ones.
var roles = map[string]refine.RolePrompt{
	"cost": {System: "You care for what it costs: to build, to run, to change, and to get rid of.", Source: "examples/refine"},
}

func run(ctx context.Context, p *console.Program) error {
	agents := p.Flags.String("agents", "architect,security,cost", "the roles: architect, performance, security, testing, generalist, cost")
	rounds := p.Flags.Int("rounds", 2, "the most rounds")
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

// printResult prints the solution, and what stands behind it.
func printResult(p *console.Program, r *debate.Result) error {
	var came refine.Result
	if err := json.Unmarshal(r.Answer.Data, &came); err != nil {
		return fmt.Errorf("read the result: %w", err)
	}
	fmt.Fprintf(p.Stdout, "%s\n\n%s\n\n", r.Topic, r.Answer.Text)
	for _, a := range came.Roles {
		fmt.Fprintf(p.Stdout, "%s: %s (%s)\n", a.Agent, a.Role, a.Source)
	}
	for _, s := range came.Summaries {
		fmt.Fprintf(p.Stdout, "summed up for %s in round %d: %d characters became %d\n", s.Agent, s.Round, s.Before, s.After)
	}
	return nil
}
