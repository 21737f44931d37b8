package scripted_test

import (
	"context"
	"fmt"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

func Example() {
	model := &scripted.Provider{
		Replies: []scripted.Reply{
			{Text: "Cars are freedom.", Chunks: 2},
			{Text: "Cars are fr", Err: &providers.Error{Kind: providers.Network}},
		},
		Func: func(r providers.Request) scripted.Reply {
			return scripted.Reply{Text: "As I said to: " + r.Messages[0].Text}
		},
	}
	for range 3 {
		res, err := model.Generate(context.Background(), providers.Request{
			Messages: []providers.Message{{Role: providers.User, Text: "Ban cars?"}},
			OnChunk: func(text string) error {
				_, err := fmt.Printf("%q ", text)
				return err
			},
		})
		fmt.Println(res.Text, err)
	}
	fmt.Println(len(model.Calls()), "calls")
	// Output:
	// "Cars are" " freedom." Cars are freedom. <nil>
	// "Cars are fr"  network
	// "As I said to: Ban cars?" As I said to: Ban cars? <nil>
	// 3 calls
}
