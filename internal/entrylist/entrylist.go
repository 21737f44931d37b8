// Package entrylist reads the stored entries of journals, and checks more of them than reading does: that each turn, question and
// failure is of a step that could run, with the values of that step, that numbers add up, and that a step, repeated without a call,
// gives its turn.
package entrylist

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/elenchus-go/debate/store"
)

// Decode returns the entries with what decode returns as their data. It decodes long lists on all processors. Entries that it
// cannot decode are unchanged.
func Decode[E any](list []store.Entry, decode func(store.Entry) (E, error)) []store.Entry {
	const each = 256
	if len(list) <= each {
		return list
	}
	list = slices.Clone(list)
	var all sync.WaitGroup
	for some := range slices.Chunk(list, each) {
		all.Go(func() {
			for i, e := range some {
				if ev, err := decode(e); err == nil {
					some[i].Data = ev
				}
			}
		})
	}
	all.Wait()
	return list
}

// All returns all entries of a debate. kept are its first entries if the debate was created at the given time: then only the others
// are read from the store.
func All(ctx context.Context, s store.Store, id string, kept []store.Entry, created time.Time) ([]store.Entry, error) {
	status, list, err := s.Load(ctx, id, int64(len(kept)))
	if err != nil || len(kept) == 0 {
		return list, err
	}
	if IsOther(status, created) || status.Seq < int64(len(kept)) {
		_, list, err = s.Load(ctx, id, 0)
		return list, err
	}
	return append(kept, list...), nil
}

// The waits of Read before it tries again, which double.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute
)

// Read calls each with the entries of a debate from first to last. It logs why the store fails, and tries again until ctx ends.
func Read(ctx context.Context, s store.Store, id string, first, last int64, log *slog.Logger, each func(store.Entry)) {
	for again := minBackoff; first <= last; again = min(2*again, maxBackoff) {
		_, list, err := s.Load(ctx, id, first-1)
		for _, entry := range list {
			if entry.Seq > last {
				break
			}
			each(entry)
			first = entry.Seq + 1
		}
		if err == nil || errors.Is(err, store.ErrNotFound) {
			return
		}
		log.WarnContext(ctx, "read events for the observer", "debate", id, "error", err)
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return
		}
	}
}

// SetFields returns a JSON object with other fields.
func SetFields(object json.RawMessage, fields map[string]any) (json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(object, &all); err != nil {
		return nil, err
	}
	for name, v := range fields {
		all[name], _ = json.Marshal(v)
	}
	return json.Marshal(all)
}

// IsOther reports whether a stored status is wrong or of another debate than the one that was created at a time: a new
// debate can have the id of a deleted one.
func IsOther(stored store.Status, created time.Time) bool {
	return stored.Created.Sub(created).Abs() > time.Millisecond
}

// Find returns the index of the entry with a key, or -1.
func Find(list []store.Entry, key string) int {
	return slices.IndexFunc(list, func(e store.Entry) bool { return e.Key == key })
}
