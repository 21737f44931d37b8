package debatetool_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/providers"
)

func Example() {
	engine, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"model": offline.Model(false)}})
	if err != nil {
		log.Fatal(err)
	}
	set, err := debatetool.New(engine, debatetool.Options{})
	if err != nil {
		log.Fatal(err)
	}
	text, err := set.Tools()[0].Call(context.Background(), `{"id": "go", "topic": "Should we use Go?", "budget": {"rounds": 1}}`)
	if err != nil {
		log.Fatal(err)
	}
	first, _, _ := strings.Cut(text, "\n")
	fmt.Println(first)

	text, err = set.Tools()[0].Call(context.Background(), `{"topic": "Should we use Go?", "budget": {"rounds": 9}}`)
	fmt.Println(text, err)
	// Output:
	// Debate go: completed, judge decided in round 1.
	// The call was refused. Correct these fields and call again:
	// - budget.rounds: 9 is out of bounds, use more than 0 and at most 2, or leave it out <nil>
}
