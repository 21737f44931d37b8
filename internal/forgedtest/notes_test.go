package forgedtest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/debatehttp"
	"github.com/elenchus-go/debate/inspector"
	"github.com/elenchus-go/debate/internal/forgedtest"
	"github.com/elenchus-go/debate/store"
)

// Results, pages and reports stay small, even if large notes are stored.
func TestLargeStoredNotesDoNotFillAnswers(t *testing.T) {
	s := store.Memory()
	id, err := forgedtest.Put(t, s, forgedtest.Exports(t)["procon"])
	require.NoError(t, err)
	sizes := func() (list []int) {
		e, err := debate.NewEngine(debate.Options{Store: s})
		require.NoError(t, err)
		api, err := debatehttp.New(e, debatehttp.Options{Authorize: debatehttp.AllowEveryone})
		require.NoError(t, err)
		pages, err := inspector.Handler(e, inspector.Options{Authorize: debatehttp.AllowEveryone})
		require.NoError(t, err)
		for _, x := range []struct {
			h    http.Handler
			path string
		}{{api, "/result"}, {api, "/report"}, {api, "/report?format=html"}, {api, "/report?format=markdown"}, {pages, ""}, {pages, "/past?seq=9"}} {
			w := httptest.NewRecorder()
			x.h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debates/"+id+x.path, nil))
			require.Equal(t, http.StatusOK, w.Code, x.path)
			list = append(list, w.Body.Len())
		}
		return list
	}
	before := sizes()
	status, entries, err := s.Load(t.Context(), id, 0)
	require.NoError(t, err)
	at := entries[len(entries)-1].At
	for i := range 20 {
		for _, note := range []debate.Annotated{
			{Name: fmt.Sprint("big", i), Value: json.RawMessage(`"` + strings.Repeat("<", 1<<20) + `"`)},
			{Name: fmt.Sprint("small", i), Value: json.RawMessage(`"` + strings.Repeat("x", 3000) + `"`)},
			{Name: strings.Repeat("n", 5000+i), Value: json.RawMessage(`1`)},
			{Name: "rating", Value: json.RawMessage(`"` + strings.Repeat("r", 1<<20) + `"`)},
		} {
			after := status.Seq
			status.Seq++
			note.EventMeta, note.At = debate.EventMeta{Type: "annotated", Seq: status.Seq}, at
			require.NoError(t, s.Commit(t.Context(), store.Change{ID: id, After: after, Status: status, Entries: []store.Entry{{Seq: status.Seq, Type: "annotated", At: at, Data: note}}}))
		}
	}
	for i, size := range sizes() {
		most := 80 << 10
		if i >= 4 { // pages of the inspector
			most = 10 << 10
		}
		require.Less(t, size-before[i], most, "answer %d", i)
	}
}
