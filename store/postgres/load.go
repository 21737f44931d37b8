package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/elenchus-go/debate/store"
)

// Load implements store.Store.
func (s *Store) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	status, entries, err := s.load(ctx, id, max(after, 0))
	if err != nil {
		return store.Status{}, nil, fmt.Errorf("load debate %s: %w", id, Unavailable(err))
	}
	return status, entries, nil
}

func (s *Store) load(ctx context.Context, id string, after int64) (status store.Status, entries []store.Entry, err error) {
	rows, err := s.pool.Query(ctx, s.sql.load, id, after)
	if err != nil {
		return status, nil, err
	}
	defer rows.Close()
	var row row
	for next := after; rows.Next(); next++ {
		if next == after {
			status, err = readStatus(rows, id)
		} else {
			entries, err = row.readEntry(rows, id, next, entries)
		}
		if err != nil {
			return status, nil, err
		}
	}
	return status, entries, rows.Err()
}

// readStatus reads the first row, which describes the debate.
func readStatus(rows pgx.Rows, id string) (store.Status, error) {
	var text, beat *string
	var known bool
	switch err := rows.Scan(nil, nil, nil, nil, &text, &known, &beat, nil); {
	case err != nil:
		return store.Status{}, fmt.Errorf("status: %w", err)
	case !known:
		return store.Status{}, store.ErrNotFound
	case text == nil:
		return store.Status{ID: id}, nil
	}
	status, err := decodeStatus(id, *text)
	if err != nil {
		status = store.Status{ID: id} // the entries are authoritative
	}
	status.Driver = decodeHeartbeat(beat)
	return status, nil
}

// row is where the rows of entries are scanned to, one after another.
type row struct {
	seq  int64
	kind string
	key  pgtype.Text
	at   time.Time
	data []byte
	sum  int32
}

// readEntry reads the next row and appends it to entries. It returns an error if the row is not that of entry seq.
func (r *row) readEntry(rows pgx.Rows, id string, seq int64, entries []store.Entry) ([]store.Entry, error) {
	if err := rows.Scan(&r.seq, &r.kind, &r.key, &r.at, &r.data, nil, nil, &r.sum); err != nil {
		return nil, &store.Damaged{ID: id, Seq: seq, Err: err}
	}
	if r.seq != seq {
		return nil, &store.Damaged{ID: id, Seq: seq, Err: errors.New("the entry is missing")}
	}
	e := store.Entry{Seq: seq, Type: r.kind, Key: r.key.String, At: r.at.UTC(), Data: json.RawMessage(r.data)}
	if err := e.Verify(id, r.data, uint32(r.sum)); err != nil { //nolint:gosec // stored as a signed number
		return nil, err
	}
	return append(entries, e), nil
}

// decodeStatus decodes the status of the debate id.
func decodeStatus(id, text string) (store.Status, error) {
	var h store.Status
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return store.Status{}, err
	}
	if h.ID != id {
		return store.Status{}, fmt.Errorf("it has the id %q", h.ID)
	}
	return h, nil
}
