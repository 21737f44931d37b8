// Package vectorstore adapts langchaingo retrievers, and so all its vector stores, as retrievers for debates.
//
//	retriever := vectorstore.New(vectorstores.ToRetriever(store, 3), "text-embedding-3-small")
//
// The package is separate from package retrieval so that retrieval does not depend on langchaingo.
package vectorstore

import (
	"context"

	"github.com/tmc/langchaingo/schema"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/retrieval"
)

// New returns a retriever that searches with r, as described at [retrieval.New]. The title of a document is the first
// non-empty string among "title", "name" and "source" in its metadata. The model names the embedding model of the store,
// and may be empty. The number of documents is limited by the argument of ToRetriever and by the limit of
// [retrieval.New].
func New(r schema.Retriever, model string) providers.Provider {
	return retrieval.New(func(ctx context.Context, query string) ([]retrieval.Document, error) {
		found, err := r.GetRelevantDocuments(ctx, query)
		docs := make([]retrieval.Document, len(found))
		for i, d := range found {
			docs[i] = retrieval.Document{Title: title(d.Metadata), Text: d.PageContent}
		}
		return docs, err
	}, model)
}

func title(metadata map[string]any) string {
	for _, key := range []string{"title", "name", "source"} {
		if s, ok := metadata[key].(string); ok && s != "" {
			return s
		}
	}
	return ""
}
