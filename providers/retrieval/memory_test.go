package retrieval_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/retrieval"
)

func TestStartersAreComplete(t *testing.T) {
	docs := retrieval.BuiltInTemplates()
	require.GreaterOrEqual(t, len(docs), 12)
	titles := map[string]bool{}
	for _, d := range docs {
		require.NotEmpty(t, d.Title)
		require.NotContains(t, d.Title, "#")
		require.False(t, titles[d.Title], "%s comes twice", d.Title)
		titles[d.Title] = true
		require.True(t, strings.HasPrefix(d.Text, "Use it "), "%s does not begin with when to use it", d.Title)
		n := len(strings.Fields(d.Text))
		require.True(t, n >= 60 && n <= 150, "%s has %d words", d.Title, n)
	}
	for _, title := range []string{"Proof by contradiction", "First principles", "Trade-off table", "Pre-mortem"} {
		require.True(t, titles[title], title)
	}
	docs[0].Title = "changed"
	require.NotEqual(t, "changed", retrieval.BuiltInTemplates()[0].Title, "a caller's list is its own")
}

func TestTemplatesFitTheirTopics(t *testing.T) {
	for topic, want := range map[string]string{
		"Should we rewrite our backend in Rust or stay with Go?":          "Trade-off table",
		"Is there an infinite number of primes?":                          "Proof by contradiction",
		"Does social media cause depression among teenagers?":             "Cause and effect",
		"Our database outage came back a third time. What now?":           "Root causes",
		"How many piano tuners are there in Chicago?":                     "Fermi estimate",
		"Should the government introduce a carbon tax?":                   "Second-order effects",
		"Should cities ban private cars?":                                 "Stakeholders",
		"How likely is it that our startup will succeed within 10 years?": "Base rates",
		"How do we make our service more reliable and secure?":            "Inversion",
	} {
		t.Run(topic, func(t *testing.T) {
			var titles []string
			for _, d := range found(t, retrieval.TemplateRetriever(), ask(topic))[:3] {
				titles = append(titles, d.Title)
			}
			require.Contains(t, titles, want)
		})
	}
}

func TestTemplatesSayWhatTheyWereFoundBy(t *testing.T) {
	res := calltest.Generate(t, retrieval.TemplateRetriever(), ask("q"))
	require.Equal(t, "ngrams/1", res.Model)
	again := calltest.Generate(t, retrieval.TemplateRetriever(), ask("q"))
	require.Equal(t, res, again, "the same question has the same answer")
}

// axes is an embedder with one dimension per word. If err is set, the next call of EmbedDocuments returns it.
type axes struct {
	words []string
	err   error
	calls int
}

func (a *axes) vector(text string) []float32 {
	v := make([]float32, len(a.words))
	for i, w := range a.words {
		v[i] = float32(strings.Count(text, w))
	}
	return v
}

func (a *axes) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	return a.vector(text), nil
}

func (a *axes) EmbedDocuments(_ context.Context, texts []string) (vectors [][]float32, err error) {
	a.calls++
	err, a.err = a.err, nil
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		vectors = append(vectors, a.vector(text))
	}
	return vectors, nil
}

func titles(docs []retrieval.Document) (list []string) {
	for _, d := range docs {
		list = append(list, d.Title)
	}
	return list
}

func TestMemoryFindsTheNearest(t *testing.T) {
	e := &axes{words: []string{"cat", "dog", "cow"}}
	docs := []retrieval.Document{{Title: "1", Text: "cow"}, {Title: "2", Text: "cat dog dog"}, {Title: "3", Text: "cat"}, {Title: "cat", Text: "cat"}, {Title: "5", Text: "stone"}}
	search := retrieval.InMemory(e, docs...)
	docs[0].Title = "changed"
	for query, want := range map[string][]string{
		"cat":     {"3", "cat", "2", "1", "5"},
		"dog cat": {"2", "3", "cat", "1", "5"},
		"cow":     {"1", "2", "3", "cat", "5"},
		"tree":    {"1", "2", "3", "cat", "5"},
	} {
		got, err := search(t.Context(), query)
		require.NoError(t, err)
		require.Equal(t, want, titles(got), query)
	}
	require.Equal(t, 1, e.calls, "documents are embedded once")
}

func TestMemoryOfNothingFindsNothing(t *testing.T) {
	docs, err := retrieval.InMemory(&axes{err: errCause})(t.Context(), "q")
	require.NoError(t, err)
	require.Empty(t, docs)
}

func TestAFailedEmbeddingIsTriedAgain(t *testing.T) {
	e := &axes{words: []string{"cat"}, err: errCause}
	search := retrieval.InMemory(e, retrieval.Document{Title: "1", Text: "cat"})
	_, err := search(t.Context(), "cat")
	require.ErrorIs(t, err, errCause)
	require.EqualError(t, err, "embed 1 documents: the cause")
	docs, err := search(t.Context(), "cat")
	require.NoError(t, err)
	require.Len(t, docs, 1)
}

// odd is an embedder that returns fixed vectors.
type odd struct {
	docs  [][]float32
	query []float32
	err   error
}

func (o odd) EmbedQuery(context.Context, string) ([]float32, error)         { return o.query, o.err }
func (o odd) EmbedDocuments(context.Context, []string) ([][]float32, error) { return o.docs, nil }

func TestVectorsThatCannotBeAreRefused(t *testing.T) {
	doc := retrieval.Document{Title: "1", Text: "cat"}
	nan := float32(0)
	nan /= nan
	for want, e := range map[string]odd{
		"embed 2 documents: invalid_response: the embedder returned 1 vectors, want 2":    {docs: [][]float32{{1}}},
		"embed 2 documents: invalid_response: vector 1 has 2 dimensions, the first has 1": {docs: [][]float32{{1}, {1, 2}}},
		"embed 2 documents: invalid_response: vector 0 has 0 dimensions, the first has 0": {docs: [][]float32{{}, {}}},
		"embed 2 documents: invalid_response: vector 1 has a number that is not finite":   {docs: [][]float32{{1}, {nan}}},
		"embed query: invalid_response: vector 1 has 2 dimensions, the first has 1":       {docs: [][]float32{{1}, {1}}, query: []float32{1, 2}},
		"embed query: the cause": {docs: [][]float32{{1}, {1}}, query: []float32{1}, err: errCause},
	} {
		_, err := retrieval.InMemory(e, doc, doc)(t.Context(), "q")
		require.EqualError(t, err, want)
		if strings.Contains(want, "invalid") {
			require.Equal(t, providers.InvalidResponse, providers.AsError(err).Kind)
		}
	}
}

// stuck is an embedder that blocks until it is released.
type stuck struct {
	axes
	gate chan struct{}
}

func (s *stuck) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	<-s.gate
	return s.axes.EmbedDocuments(ctx, texts)
}

func TestWhoWaitsForAnotherToEmbedCanLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &stuck{axes: axes{words: []string{"cat"}}, gate: make(chan struct{})}
		search := retrieval.InMemory(e, retrieval.Document{Title: "1", Text: "cat"})
		first := make(chan error, 1)
		go func() {
			_, err := search(t.Context(), "cat")
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := search(ctx, "cat")
		require.True(t, errors.Is(err, context.DeadlineExceeded), "%v", err)
		close(e.gate)
		require.NoError(t, <-first)
		require.Equal(t, 1, e.calls)
	})
}
