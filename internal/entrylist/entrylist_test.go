package entrylist_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/entrylist"
	"github.com/elenchus-go/debate/store"
)

func TestLongListsAreDecodedInParts(t *testing.T) {
	list := make([]store.Entry, 600)
	for i := range list {
		list[i] = store.Entry{Seq: int64(i + 1), Data: "stored"}
	}
	got := entrylist.Decode(list, func(e store.Entry) (int64, error) {
		if e.Seq == 300 {
			return 0, errors.New("damaged")
		}
		return e.Seq, nil
	})
	require.Equal(t, int64(600), got[599].Data)
	require.Equal(t, "stored", got[299].Data)
	require.Equal(t, "stored", list[599].Data, "the list of the caller stays")
}

func TestFieldsOfAnObject(t *testing.T) {
	got, err := entrylist.SetFields(json.RawMessage(`{"id": "a", "topic": "x"}`), map[string]any{"id": "b", "seed": "a"})
	require.NoError(t, err)
	require.JSONEq(t, `{"id": "b", "topic": "x", "seed": "a"}`, string(got))
	_, err = entrylist.SetFields(json.RawMessage(`[]`), nil)
	require.Error(t, err)
}

func TestReadTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &failing{Store: store.Memory()}
		entries := []store.Entry{{Seq: 1, Type: "a"}, {Seq: 2, Type: "b"}, {Seq: 3, Type: "c"}}
		require.NoError(t, s.Commit(t.Context(), store.Change{ID: "d", Entries: entries, Status: store.Status{ID: "d", Seq: 3}}))
		read := ""
		entrylist.Read(t.Context(), s, "d", 1, 2, slog.New(slog.DiscardHandler), func(e store.Entry) { read += e.Type })
		require.Equal(t, "ab", read)
		require.Equal(t, 3, s.calls)
	})
}

// failing fails twice.
type failing struct {
	store.Store
	calls int
}

func (f *failing) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	f.calls++
	if f.calls < 3 {
		return store.Status{}, nil, errors.New("it is down")
	}
	return f.Store.Load(ctx, id, after)
}
