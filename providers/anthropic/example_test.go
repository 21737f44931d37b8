package anthropic_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
)

// The example uses a local server. Leave out BaseURL to call the service itself.
func Example() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": "end_turn",
			"content": [{"type": "text", "text": "Because."}], "usage": {"input_tokens": 9, "output_tokens": 2}}`)
	}))
	defer service.Close()
	model, err := anthropic.New(anthropic.Config{Key: "sk-ant-...", Model: "claude-sonnet-4-5", BaseURL: service.URL + "/v1"})
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
