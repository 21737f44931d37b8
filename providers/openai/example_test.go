package openai_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/openai"
)

// The example uses a local server. Leave out BaseURL to call the service itself.
func Example() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"model": "gpt-4.1-mini", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Because."}, "finish_reason": "stop"}],
			"usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}}`)
	}))
	defer service.Close()
	model, err := openai.New(openai.Config{Key: "sk-...", Model: "gpt-4.1-mini", BaseURL: service.URL + "/v1"})
	if err != nil {
		log.Fatal(err)
	}
	res, err := model.Generate(context.Background(), providers.Request{
		Messages:  []providers.Message{{Role: providers.User, Text: "Why?"}},
		MaxTokens: 100,
	})
	fmt.Println(res.Text, res.FinishReason, res.Usage.Input, res.Usage.Output, err)
	// Output:
	// Because. stop 9 2 <nil>
}
