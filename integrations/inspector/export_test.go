package inspector

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
)

// What a visitor downloads can be imported into another store.
func TestAnArchiveIsDownloaded(t *testing.T) {
	kept := store.Memory()
	e := debatetest.Engine(t, debate.Options{Store: kept, Providers: map[string]providers.Provider{"model": offline.Model(false)}})
	w := serve(t, e, Options{Store: kept, Authorize: func(_ context.Context, a *debatehttp.Access) error {
		if a.Action == debatehttp.FullReport && a.Debate.ID == "secret" {
			return errors.New("no")
		}
		return nil
	}})
	d := w.run(pair("cars"))
	w.create(pair("secret"))
	require.Contains(t, w.get(http.StatusOK, "/debates/cars"), `href="../debates/cars/archive" download`)
	var j archive.Journal
	require.NoError(t, json.Unmarshal([]byte(w.get(http.StatusOK, "/debates/cars/archive")), &j))
	other := store.Memory()
	require.NoError(t, archive.Import(t.Context(), other, &j))
	s := debatetest.Status(t, d)
	moved, entries, err := other.Load(t.Context(), "cars", 0)
	require.NoError(t, err)
	require.Len(t, entries, int(s.Seq))
	require.Equal(t, s.Ending, moved.Ending)

	w.get(http.StatusForbidden, "/debates/secret/archive")
	without := open(t, Options{})
	without.create(pair("cars"))
	without.get(http.StatusNotFound, "/debates/cars/archive")
	require.NotContains(t, without.get(http.StatusOK, "/debates/cars"), "archive")
}
