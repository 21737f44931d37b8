// Langchaingo gives a langchaingo agent a debate as a tool. The agent runs a debate before it answers.
//
//	go run ./examples/integrations/langchaingo "Should we write the new service in Go?"
//	AWS_REGION=us-east-1 go run ./examples/integrations/langchaingo -bedrock amazon.nova-pro-v1:0 "Should cities ban private cars?"
//
// If OPENAI_API_KEY is set, OpenAI is the agent's model; otherwise a script is. The debaters use a model of langchaingo, on Amazon
// Bedrock, or else the model that the environment has a key for, or an offline demo model.
package main

import (
	"context"
	"fmt"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	bedrock := p.Flags.String("bedrock", "", "debaters use this `model` of Amazon Bedrock, or this inference profile")
	question, err := p.Topic("Should we write the new service in Go?")
	if err != nil {
		return err
	}
	model, err := chooseDebater(ctx, p, *bedrock)
	if err != nil {
		return err
	}
	mind, err := chooseModel(p.Env)
	if err != nil {
		return err
	}
	answer, err := askAgent(ctx, mind, debate.Options{Providers: map[string]providers.Provider{"model": model}}, question)
	fmt.Fprintln(p.Stdout, answer)
	return err
}

// askAgent has an agent answer a question, with a debate as its tool.
func askAgent(ctx context.Context, mind llms.Model, o debate.Options, question string) (string, error) {
	engine, err := debate.NewEngine(o)
	if err != nil {
		return "", err
	}
	defer func() { _ = engine.Close(ctx) }() // cancels the calls of the debate if ctx has ended
	set, err := debatetool.New(engine, debatetool.Options{})
	if err != nil {
		return "", err
	}
	agent := agents.NewOneShotAgent(mind, []tools.Tool{set.Tools()[0]}, agents.WithMaxIterations(3))
	return chains.Run(ctx, agents.NewExecutor(agent, agents.WithMaxIterations(3)), question)
}
