package debatehttp_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/providers"
)

// A client launches a debate over the network and follows it to its end.
func Example() {
	engine, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"model": offline.Model(false)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler, err := debatehttp.New(engine, debatehttp.Options{Authorize: debatehttp.AllowEveryone})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(handler)
	defer server.Close()

	ctx, client := context.Background(), debatehttp.Client{URL: server.URL}
	id, err := client.Launch(ctx, debate.Config{
		Topic:        "Should cities ban private cars?",
		Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}}, Judges: []debate.Participant{{Name: "Judge"}},
		Limits: debate.Limits{MaxRounds: 1},
	}, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for event, err := range client.Watch(ctx, id, "", 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch event := event.(type) {
		case debate.TurnDone:
			fmt.Println(event.Turn.Kind, "of", event.Turn.Actor)
		case debate.Ended:
			fmt.Println(event.Result.State)
		}
	}
	// Output:
	// speech of Ada
	// speech of Bo
	// assessment of Judge
	// conclusion of Judge
	// completed
}
