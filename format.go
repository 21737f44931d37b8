package debate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/elenchus-go/debate/store"
)

// NewerFormat reports that a newer version of the library has written the journal of a debate. The engine leaves the debate alone:
// it neither reads nor changes the journal, and only Delete and DeleteAll remove it. The cause is ErrUnsupported, because an engine
// of the newer version can go on.
type NewerFormat struct {
	ID     string // of the debate
	Format int    // of its journal, higher than store.Format
}

// Error says which format the journal has, and which one this version reads.
func (n *NewerFormat) Error() string {
	return fmt.Sprintf(
		"the journal of debate %s has format %d, this version of the library reads format %d",
		n.ID,
		n.Format,
		store.Format,
	)
}

// Unwrap returns ErrUnsupported.
func (n *NewerFormat) Unwrap() error { return ErrUnsupported }

// watchedStore is a store that can be watched.
type watchedStore interface {
	store.Store
	store.Watcher
}

// readableStore is a store from which an engine loads only journals that it can read.
type readableStore struct{ watchedStore }

// Load implements store.Store. It returns a *NewerFormat if an entry has a newer format. A status alone does not decide, because it
// may be wrong; it only says that the entry may be an earlier one.
func (s readableStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	status, entries, err := s.watchedStore.Load(ctx, id, after)
	all := entries
	if err == nil && after > 0 && status.Format > store.Format {
		_, all, err = s.watchedStore.Load(ctx, id, 0)
	}
	if err != nil {
		return store.Status{}, nil, err
	}
	for i := range all {
		if n := formatIn(&all[i]); n > store.Format {
			return store.Status{}, nil, &NewerFormat{ID: id, Format: n}
		}
	}
	return status, entries, nil
}

// formatIn returns the format in an entry. It returns 0 if the entry has no configuration, or cannot be read.
func formatIn(e *store.Entry) int {
	if e.Type != "config" {
		return 0
	}
	var c struct {
		Format int `json:"format"`
	}
	switch data := e.Data.(type) {
	case ConfigChanged:
		c.Format = data.Format
	case json.RawMessage:
		if json.Unmarshal(data, &c) != nil {
			return 0
		}
	}
	return c.Format
}
