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

// entryRef identifies an entry. The zero value means that there is none.
type entryRef struct {
	seq   int64
	rowID int64 // row of the file, never reused
}

// rowQuerier is implemented by *sql.DB, *sql.Conn and *sql.Tx.
type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// journalEnd returns the last entry of a journal, or the zero entryRef if there is none.
func journalEnd(ctx context.Context, q rowQuerier, id string) (end entryRef, err error) {
	err = q.QueryRowContext(ctx, `SELECT seq, row FROM entries WHERE debate = ? ORDER BY seq DESC LIMIT 1`, id).Scan(&end.seq, &end.rowID)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return end, err
}

// checkConflict returns a *store.Conflict if c conflicts with the journal. A duplicate turn takes precedence over an
// outdated After.
func checkConflict(ctx context.Context, tx *sql.Tx, c store.Change) error {
	end, err := journalEnd(ctx, tx, c.ID)
	if err != nil {
		return err
	}
	for _, e := range c.Entries {
		if e.Key == "" {
			continue
		}
		var stands bool
		err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM entries WHERE debate = ? AND key = ?)`, c.ID, e.Key).Scan(&stands)
		if err != nil {
			return err
		}
		if stands {
			return &store.Conflict{ID: c.ID, After: c.After, LastSeq: end.seq, Key: e.Key}
		}
	}
	if end.seq != c.After {
		return &store.Conflict{ID: c.ID, After: c.After, LastSeq: end.seq}
	}
	return nil
}

// Load implements [store.Store]. It returns the data of entries as json.RawMessage and does not check it.
func (s *Store) Load(ctx context.Context, id string, after int64) (h store.Status, entries []store.Entry, err error) {
	err = readTx(ctx, s.readers, func(tx *sql.Tx) error {
		var found bool
		if h, found, err = readStatus(ctx, tx, id); err != nil {
			return err
		}
		if entries, err = readEntries(ctx, tx, id, max(after, 0)); err != nil || found || len(entries) > 0 {
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
	rows, err := tx.QueryContext(ctx, `SELECT seq, type, coalesce(key, ''), at, data FROM entries
		WHERE debate = ? AND seq > ? ORDER BY seq`, id, after)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err returns the same error
	for rows.Next() {
		var e store.Entry
		var at int64
		var data []byte
		err := rows.Scan(&e.Seq, &e.Type, &e.Key, &at, &data)
		if want := after + 1 + int64(len(entries)); e.Seq != want {
			return nil, fmt.Errorf("entry %d is missing", want)
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", e.Seq, err)
		}
		e.At, e.Data = time.UnixMicro(at).UTC(), json.RawMessage(data)
		entries = append(entries, e)
	}
	return entries, rows.Err()
}
