package debatehttp_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/test/forgedtest"
	"github.com/elenchus-go/debate/store"
)

// A stored debate that is damaged or forged is a problem that names the entry. Other debates are served.
func TestAForgedDebateIsAProblem(t *testing.T) {
	forgedtest.InStores(t, func(t *testing.T, e *debate.Engine, _ store.Store, message string) {
		h, err := debatehttp.New(e, debatehttp.Options{Authorize: debatehttp.AllowEveryone})
		require.NoError(t, err)
		for _, path := range []string{"", "/result", "/report", "/report?format=html&full=true", "/waiting", "/events"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debates/d"+path, nil))
			var p debatehttp.Problem
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p), "%s: %s", path, w.Body)
			require.Equal(t, http.StatusInternalServerError, w.Code, path)
			require.Contains(t, p.Type, "#damaged", path)
			require.Equal(t, message+" is missing, damaged or forged", p.Detail, path)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debates", nil))
		require.Equal(t, http.StatusOK, w.Code)
	})
}
