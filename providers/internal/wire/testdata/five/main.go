// Five calls the models of five services with the providers.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
	"github.com/elenchus-go/debate/providers/googleai"
	"github.com/elenchus-go/debate/providers/mistral"
	"github.com/elenchus-go/debate/providers/ollama"
	"github.com/elenchus-go/debate/providers/openai"
)

func main() {
	call(openai.New(openai.Config{Key: os.Getenv("OPENAI_API_KEY"), Model: "gpt-4.1-mini"}))
	call(anthropic.New(anthropic.Config{Key: os.Getenv("ANTHROPIC_API_KEY"), Model: "claude-sonnet-4-5"}))
	call(googleai.New(googleai.Config{Key: os.Getenv("GEMINI_API_KEY"), Model: "gemini-2.5-flash"}))
	call(mistral.New(mistral.Config{Key: os.Getenv("MISTRAL_API_KEY"), Model: "mistral-small-latest"}))
	call(ollama.New(ollama.Config{Model: "llama3.2"}))
}

func call[P providers.Provider](p P, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = p.Generate(context.Background(), providers.Request{
		Messages: []providers.Message{{Role: providers.User, Text: "Why?"}},
		OnChunk: func(text string) error {
			fmt.Print(text)
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
	}
}
