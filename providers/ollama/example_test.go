package ollama_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/ollama"
)

// The example uses a local server. Leave out BaseURL to call the service itself.
func Example() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"model": "llama3.2", "message": {"role": "assistant", "content": "Because."}, "done": true, `+
			`"done_reason": "stop", "prompt_eval_count": 9, "eval_count": 2}`)
	}))
	defer service.Close()
	model, err := ollama.New(ollama.Config{Model: "llama3.2", BaseURL: service.URL, NumCtx: 16384})
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
