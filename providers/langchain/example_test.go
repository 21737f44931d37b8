package langchain_test

import (
	"context"
	"fmt"

	prepared "github.com/tmc/langchaingo/llms/fake"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
)

// New adapts any langchaingo model. The model in this example returns prepared replies.
func Example() {
	model := langchain.New(prepared.NewFakeLLM([]string{"Because."}))
	res, err := model.Generate(context.Background(), providers.Request{
		Messages: []providers.Message{{Role: providers.User, Text: "Why?"}},
	})
	fmt.Println(res.Text, err)
	// Output:
	// Because. <nil>
}
