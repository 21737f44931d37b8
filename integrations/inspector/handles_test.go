package inspector

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

func TestTheDebatesOpenedLastAreKept(t *testing.T) {
	w := open(t, Options{})
	h := &handles{}
	for i := range maxHandles + 3 {
		w.create(pair(fmt.Sprint("d", i)))
		_, _, err := h.open(t.Context(), w.engine, fmt.Sprint("d", i))
		require.NoError(t, err)
		_, _, err = h.open(t.Context(), w.engine, "d0")
		require.NoError(t, err)
	}
	require.Len(t, h.list, maxHandles)
	require.NotNil(t, h.find("d0"), "it is used all the time")
	require.Nil(t, h.find("d1"))
	first, _, err := h.open(t.Context(), w.engine, "d0")
	require.NoError(t, err)
	require.Same(t, first, h.find("d0"))

	require.NoError(t, w.engine.Delete(t.Context(), "d0"))
	_, _, err = h.open(t.Context(), w.engine, "d0")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.Nil(t, h.find("d0"))
}

// A debate that is deleted and made again under the same id is shown as it is now.
func TestADebateThatWasReplaced(t *testing.T) {
	w := open(t, Options{})
	w.run(pair("d"))
	require.Contains(t, w.get(http.StatusOK, "/debates/d/past"), "completed")
	require.NoError(t, w.engine.Delete(t.Context(), "d"))
	cfg := pair("d")
	cfg.Topic = "Ban trucks?"
	w.create(cfg)
	page := w.get(http.StatusOK, "/debates/d/past")
	require.Contains(t, page, "Ban trucks?")
	require.Contains(t, page, `data-seq="1" data-state="configuring"`)
	require.Contains(t, w.get(http.StatusOK, "/debates/d/judges"), "Nobody has judged yet.")
}
