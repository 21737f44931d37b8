package retrieval

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/elenchus-go/debate/providers"
)

// Memory searches documents in memory by the cosine of vectors: of the query, and of each document's title and text.
// Those that are equally near keep their order. The documents are embedded when they are first searched; where that
// fails, the next search tries again.
func Memory(e Embedder, docs ...Document) Search {
	m := &memory{embedder: e, docs: slices.Clone(docs), turn: make(chan struct{}, 1)}
	return m.search
}

type memory struct {
	embedder Embedder
	docs     []Document
	turn     chan struct{} // holds one: who looks at vectors. Unlike for a mutex, one can stop waiting for it
	vectors  [][]float32   // of the documents, of length 1; nil until they are embedded
}

func (m *memory) search(ctx context.Context, query string) ([]Document, error) {
	if len(m.docs) == 0 {
		return nil, nil
	}
	vectors, err := m.embedded(ctx)
	if err != nil {
		return nil, fmt.Errorf("embed %d documents: %w", len(m.docs), err)
	}
	q, err := m.embedder.EmbedQuery(ctx, query)
	if err == nil {
		err = regular([][]float32{vectors[0], q}, 2)
	}
	if err != nil {
		return nil, fmt.Errorf("embed query: %w", err)
	}
	return nearest(m.docs, vectors, q), nil
}

// embedded are the vectors of the documents, which the first to ask makes.
func (m *memory) embedded(ctx context.Context) ([][]float32, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	}
	if m.vectors != nil {
		return m.vectors, nil
	}
	texts := make([]string, len(m.docs))
	for i, d := range m.docs {
		texts[i] = d.Title + "\n" + d.Text
	}
	made, err := m.embedder.EmbedDocuments(ctx, texts)
	if err == nil {
		err = regular(made, len(texts))
	}
	if err != nil {
		return nil, err
	}
	for _, v := range made {
		m.vectors = append(m.vectors, unit(v))
	}
	return m.vectors, nil
}

// nearest are the documents that fit into a reply, the nearest to the query first. The query's length does not matter.
func nearest(docs []Document, vectors [][]float32, query []float32) []Document {
	type hit struct {
		doc  Document
		near float64
	}
	hits := make([]hit, len(docs))
	for i, v := range vectors {
		hits[i].doc = docs[i]
		for k := range v {
			hits[i].near += float64(v[k]) * float64(query[k])
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.near, a.near) })
	found := make([]Document, min(len(hits), mostDocuments))
	for i := range found {
		found[i] = hits[i].doc
	}
	return found
}

// Templates is the retriever that needs nothing: it searches [Starters] by [NGrams]. Its model is "ngrams/1".
func Templates() providers.Provider { return templates() }

var templates = sync.OnceValue(func() providers.Provider { return New(Memory(NGrams{}, Starters()...), "ngrams/1") })

//go:embed templates/*.md
var files embed.FS

// Starters are this package's own reasoning templates, those of the widest use first. Each begins with when to use it.
func Starters() []Document { return slices.Clone(starters()) }

var starters = sync.OnceValue(func() (docs []Document) {
	names, err := fs.Glob(files, "templates/*.md")
	if err != nil {
		panic(err) // unreachable: the pattern is valid
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // unreachable: the file is embedded
		}
		title, rest, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
		docs = append(docs, Document{Title: strings.TrimPrefix(title, "# "), Text: strings.TrimSpace(rest)})
	}
	return docs
})
