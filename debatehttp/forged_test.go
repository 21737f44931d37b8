package debatehttp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/debatehttp"
	"github.com/elenchus-go/debate/internal/forgedtest"
	"github.com/elenchus-go/debate/store"
)

// A stored debate that is damaged or forged is a problem that names the entry. Other debates are served.
func TestAForgedDebateIsAProblem(t *testing.T) {
	for _, f := range forgedtest.Forgeries(t) {
		t.Run(f.Name, func(t *testing.T) {
			s := store.Memory()
			_, err := forgedtest.Put(t, s, f.Journal)
			require.NoError(t, err)
			e, err := debate.NewEngine(debate.Options{Store: s})
			require.NoError(t, err)
			h, err := debatehttp.New(e, debatehttp.Options{Authorize: debatehttp.AllowEveryone})
			require.NoError(t, err)
			for _, path := range []string{"", "/result", "/report", "/report?format=html&full=true", "/waiting", "/events"} {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debates/d"+path, nil))
				var p debatehttp.Problem
				require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p), "%s: %s", path, w.Body)
				require.Equal(t, http.StatusInternalServerError, w.Code, path)
				require.Contains(t, p.Type, "#damaged", path)
				require.Equal(t, fmt.Sprintf("entry %d of debate d is missing, damaged or forged", f.Entry), p.Detail, path)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debates", nil))
			require.Equal(t, http.StatusOK, w.Code)
		})
	}
}
