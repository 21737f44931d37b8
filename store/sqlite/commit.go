package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/elenchus-go/debate/store"
)

// Commit implements [store.Store]. It ignores the end of ctx once it holds the write lock.
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
		s.watchers.notify(c.ID, end)
	}
	return nil
}

// commit writes the change and returns the last entry that it wrote.
func (s *Store) commit(ctx context.Context, c store.Change) (end entryRef, err error) {
	data, status, err := encode(c)
	if err != nil {
		return end, err
	}
	if err := s.inPlace(); err != nil {
		return end, err
	}
	err = writeTx(ctx, s.writer, func(ctx context.Context, tx *sql.Tx) error {
		before, err := s.statements.readBefore(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		if before.end.seq != c.After {
			return conflict(ctx, tx, c, before.end)
		}
		add := tx.StmtContext(ctx, s.statements.addEntry)
		for i, e := range c.Entries {
			sum := int32(e.Checksum(c.ID, data[i])) //nolint:gosec // the sign is only another reading of a bit
			result, err := add.ExecContext(ctx, c.ID, e.Seq, e.Type, sql.NullString{String: e.Key, Valid: e.Key != ""}, e.At.UnixMicro(), string(data[i]), sum)
			if failed, ok := errors.AsType[*driver.Error](err); ok && failed.Code() == codes.SQLITE_CONSTRAINT_UNIQUE && e.Key != "" {
				return &store.Conflict{ID: c.ID, After: c.After, LastSeq: before.end.seq, Key: e.Key}
			}
			if err != nil {
				return fmt.Errorf("entry %d: %w", e.Seq, err)
			}
			end.seq = e.Seq
			end.rowID, _ = result.LastInsertId() // this driver never returns an error
		}
		return s.statements.writeStatus(ctx, tx, before, c.Status, status)
	})
	return end, err
}

// encode returns the JSON of the entries' data and of the status.
func encode(c store.Change) (data [][]byte, status string, err error) {
	for _, e := range c.Entries {
		text, err := json.Marshal(e.Data)
		if err != nil {
			return nil, "", fmt.Errorf("encode entry %d: %w", e.Seq, err)
		}
		data = append(data, text)
	}
	c.Status.Driver = store.Heartbeat{}
	text, err := json.Marshal(c.Status)
	if err != nil {
		return nil, "", fmt.Errorf("encode status: %w", err)
	}
	return data, string(text), nil
}

// Delete implements [store.Store]. It ignores the end of ctx once it holds the write lock, but not while it waits until it
// can remove the texts from the files.
func (s *Store) Delete(ctx context.Context, id string, last int64) error {
	err := writeTx(ctx, s.writer, func(ctx context.Context, tx *sql.Tx) error {
		var known bool
		err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM entries WHERE debate = ?1) OR EXISTS (SELECT 1 FROM debates WHERE id = ?1)`, id).Scan(&known)
		if err == nil && !known {
			err = store.ErrNotFound
		}
		if err != nil {
			return err
		}
		if end, err := journalEnd(ctx, tx, id); err != nil {
			return err
		} else if last != 0 && last != end.seq {
			return &store.Conflict{ID: id, After: last, LastSeq: end.seq}
		}
		for _, statement := range []string{
			`DELETE FROM entries WHERE debate = ?`, `DELETE FROM debates WHERE id = ?`, `DELETE FROM labels WHERE debate = ?`,
			`DELETE FROM heartbeats WHERE debate = ?`,
		} {
			if _, err := tx.ExecContext(ctx, statement, id); err != nil {
				return err
			}
		}
		return nil
	})
	if _, conflict := errors.AsType[*store.Conflict](err); conflict {
		return err
	}
	if err == nil {
		s.watchers.notify(id, entryRef{})
	}
	if err == nil || errors.Is(err, store.ErrNotFound) { // an earlier deletion may have left texts
		err = errors.Join(err, s.erase(ctx))
	}
	if err != nil {
		return fmt.Errorf("delete debate %s: %w", id, err)
	}
	return nil
}
