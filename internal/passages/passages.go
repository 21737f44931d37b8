// Package passages finds passages in the documents of a debate.
package passages

import (
	"context"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/evidence/search"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/retrieval"
)

// most is the number of passages that a protocol may show.
const most = 8

// Retriever returns a retriever of passages in the documents that are not private. It reads them when it is called.
func Retriever(list []evidence.Document) providers.Provider {
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
		passages, err := index.Find(ctx, query, most)
		for _, p := range passages {
			found = append(found, retrieval.Document{Title: p.Document, Text: p.Text})
		}
		return found, err
	}, "bm25/1")
}
