package providers_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/elenchus-go/debate/providers"
)

// parrot is a provider that repeats the last message.
type parrot struct{}

func (parrot) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if ctx.Err() != nil {
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
	if len(r.Messages) == 0 {
		return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("no message")}
	}
	text := r.Messages[len(r.Messages)-1].Text
	if r.OnChunk != nil {
		if err := r.OnChunk(text); err != nil {
			return providers.Response{}, err
		}
	}
	return providers.Response{Text: text, FinishReason: providers.Stop}, nil
}

// A provider has one method. A failed call returns an error with a kind.
func Example() {
	var model providers.Provider = parrot{}
	res, err := model.Generate(context.Background(), providers.Request{
		Messages: []providers.Message{{Role: providers.User, Text: "Ban cars?"}},
	})
	fmt.Println(res.Text, err)
	_, err = model.Generate(context.Background(), providers.Request{})
	fmt.Println(providers.AsError(err).Kind == providers.InvalidRequest)
	// Output:
	// Ban cars? <nil>
	// true
}
