package clients

import (
	"context"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/evidence/search"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/retrieval"
)

// mostPassages limits the passages that a protocol shows.
const mostPassages = 8

// Passages returns a retriever of passages in the documents that are not private. It reads them when it is called.
func Passages(list []evidence.Document) providers.Provider {
	return retrieval.New(func(ctx context.Context, query string) (found []retrieval.Document, err error) {
		texts := map[string]string{}
		for i := range list {
			if d := &list[i]; !d.IsPrivate() {
				texts[d.Name] = d.Text
			}
		}
		index, err := search.New(ctx, texts, search.Options{})
		if err != nil {
			return nil, err
		}
		passages, err := index.Find(ctx, query, mostPassages)
		for _, p := range passages {
			found = append(found, retrieval.Document{Title: p.Document, Text: p.Text})
		}
		return found, err
	}, "bm25/1")
}
