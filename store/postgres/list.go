package postgres

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/elenchus-go/debate/store"
)

const pageSize = 200 // statuses that List reads at a time

// List implements store.Store. It reads page by page and holds no connection while the loop body runs.
func (s *Store) List(ctx context.Context, q store.Query) iter.Seq2[store.Status, error] {
	return func(yield func(store.Status, error) bool) {
		for from, left := listStart(q), q.Limit; ; left -= pageSize {
			limit := pageSize
			if q.Limit > 0 {
				limit = min(pageSize, left)
			}
			rows, err := s.readPage(ctx, q, from, limit)
			for _, r := range rows {
				status, err := decodeStatus(r.ID, r.Status)
				if err != nil {
					yield(store.Status{}, fmt.Errorf("list debates: read status of debate %s: %w", r.ID, err))
					return
				}
				if !yield(status, nil) {
					return
				}
				from = r
			}
			if err != nil {
				yield(store.Status{}, fmt.Errorf("list debates: %w", err))
			}
			if err != nil || len(rows) < pageSize {
				return
			}
		}
	}
}

// statusRow is a row of listSQL.
type statusRow struct {
	ID      string
	Created pgtype.Timestamptz
	Status  string
}

// listStart returns the position at which the results of a query start: they follow this row.
func listStart(q store.Query) statusRow {
	if q.Before.IsZero() {
		return statusRow{Created: pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}}
	}
	before := q.Before.Truncate(time.Microsecond)
	if !before.Equal(q.Before) { // rows have whole microseconds, so round up
		before, q.BeforeID = before.Add(time.Microsecond), ""
	}
	return statusRow{ID: q.BeforeID, Created: pgtype.Timestamptz{Time: before, Valid: true}}
}

// readPage reads the rows that follow from, at most limit.
func (s *Store) readPage(ctx context.Context, q store.Query, from statusRow, limit int) ([]statusRow, error) {
	var states []string // nil for all states
	for _, state := range q.States {
		states = append(states, string(state))
	}
	rows, err := s.pool.Query(ctx, s.sql.list, from.Created, from.ID, labelPairs(q.Labels), states, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[statusRow])
}
