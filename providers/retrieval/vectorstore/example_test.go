package vectorstore_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tmc/langchaingo/schema"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/retrieval/vectorstore"
)

// library replaces a retriever such as vectorstores.ToRetriever(store, 3).
type library struct{}

func (library) GetRelevantDocuments(context.Context, string) ([]schema.Document, error) {
	return []schema.Document{{PageContent: "Assume that the plan has failed.", Metadata: map[string]any{"title": "Pre-mortem"}}}, nil
}

func Example() {
	retriever := vectorstore.New(library{}, "text-embedding-3-small")
	res, err := retriever.Generate(context.Background(), providers.Request{
		Messages: []providers.Message{{Role: providers.User, Text: "How can a plan fail?"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Text)
	// Output:
	// {"documents":[{"title":"Pre-mortem","text":"Assume that the plan has failed."}]}
}
