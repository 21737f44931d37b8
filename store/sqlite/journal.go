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

// entryRef is where an entry is; zero: nowhere.
type entryRef struct {
	seq   int64
	rowID int64 // of the file: no other entry ever has it
}

// rowQuerier is a database, a connection or a transaction.
type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// journalEnd is where a journal ends; the zero place where there is none.
func journalEnd(ctx context.Context, q rowQuerier, id string) (end entryRef, err error) {
	err = q.QueryRowContext(ctx, `SELECT seq, row FROM entries WHERE debate = ? ORDER BY seq DESC LIMIT 1`, id).Scan(&end.seq, &end.rowID)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return end, err
}

// checkConflict finds conflicts. A turn that stands already counts more than the version.
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

// readEntries reads the entries after a seq.
func readEntries(ctx context.Context, tx *sql.Tx, id string, after int64) (entries []store.Entry, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT seq, type, coalesce(key, ''), at, data FROM entries
		WHERE debate = ? AND seq > ? ORDER BY seq`, id, after)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // its error is that of Err
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
