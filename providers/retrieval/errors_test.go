package retrieval_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/retrieval"
)

// failingEmbedder is an embedder that fails.
type failingEmbedder struct{ err error }

func (b failingEmbedder) EmbedDocuments(context.Context, []string) ([][]float32, error) {
	return nil, b.err
}

func (b failingEmbedder) EmbedQuery(context.Context, string) ([]float32, error) { return nil, b.err }

// The errors of an embedder have the kinds of those of models, and quote no key.
func TestErrorsOfAnEmbedder(t *testing.T) {
	for text, want := range map[string]struct {
		kind  providers.ErrorKind
		quiet string
	}{
		"status code 401: token sk-proj-abcdefgh12345 was refused":                       {providers.Authentication, "token [key] was refused"},
		"status 403: 9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a3928 may not read that": {providers.Authentication, "[key] may not read that"},
		"status code: 402: insufficient balance":                                         {providers.Billing, "insufficient balance"},
		"status code 429: Please wait 7 seconds before retrying.":                        {providers.RateLimit, "7 seconds"},
		"status code 400: maximum context length is 8192":                                {providers.ContextOverflow, "8192"},
		"connection refused": {providers.Network, "refused"},
	} {
		for name, err := range map[string]error{"plain": errors.New(text), "known": &providers.Error{Kind: want.kind, Err: errors.New(text)}} {
			_, err := retrieval.EmbeddingProvider(failingEmbedder{err}, "").Generate(t.Context(), calltest.Ask())
			e := calltest.RequireKind(t, want.kind, err)
			require.ErrorContains(t, e, want.quiet, name)
		}
	}
}
