package cassette_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/cassette"
)

// A call with private texts is made, but neither recorded nor replayed.
func TestACallWithPrivateTextsIsNotRecorded(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	defer s.Close()
	path := filepath.Join(t.TempDir(), "c.json")
	post := func(ctx context.Context, c *cassette.Cassette, text string) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, strings.NewReader(text))
		require.NoError(t, err)
		resp, err := (&http.Client{Transport: c}).Do(r)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	c, err := cassette.Open(path, cassette.Options{Mode: cassette.Record})
	require.NoError(t, err)
	require.NoError(t, post(t.Context(), c, "public"))
	require.NoError(t, post(providers.WithPrivate(t.Context()), c, "SECRET"))
	require.NoError(t, c.Close())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(raw), "public")
	require.NotContains(t, string(raw), "SECRET")
	c, err = cassette.Open(path, cassette.Options{Mode: cassette.Replay})
	require.NoError(t, err)
	require.ErrorContains(t, post(providers.WithPrivate(t.Context()), c, "SECRET"), "has no calls with private texts")
}
