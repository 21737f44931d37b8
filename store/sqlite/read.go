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

const pageSize = 200 // statuses that List reads at a time

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

// readStatus returns the stored status of a debate, or one with only the ID if the status is missing or unreadable.
func readStatus(ctx context.Context, tx *sql.Tx, id string) (h store.Status, found bool, err error) {
	var text []byte
	err = tx.QueryRowContext(ctx, `SELECT status FROM debates WHERE id = ?`, id).Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return store.Status{ID: id}, false, nil
	case err != nil:
		return h, false, err
	}
	if h, err = decodeStatus(id, text); err != nil {
		h = store.Status{ID: id}
	}
	return h, true, nil
}

func decodeStatus(id string, text []byte) (h store.Status, err error) {
	err = json.Unmarshal(text, &h)
	if err == nil && h.ID != id {
		err = fmt.Errorf("it has the id %q", h.ID)
	}
	return h, err
}

// List implements [store.Store]. It reads page by page and holds no transaction between pages, so the loop body may use
// the store. Changes that are committed during the loop may or may not appear.
func (s *Store) List(ctx context.Context, q store.Query) iter.Seq2[store.Status, error] {
	return func(yield func(store.Status, error) bool) {
		if err := s.list(ctx, q, yield); err != nil {
			yield(store.Status{}, fmt.Errorf("list debates: %w", err))
		}
	}
}

func (s *Store) list(ctx context.Context, q store.Query, yield func(store.Status, error) bool) error {
	left := q.Limit
	for from := listStart(q); ; {
		most := pageSize
		if q.Limit > 0 {
			most = min(left, pageSize)
		}
		rows, err := s.readPage(ctx, q, from, most)
		if err != nil {
			return err
		}
		for _, r := range rows {
			h, err := decodeStatus(r.id, r.status)
			if err != nil {
				return fmt.Errorf("read the status of debate %s: %w", r.id, err)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if !yield(h, nil) {
				return nil
			}
			from = r.listPosition
		}
		if left -= len(rows); len(rows) < most || left == 0 {
			return nil
		}
	}
}

// listPosition is a position in the list. The rows after it have an earlier created, or the same and a lesser id.
type listPosition struct {
	created int64
	id      string
}

type statusRow struct {
	listPosition
	status []byte
}

// listStart returns the position at which the results of a query start.
func listStart(q store.Query) listPosition {
	at := q.Before.UnixMicro()
	switch {
	case q.Before.IsZero():
		return listPosition{created: math.MaxInt64}
	case !q.Before.Equal(time.UnixMicro(at)): // Before is between two microseconds
		return listPosition{created: at + 1}
	}
	return listPosition{at, q.BeforeID}
}

// readPage reads at most that many rows. It includes rows whose status is not valid JSON, so that List reports them.
func (s *Store) readPage(ctx context.Context, q store.Query, from listPosition, most int) (found []statusRow, err error) {
	query := strings.Builder{}
	query.WriteString(`SELECT created, id, status FROM debates WHERE (created, id) < (?, ?)`)
	args := []any{from.created, from.id}
	if len(q.States) > 0 {
		query.WriteString(` AND state IN (?` + strings.Repeat(`, ?`, len(q.States)-1) + `)`)
		for _, state := range q.States {
			args = append(args, state)
		}
	}
	for key, value := range q.Labels {
		query.WriteString(` AND CASE WHEN json_valid(status)
			THEN EXISTS (SELECT 1 FROM json_each(status, '$.labels') WHERE key = ? AND value = ?) ELSE TRUE END`)
		args = append(args, key, value)
	}
	query.WriteString(` ORDER BY created DESC, id DESC LIMIT ?`)
	err = readTx(ctx, s.readers, func(tx *sql.Tx) error {
		found = nil
		rows, err := tx.QueryContext(ctx, query.String(), append(args, most)...)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err returns the same error
		for rows.Next() {
			var r statusRow
			if err := rows.Scan(&r.created, &r.id, &r.status); err != nil {
				return err
			}
			found = append(found, r)
		}
		return rows.Err()
	})
	return found, err
}
