package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/elenchus-go/debate/store"
)

// Commit implements [store.Store]. An ended context is heeded until the write lock is taken.
func (s *Store) Commit(ctx context.Context, c store.Change) error {
	if err := c.Check(); err != nil {
		return err
	}
	end, err := s.commit(ctx, c)
	if _, conflict := errors.AsType[*store.Conflict](err); conflict {
		return err
	}
	if err != nil {
		return fmt.Errorf("commit to debate %s: %w", c.ID, err)
	}
	if len(c.Entries) > 0 {
		s.watchers.tell(c.ID, end)
	}
	return nil
}

// commit gives the entry that the journal ends at then.
func (s *Store) commit(ctx context.Context, c store.Change) (end place, err error) {
	data, head, err := encode(c)
	if err != nil {
		return end, err
	}
	err = update(ctx, s.write, func(ctx context.Context, tx *sql.Tx) error {
		if err := check(ctx, tx, c); err != nil {
			return err
		}
		for i, e := range c.Entries {
			result, err := tx.ExecContext(ctx, `INSERT INTO entries (debate, seq, type, key, at, data) VALUES (?, ?, ?, ?, ?, ?)`,
				c.ID, e.Seq, e.Type, sql.NullString{String: e.Key, Valid: e.Key != ""}, e.At.UnixMicro(), data[i])
			if err != nil {
				return fmt.Errorf("entry %d: %w", e.Seq, err)
			}
			end.seq = e.Seq
			end.row, _ = result.LastInsertId() // of this driver never an error
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO debates (id, created, state, head) VALUES (?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET created = excluded.created, state = excluded.state, head = excluded.head`,
			c.ID, c.Head.Created.UnixMicro(), c.Head.State, head)
		return err
	})
	return end, err
}

// encode gives the JSON of the entries' data and of the head.
func encode(c store.Change) (data []string, head string, err error) {
	for _, e := range c.Entries {
		text, err := json.Marshal(e.Data)
		if err != nil {
			return nil, "", fmt.Errorf("encode entry %d: %w", e.Seq, err)
		}
		data = append(data, string(text))
	}
	text, err := json.Marshal(c.Head)
	if err != nil {
		return nil, "", fmt.Errorf("encode the head: %w", err)
	}
	return data, string(text), nil
}

// check finds conflicts. A turn that stands already counts more than the version.
func check(ctx context.Context, tx *sql.Tx, c store.Change) error {
	end, err := last(ctx, tx, c.ID)
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
			return &store.Conflict{ID: c.ID, After: c.After, Last: end.seq, Key: e.Key}
		}
	}
	if end.seq != c.After {
		return &store.Conflict{ID: c.ID, After: c.After, Last: end.seq}
	}
	return nil
}

// place is where an entry is; zero: nowhere.
type place struct {
	seq int64
	row int64 // of the file: no other entry ever has it
}

// queryer is a database, a connection or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// last is where a journal ends; the zero place where there is none.
func last(ctx context.Context, q queryer, id string) (end place, err error) {
	err = q.QueryRowContext(ctx, `SELECT seq, row FROM entries WHERE debate = ? ORDER BY seq DESC LIMIT 1`, id).Scan(&end.seq, &end.row)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return end, err
}

// Delete implements [store.Store]. An ended context is heeded until the write lock is taken.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := update(ctx, s.write, func(ctx context.Context, tx *sql.Tx) error {
		found := int64(0)
		for _, statement := range []string{`DELETE FROM entries WHERE debate = ?`, `DELETE FROM debates WHERE id = ?`} {
			result, err := tx.ExecContext(ctx, statement, id)
			if err != nil {
				return err
			}
			n, _ := result.RowsAffected() // of this driver never an error
			found += n
		}
		if found == 0 {
			return store.ErrNotFound
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete debate %s: %w", id, err)
	}
	s.watchers.tell(id, place{})
	return nil
}
