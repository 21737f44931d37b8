package googleai_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/googleai"
)

// The example uses a local server. Leave out BaseURL to call the service itself.
func Example() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"modelVersion": "gemini-2.5-flash", "candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": "Because."}]},
			"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11}}`)
	}))
	defer service.Close()
	model, err := googleai.New(googleai.Config{Key: "...", Model: "gemini-2.5-flash", BaseURL: service.URL})
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
