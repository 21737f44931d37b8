package sqlite

import (
	"context"
	"database/sql"
	"errors"

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

// conflict returns the *store.Conflict of a change that was not computed on end. A duplicate turn takes precedence over
// the outdated After.
func conflict(ctx context.Context, tx *sql.Tx, c store.Change, end entryRef) error {
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
	return &store.Conflict{ID: c.ID, After: c.After, LastSeq: end.seq}
}
