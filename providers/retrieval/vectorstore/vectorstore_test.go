package vectorstore_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/embeddings"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/retrieval"
	"github.com/elenchus-go/debate/providers/retrieval/vectorstore"
)

// store implements a langchaingo vector store with an embedder.
type store struct {
	embedder embeddings.Embedder
	docs     []schema.Document
	err      error
}

func (s *store) AddDocuments(_ context.Context, docs []schema.Document, _ ...vectorstores.Option) ([]string, error) {
	s.docs = append(s.docs, docs...)
	return make([]string, len(docs)), nil
}

func (s *store) SimilaritySearch(ctx context.Context, query string, n int, _ ...vectorstores.Option) ([]schema.Document, error) {
	q, err := s.embedder.EmbedQuery(ctx, query)
	err = errors.Join(err, s.err)
	if err != nil {
		return nil, err
	}
	found := slices.Clone(s.docs)
	for i, d := range found {
		v, err := s.embedder.EmbedQuery(ctx, d.PageContent)
		if err != nil {
			return nil, err
		}
		for k := range v {
			found[i].Score += v[k] * q[k]
		}
	}
	slices.SortStableFunc(found, func(a, b schema.Document) int {
		if a.Score > b.Score {
			return -1
		}
		return 1
	})
	return found[:min(n, len(found))], nil
}

func ask(text string) providers.Request {
	return providers.Request{Messages: []providers.Message{{Role: providers.User, Text: text}}}
}

func TestAnyVectorStoreIsARetriever(t *testing.T) {
	s := &store{embedder: retrieval.NGrams{}}
	_, err := s.AddDocuments(t.Context(), []schema.Document{
		{PageContent: "cows and bulls", Metadata: map[string]any{"title": "Cattle"}},
		{PageContent: "cats and mice", Metadata: map[string]any{"title": "Pets", "source": "pets.md"}},
		{PageContent: "trees", Metadata: nil},
	})
	require.NoError(t, err)
	p := vectorstore.New(vectorstores.ToRetriever(s, 2), "text-embedding-3-small")
	res := calltest.Generate(t, p, ask("Do cats like mice?"))
	require.Equal(t, "text-embedding-3-small", res.Model)
	require.Zero(t, res.Usage)
	require.JSONEq(t, `{"documents":[{"title":"Pets","text":"cats and mice"},{"title":"Cattle","text":"cows and bulls"}]}`, res.Text)
}

func TestADocumentsTitle(t *testing.T) {
	for _, tt := range []struct {
		name     string
		metadata map[string]any
		want     string
	}{
		{"title", map[string]any{"title": "T", "name": "N", "source": "S"}, "T"},
		{"name", map[string]any{"title": "", "name": "N", "source": "S"}, "N"},
		{"source", map[string]any{"title": 3, "source": "S"}, "S"},
		{"first line", map[string]any{"page": 3}, "One line."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &store{embedder: retrieval.NGrams{}, docs: []schema.Document{{PageContent: "One line.\nAnother.", Metadata: tt.metadata}}}
			res := calltest.Generate(t, vectorstore.New(vectorstores.ToRetriever(s, 1), ""), ask("line"))
			require.Contains(t, res.Text, `"title":"`+tt.want+`"`)
		})
	}
}

func TestAStoreThatFailsIsAFailure(t *testing.T) {
	s := &store{embedder: retrieval.NGrams{}, err: errors.New("status code: 429")}
	_, err := vectorstore.New(vectorstores.ToRetriever(s, 1), "").Generate(t.Context(), ask("line"))
	require.EqualError(t, err, "rate_limit: search documents: status code: 429")
}
