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

const page = 200 // heads

// List implements store.Store. It reads in pages, and holds no connection while the caller has a head.
func (s *Store) List(ctx context.Context, q store.Query) iter.Seq2[store.Head, error] {
	return func(yield func(store.Head, error) bool) {
		for from, left := start(q), q.Limit; ; left -= page {
			limit := page
			if q.Limit > 0 {
				limit = min(page, left)
			}
			rows, err := s.page(ctx, q, from, limit)
			for _, r := range rows {
				head, err := decode(r.ID, r.Head)
				if err != nil {
					yield(store.Head{}, fmt.Errorf("list debates: read head of debate %s: %w", r.ID, err))
					return
				}
				if !yield(head, nil) {
					return
				}
				from = r
			}
			if err != nil {
				yield(store.Head{}, fmt.Errorf("list debates: %w", err))
			}
			if err != nil || len(rows) < page {
				return
			}
		}
	}
}

// listed is a row of a list.
type listed struct {
	ID      string
	Created pgtype.Timestamptz
	Head    string
}

// start is the row that a query's first would follow.
func start(q store.Query) listed {
	if q.Before.IsZero() {
		return listed{Created: pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}}
	}
	before := q.Before.Truncate(time.Microsecond)
	if !before.Equal(q.Before) { // rows know no such time, but the next that they do
		before, q.BeforeID = before.Add(time.Microsecond), ""
	}
	return listed{ID: q.BeforeID, Created: pgtype.Timestamptz{Time: before, Valid: true}}
}

// page reads the rows that follow one.
func (s *Store) page(ctx context.Context, q store.Query, from listed, limit int) ([]listed, error) {
	var states []string // null: all
	for _, state := range q.States {
		states = append(states, string(state))
	}
	rows, err := s.pool.Query(ctx, s.sql.list, from.Created, from.ID, pairs(q.Labels), states, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[listed])
}
