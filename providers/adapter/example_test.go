package adapter_test

import (
	"context"
	"fmt"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/adapter"
)

// echo stands for the client of a model.
func echo(question string) (string, error) { return "You ask: " + question, nil }

func Example() {
	p := &adapter.Provider{Stream: func(_ context.Context, r providers.Request, add adapter.Add) error {
		text, err := echo(r.Messages[len(r.Messages)-1].Text)
		if err != nil {
			return err
		}
		return add(adapter.Chunk{Text: text, FinishReason: "stop"})
	}}
	res, err := p.Generate(context.Background(), providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Ban cars?"}}})
	fmt.Println(res.Text, res.FinishReason, err)
	// Output: You ask: Ban cars? stop <nil>
}
