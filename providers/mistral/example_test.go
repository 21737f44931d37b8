package mistral_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/mistral"
)

// The example uses a local server. Leave out BaseURL to call the service itself.
func Example() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"model": "mistral-small-latest", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Because."}, "finish_reason": "stop"}],
			"usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}}`)
	}))
	defer service.Close()
	model, err := mistral.New(mistral.Config{Key: "...", Model: "mistral-small-latest", BaseURL: service.URL + "/v1"})
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
