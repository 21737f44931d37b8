package inspector_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/inspector"
	"github.com/elenchus-go/debate/internal/test/forgedtest"
	"github.com/elenchus-go/debate/store"
)

// The page of a stored debate that is damaged or forged names the entry. The list is shown.
func TestAForgedDebateHasAPageThatNamesTheEntry(t *testing.T) {
	forgedtest.InStores(t, func(t *testing.T, e *debate.Engine, s store.Store, message string) {
		h, err := inspector.Handler(e, inspector.Options{Authorize: debatehttp.AllowEveryone, Store: s, Controls: true})
		require.NoError(t, err)
		for _, path := range []string{"", "/judges", "/past?seq=3", "/archive", "/family", "/fork"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debates/d"+path, nil))
			require.Equal(t, http.StatusInternalServerError, w.Code, path)
			require.Contains(t, w.Body.String(), message+" is missing, damaged or forged", path)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		require.Equal(t, http.StatusOK, w.Code)
		require.Contains(t, w.Body.String(), "debates/d")
	})
}
