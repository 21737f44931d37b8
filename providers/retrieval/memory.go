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

// InMemory returns a search over docs in memory. It ranks documents by the cosine similarity between the query's vector
// and the vector of the document's title and text. Documents with equal similarity keep their order. The first search
// embeds the documents; if that fails, the next search tries again.
func InMemory(e Embedder, docs ...Document) Search {
	m := &inMemory{embedder: e, docs: slices.Clone(docs), lock: make(chan struct{}, 1)}
	return m.search
}

type inMemory struct {
	embedder Embedder
	docs     []Document
	lock     chan struct{} // guards vectors; unlike with a mutex, a goroutine can stop waiting for it
	vectors  [][]float32   // the documents' vectors with norm 1; nil until the documents are embedded
}

func (m *inMemory) search(ctx context.Context, query string) ([]Document, error) {
	if len(m.docs) == 0 {
		return nil, nil
	}
	vectors, err := m.documentVectors(ctx)
	if err != nil {
		return nil, fmt.Errorf("embed %d documents: %w", len(m.docs), err)
	}
	q, err := m.embedder.EmbedQuery(ctx, query)
	if err == nil {
		err = checkVectors([][]float32{vectors[0], q}, 2)
	}
	if err != nil {
		return nil, fmt.Errorf("embed query: %w", err)
	}
	return nearest(m.docs, vectors, q), nil
}

// embedded returns the text of which a document's vector is made.
func (d *Document) embedded() string { return d.Title + "\n" + d.Text }

// documentVectors returns the vectors of the documents. The first call embeds them.
func (m *inMemory) documentVectors(ctx context.Context) ([][]float32, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case m.lock <- struct{}{}:
		defer func() { <-m.lock }()
	}
	if m.vectors != nil {
		return m.vectors, nil
	}
	texts := make([]string, len(m.docs))
	for i := range m.docs {
		texts[i] = m.docs[i].embedded()
	}
	made, err := m.embedder.EmbedDocuments(ctx, texts)
	if err == nil {
		err = checkVectors(made, len(texts))
	}
	if err != nil {
		return nil, err
	}
	for _, v := range made {
		m.vectors = append(m.vectors, normalize(v))
	}
	return m.vectors, nil
}

// nearest returns the maxDocuments documents that are most similar to the query, most similar first. The query's vector
// need not be normalized.
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
	found := make([]Document, min(len(hits), maxDocuments))
	for i := range found {
		found[i] = hits[i].doc
	}
	return found
}

// TemplateRetriever returns a retriever that works offline. It searches [BuiltInTemplates] with [NGrams], and its model is
// "ngrams/1".
func TemplateRetriever() providers.Provider { return New(searchTemplates, "ngrams/1") }

// searchTemplates is the search of [TemplateRetriever].
func searchTemplates(_ context.Context, query string) ([]Document, error) {
	return nearest(builtInTemplates(), templateVectors(), ngrams(query)), nil
}

// templateVectors returns the vectors of the templates. The first call reads and embeds them, which waits for nothing.
var templateVectors = sync.OnceValue(func() (vectors [][]float32) {
	for _, d := range builtInTemplates() {
		vectors = append(vectors, normalize(ngrams(d.embedded())))
	}
	return vectors
})

//go:embed templates/*.md
var files embed.FS

// BuiltInTemplates returns the reasoning templates of this package, the most widely applicable first. Each one begins
// with a sentence that says when to use it.
func BuiltInTemplates() []Document { return slices.Clone(builtInTemplates()) }

var builtInTemplates = sync.OnceValue(func() (docs []Document) {
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
