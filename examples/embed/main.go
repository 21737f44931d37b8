// Embed gives a langchaingo agent a debate as a tool. The agent runs a debate before it answers.
//
//	go run ./examples/embed "Should we write the new service in Go?"
//
// If OPENAI_API_KEY is set, the agent uses OpenAI; otherwise it uses a scripted model. Set OPENAI_API_KEY,
// ANTHROPIC_API_KEY or OLLAMA_HOST to choose the model of the debaters. If none is set, they use an offline demo model.
package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/tools"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	question, err := p.Topic("Should we write the new service in Go?")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(p.IsTerminal))
	if err != nil {
		return err
	}
	mind, err := chooseModel(p.Env)
	if err != nil {
		return err
	}
	tool := Tool{
		Config: debate.Config{
			Protocol:     panel.Protocol{Format: panel.ConvergenceSeeking},
			Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
			Judges:       []debate.Participant{{Name: "Judge"}},
			Limits:       debate.Limits{MaxRounds: 2},
		},
		Options: debate.Options{Providers: map[string]providers.Provider{"model": model}},
	}
	answer, err := askAgent(ctx, mind, tool, question)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.Stdout, answer)
	return nil
}

// askAgent lets an agent with the tool answer a question, and returns the answer.
func askAgent(ctx context.Context, mind llms.Model, tool tools.Tool, question string) (string, error) {
	agent := agents.NewOneShotAgent(mind, []tools.Tool{tool}, agents.WithMaxIterations(3))
	answer, err := chains.Run(ctx, agents.NewExecutor(agent, agents.WithMaxIterations(3)), question)
	if err != nil {
		return "", fmt.Errorf("ask the agent: %w", err)
	}
	return answer, nil
}

// chooseModel returns the agent's model: OpenAI's if the environment has a key, or else script.
func chooseModel(env func(string) string) (llms.Model, error) {
	if env("OPENAI_API_KEY") == "" {
		return script{}, nil
	}
	options := []openai.Option{openai.WithToken(env("OPENAI_API_KEY")), openai.WithModel(cmp.Or(env("OPENAI_MODEL"), "gpt-4.1-mini"))}
	if url := env("OPENAI_BASE_URL"); url != "" {
		options = append(options, openai.WithBaseURL(url))
	}
	return openai.New(options...)
}

// script is a model that calls the tool once for each question and answers with the result of the debate.
type script struct{}

// GenerateContent implements llms.Model.
func (script) GenerateContent(ctx context.Context, messages []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	var prompt strings.Builder
	for _, m := range messages {
		for _, part := range m.Parts {
			fmt.Fprint(&prompt, part)
		}
	}
	_, task, _ := strings.Cut(prompt.String(), "Begin!")
	_, question, _ := strings.Cut(task, "Question: ")
	question, _, _ = strings.Cut(question, "\n")
	reply := "I should hear both sides.\nAction: debate\nAction Input: " + question
	if _, observation, seen := strings.Cut(task, "\nObservation: "); seen {
		reply = "I have heard both sides.\nFinal Answer: " + strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(observation), "Thought:"))
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: reply}}}, ctx.Err()
}

// Call implements llms.Model.
func (s script) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, s, prompt, options...)
}
