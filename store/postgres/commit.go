package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/elenchus-go/debate/store"
)

const readCommitted = "read committed"

// batchSender is implemented by *pgxpool.Pool and pgx.Tx.
type batchSender interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, c store.Change) error {
	if err := s.commit(ctx, s.pool, c, false); err != nil {
		return err
	}
	s.committed(c)
	return nil
}

// committed tells all stores of a change.
func (s *Store) committed(c store.Change) {
	if len(c.Entries) > 0 {
		s.watchers.notify(c.ID, c.Status.Seq)
		s.announce(c.ID, c.Status.Seq)
	}
}

// CommitWith commits the change, and what write does, in one transaction. If write returns an error, nothing is committed
// and CommitWith returns the error.
func (s *Store) CommitWith(ctx context.Context, c store.Change, write func(pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := s.commit(ctx, tx, c, false); err != nil {
			return err
		}
		return write(tx)
	})
	if err != nil {
		return Unavailable(err)
	}
	s.committed(c)
	return nil
}

// CommitTx commits the change within tx, which must be READ COMMITTED. The change takes effect when you commit tx.
// Until then, other commits to the debate wait. PostgreSQL lets only one transaction at a time notify, so many
// concurrent transactions are slower than Commit and CommitWith, which notify later. After a *store.Conflict nothing of
// the change is written and you can continue with tx. After any other error roll it back.
func (s *Store) CommitTx(ctx context.Context, tx pgx.Tx, c store.Change) error {
	return s.commit(ctx, tx, c, true)
}

// commit writes a change. With notify, it notifies all stores in the same transaction.
func (s *Store) commit(ctx context.Context, to batchSender, c store.Change, notify bool) error {
	if err := c.Check(); err != nil {
		return err
	}
	args, err := s.commitArgs(c, notify)
	if err != nil {
		return fmt.Errorf("commit to debate %s: %w", c.ID, err)
	}
	var last, told int64
	var key *string
	var isolation string
	if err := s.execLocked(ctx, to, c.ID, s.sql.commit, args, &last, &key, &isolation, &told); err != nil {
		return fmt.Errorf("commit to debate %s: %w", c.ID, err)
	}
	switch {
	case isolation != readCommitted:
		return fmt.Errorf("commit to debate %s: %w", c.ID, isolationError(isolation))
	case key != nil:
		return &store.Conflict{ID: c.ID, After: c.After, LastSeq: last, Key: *key}
	case last != c.After:
		return &store.Conflict{ID: c.ID, After: c.After, LastSeq: last}
	}
	return nil
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, id string, last int64) error {
	var known bool
	var end int64
	var isolation string
	err := s.execLocked(ctx, s.pool, id, s.sql.remove, []any{id, last}, &known, &end, &isolation)
	switch {
	case err != nil:
	case isolation != readCommitted:
		err = isolationError(isolation)
	case !known:
		err = store.ErrNotFound
	case last != 0 && last != end:
		return &store.Conflict{ID: id, After: last, LastSeq: end}
	}
	if err != nil {
		return fmt.Errorf("delete debate %s: %w", id, err)
	}
	s.watchers.notify(id, 0)
	s.announce(id, 0)
	return nil
}

// execLocked runs a statement that returns one row, while it holds the lock of the debate. Outside a transaction, both
// statements form one transaction and one round trip.
func (s *Store) execLocked(ctx context.Context, to batchSender, id, sql string, args []any, row ...any) error {
	var b pgx.Batch
	b.Queue(s.sql.lock, s.lockKey(id))
	b.Queue(sql, args...).QueryRow(func(r pgx.Row) error { return r.Scan(row...) })
	return Unavailable(to.SendBatch(ctx, &b).Close())
}

// isolationError returns an error for a transaction that would not see what others commit while it waits for the lock.
func isolationError(level string) error {
	return fmt.Errorf("transaction isolation is %q, want %q", level, readCommitted)
}

// commitArgs returns the arguments of commitSQL.
func (s *Store) commitArgs(c store.Change, notify bool) ([]any, error) {
	var (
		seqs        []int64
		types, data []string
		keys        []*string
		times       []time.Time
		sums        []int32
	)
	for _, e := range c.Entries {
		text, err := encode(e.Data)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", e.Seq, err)
		}
		if strings.ContainsRune(e.Type+e.Key, 0) {
			return nil, fmt.Errorf("entry %d: type %q, key %q: want no zero byte", e.Seq, e.Type, e.Key)
		}
		e.Type, e.Key = validUTF8(e.Type), validUTF8(e.Key)
		seqs = append(seqs, e.Seq)
		types = append(types, e.Type)
		keys = append(keys, nullable(e.Key))
		times, data = append(times, e.At), append(data, text)
		sums = append(sums, int32(e.Checksum(c.ID, []byte(text)))) //nolint:gosec // the sign is only another reading of a bit
	}
	c.Status.Driver = store.Heartbeat{}
	status, err := encode(c.Status)
	if err != nil {
		return nil, fmt.Errorf("status: %w", err)
	}
	return []any{
		c.ID, c.After, notify && len(seqs) > 0, seqs, types, keys, times, data,
		string(c.Status.State), validUTF8(string(c.Status.Ending.Outcome)), validUTF8(c.Status.FailureKind),
		labelPairs(c.Status.Labels, c.Status.Waiting, c.Status.Parent.ID), c.Status.Created, c.Status.Updated, status,
		s.schema, notification("", c.Status.Seq, c.ID), sums,
	}, nil
}

// encode returns v as JSON that PostgreSQL accepts.
func encode(v any) (string, error) {
	text, err := json.Marshal(v)
	return validUTF8(string(text)), err
}

// validUTF8 replaces invalid UTF-8 in s, as encoding/json does.
func validUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// nullable returns nil for an empty string, which SQL stores as null.
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// labelPairs encodes each label as a JSON array of key and value, so that both may contain any character. The list is
// sorted. A name that a debate waits for is an array of one text, and the debate that a fork was made of an array of three.
func labelPairs(labels map[string]string, waiting []string, parent string) []string {
	list := make([]string, 0, len(labels)+len(waiting)+1)
	if parent != "" {
		text, _ := json.Marshal([3]string{"parent", "", parent})
		list = append(list, string(text))
	}
	for _, name := range waiting {
		text, _ := json.Marshal([1]string{name})
		list = append(list, string(text))
	}
	for k, v := range labels {
		text, _ := json.Marshal([2]string{k, v})
		list = append(list, string(text))
	}
	slices.Sort(list) // so that the same labels are the same array
	return slices.Compact(list)
}
