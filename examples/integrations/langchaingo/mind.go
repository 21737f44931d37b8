package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

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
