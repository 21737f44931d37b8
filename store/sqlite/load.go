package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/elenchus-go/debate/store"
)

// Load implements [store.Store]. It returns the data of entries as json.RawMessage and does not check it.
func (s *Store) Load(ctx context.Context, id string, after int64) (h store.Status, entries []store.Entry, err error) {
	err = readTx(ctx, s.readers, func(tx *sql.Tx) error {
		var found bool
		h, found, err = readStatus(ctx, tx, id)
		if err != nil {
			return err
		}
		entries, err = readEntries(ctx, tx, id, max(after, 0))
		if err != nil || found || len(entries) > 0 {
			return err
		}
		if end, err := journalEnd(ctx, tx, id); err != nil || end.seq > 0 {
			return err
		}
		return store.ErrNotFound
	})
	if err != nil {
		return store.Status{}, nil, fmt.Errorf("load debate %s: %w", id, err)
	}
	return h, entries, nil
}

// readEntries returns the entries with a seq greater than after.
func readEntries(ctx context.Context, tx *sql.Tx, id string, after int64) (entries []store.Entry, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT seq, type, coalesce(key, ''), at, data, checksum FROM entries
		WHERE debate = ? AND seq > ? ORDER BY seq`, id, after)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err returns the same error
	var at int64
	var data []byte
	var sum any // scanning into a type of number costs more
	for rows.Next() {
		var e store.Entry
		err := rows.Scan(&e.Seq, &e.Type, &e.Key, &at, &data, &sum)
		if want := after + 1 + int64(len(entries)); e.Seq != want {
			return nil, &store.Damaged{ID: id, Seq: want, Err: errors.New("the entry is missing")}
		}
		if err != nil {
			return nil, &store.Damaged{ID: id, Seq: e.Seq, Err: err}
		}
		e.At, e.Data = time.UnixMicro(at).UTC(), json.RawMessage(data)
		if err := verify(e, id, data, sum); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, rows.Err()
}

// verify returns a *store.Damaged if an entry does not have its checksum, or if the checksum is none.
func verify(e store.Entry, id string, data []byte, sum any) error {
	n, ok := sum.(int64)
	if !ok || n != int64(int32(n)) { //nolint:gosec // this is the question
		return &store.Damaged{ID: id, Seq: e.Seq, Err: fmt.Errorf("its checksum is %v", sum)}
	}
	return e.Verify(id, data, uint32(n)) //nolint:gosec // stored as a signed number
}
