package inspector

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
)

func TestFollowersShareAPage(t *testing.T) {
	var c cache
	made := 0
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			body, err := c.get(pageKey{id: "cars", seq: 7}, func() ([]byte, error) {
				made++
				if made == 1 {
					return nil, errors.New("the first visitor has left")
				}
				return []byte("page"), nil
			})
			if err == nil {
				require.Equal(t, "page", string(body))
			}
		})
	}
	wg.Wait()
	require.Equal(t, 2, made)
	for i := range 3 * maxCached {
		body, err := c.get(pageKey{id: "cars", seq: int64(i)}, func() ([]byte, error) { return []byte(strconv.Itoa(i)), nil })
		require.NoError(t, err)
		if i != 7 {
			require.Equal(t, strconv.Itoa(i), string(body))
		}
	}
	require.Len(t, c.pages, maxCached)
}

// Pages that are shared are never older than the debate, and nobody gets another seat's page or that of a deleted debate.
func TestSharedPagesAreCurrent(t *testing.T) {
	w := open(t, Options{})
	d := w.create(pair("cars"))
	for i := range 5 {
		require.NoError(t, d.Inject(t.Context(), debate.Remark{From: "Zoe", Text: fmt.Sprintf("Remark %d.", i)}))
		for range 2 {
			require.Contains(t, w.get(http.StatusOK, "/debates/cars"), fmt.Sprintf("Remark %d.", i))
			require.NotContains(t, w.get(http.StatusOK, "/debates/cars?before=3"), fmt.Sprintf("Remark %d.", i+1))
		}
	}
	require.Contains(t, w.get(http.StatusOK, "/debates/cars?seat=Bo"), "You speak for")
	require.NotContains(t, w.get(http.StatusOK, "/debates/cars"), "You speak for")
	require.NoError(t, w.engine.Delete(t.Context(), "cars"))
	w.get(http.StatusNotFound, "/debates/cars")
	next := pair("cars")
	next.Topic = "Ban planes?"
	d = w.create(next)
	for i := range 5 {
		require.NoError(t, d.Inject(t.Context(), debate.Remark{From: "Zoe", Text: fmt.Sprintf("Note %d.", i)}))
	}
	page := w.get(http.StatusOK, "/debates/cars")
	require.Equal(t, 0, strings.Count(page, "Remark "))
	require.Contains(t, page, "Ban planes?")
}
