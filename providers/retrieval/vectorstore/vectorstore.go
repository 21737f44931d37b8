// Package vectorstore makes a retriever for debates of any langchaingo retriever, and so of any of its vector stores:
//
//	retriever := vectorstore.New(vectorstores.ToRetriever(store, 3), "text-embedding-3-small")
//
// It is a package of its own because it links langchaingo, which package retrieval does not.
package vectorstore

import (
	"context"

	"github.com/tmc/langchaingo/schema"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/retrieval"
)

// New is a retriever as [retrieval.New] describes it. A document's title is its metadata's "title", else "name", else
// "source". The model names what the store embeds with; it may be empty. A store gives at most as many documents as it
// was told in ToRetriever, and a debate uses the first of them.
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
