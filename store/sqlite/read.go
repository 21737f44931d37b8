package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/elenchus-go/debate/store"
)

const page = 200 // heads that List reads at once

// Load implements [store.Store]. The data of entries is given as json.RawMessage, unchecked.
func (s *Store) Load(ctx context.Context, id string, after int64) (h store.Head, entries []store.Entry, err error) {
	err = view(ctx, s.read, func(tx *sql.Tx) error {
		var found bool
		if h, found, err = head(ctx, tx, id); err != nil {
			return err
		}
		if entries, err = journal(ctx, tx, id, max(after, 0)); err != nil || found || len(entries) > 0 {
			return err
		}
		if end, err := last(ctx, tx, id); err != nil || end.seq > 0 {
			return err
		}
		return store.ErrNotFound
	})
	if err != nil {
		return store.Head{}, nil, fmt.Errorf("load debate %s: %w", id, err)
	}
	return h, entries, nil
}

// head is what the store knows of a debate's head; with the ID alone where that is lost or cannot be read.
func head(ctx context.Context, tx *sql.Tx, id string) (h store.Head, found bool, err error) {
	var text []byte
	err = tx.QueryRowContext(ctx, `SELECT head FROM debates WHERE id = ?`, id).Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return store.Head{ID: id}, false, nil
	case err != nil:
		return h, false, err
	}
	if h, err = decode(id, text); err != nil {
		h = store.Head{ID: id}
	}
	return h, true, nil
}

func decode(id string, text []byte) (h store.Head, err error) {
	err = json.Unmarshal(text, &h)
	if err == nil && h.ID != id {
		err = fmt.Errorf("it is that of %q", h.ID)
	}
	return h, err
}

// List implements [store.Store]. It reads page by page and holds nothing meanwhile, so the loop may use the store, and
// sees or misses what is committed while it runs.
func (s *Store) List(ctx context.Context, q store.Query) iter.Seq2[store.Head, error] {
	return func(yield func(store.Head, error) bool) {
		if err := s.list(ctx, q, yield); err != nil {
			yield(store.Head{}, fmt.Errorf("list debates: %w", err))
		}
	}
}

func (s *Store) list(ctx context.Context, q store.Query, yield func(store.Head, error) bool) error {
	left := q.Limit
	for from := start(q); ; {
		most := page
		if q.Limit > 0 {
			most = min(left, page)
		}
		rows, err := s.page(ctx, q, from, most)
		if err != nil {
			return err
		}
		for _, r := range rows {
			h, err := decode(r.id, r.head)
			if err != nil {
				return fmt.Errorf("read the head of debate %s: %w", r.id, err)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if !yield(h, nil) {
				return nil
			}
			from = r.position
		}
		if left -= len(rows); len(rows) < most || left == 0 {
			return nil
		}
	}
}

// position is a place in the list: what follows was created before, or then and has a lesser id.
type position struct {
	created int64
	id      string
}

type row struct {
	position
	head []byte
}

// start is where a query begins.
func start(q store.Query) position {
	at := q.Before.UnixMicro()
	switch {
	case q.Before.IsZero():
		return position{created: math.MaxInt64}
	case !q.Before.Equal(time.UnixMicro(at)): // between two microseconds
		return position{created: at + 1}
	}
	return position{at, q.BeforeID}
}

// page reads at most so many rows. One whose head is no JSON is selected whatever its labels were, to be told of.
func (s *Store) page(ctx context.Context, q store.Query, from position, most int) (found []row, err error) {
	query := strings.Builder{}
	query.WriteString(`SELECT created, id, head FROM debates WHERE (created, id) < (?, ?)`)
	args := []any{from.created, from.id}
	if len(q.States) > 0 {
		query.WriteString(` AND state IN (?` + strings.Repeat(`, ?`, len(q.States)-1) + `)`)
		for _, state := range q.States {
			args = append(args, state)
		}
	}
	for key, value := range q.Labels {
		query.WriteString(` AND CASE WHEN json_valid(head)
			THEN EXISTS (SELECT 1 FROM json_each(head, '$.labels') WHERE key = ? AND value = ?) ELSE TRUE END`)
		args = append(args, key, value)
	}
	query.WriteString(` ORDER BY created DESC, id DESC LIMIT ?`)
	err = view(ctx, s.read, func(tx *sql.Tx) error {
		found = nil
		rows, err := tx.QueryContext(ctx, query.String(), append(args, most)...)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // its error is that of Err
		for rows.Next() {
			var r row
			if err := rows.Scan(&r.created, &r.id, &r.head); err != nil {
				return err
			}
			found = append(found, r)
		}
		return rows.Err()
	})
	return found, err
}
