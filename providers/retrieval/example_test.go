package retrieval_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/retrieval"
)

// A retriever replies to a query with the documents that match it best.
func Example() {
	search := retrieval.InMemory(retrieval.NGrams{},
		retrieval.Document{Title: "Trains", Text: "Trains carry many people on little space."},
		retrieval.Document{Title: "Bicycles", Text: "A bicycle needs no fuel."},
	)
	retriever := retrieval.New(search, "ngrams/1")
	res, err := retriever.Generate(context.Background(), providers.Request{
		Messages: []providers.Message{{Role: providers.User, Text: "Which fuel does a bicycle need?"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	var reply struct{ Documents []retrieval.Document }
	if err := json.Unmarshal([]byte(res.Text), &reply); err != nil {
		log.Fatal(err)
	}
	for _, d := range reply.Documents {
		fmt.Println(d.Title)
	}
	// Output:
	// Bicycles
	// Trains
}
