package postgres

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/elenchus-go/debate/fsm"
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

// statusRow is a row of a list.
type statusRow struct {
	ID      string
	Created pgtype.Timestamptz
	Status  string
}

// listStart returns the position at which the results of a query start: they follow this row.
func listStart(q store.Query) statusRow {
	if q.CreatedBefore.IsZero() {
		return statusRow{Created: pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}}
	}
	before := roundUp(q.CreatedBefore)
	if !before.Equal(q.CreatedBefore) {
		q.BeforeID = ""
	}
	return statusRow{ID: q.BeforeID, Created: pgtype.Timestamptz{Time: before, Valid: true}}
}

// roundUp rounds t up to whole microseconds. Rows have whole microseconds, so a row is before t if it is before the
// returned time.
func roundUp(t time.Time) time.Time {
	if at := t.Truncate(time.Microsecond); !at.Equal(t) {
		return at.Add(time.Microsecond)
	}
	return t
}

// readPage reads the rows that follow from, at most limit.
func (s *Store) readPage(ctx context.Context, q store.Query, from statusRow, limit int) ([]statusRow, error) {
	w := s.newWhere(q, from)
	w.text.WriteString(w.order)
	w.add(` limit $`, limit)
	rows, err := s.pool.Query(ctx, `select d.id, d.created, d.status::text`+w.text.String(), w.args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[statusRow])
}

// Count implements store.Store.
func (s *Store) Count(ctx context.Context, q store.Query) (map[fsm.State]int, error) {
	w := s.newWhere(q, listStart(q))
	counts := map[fsm.State]int{}
	var state string
	var n int
	rows, err := s.pool.Query(ctx, `select d.state, count(*)`+w.text.String()+` group by d.state`, w.args...)
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&state, &n}, func() error {
			counts[fsm.State(state)] = n
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("count debates: %w", err)
	}
	return counts, nil
}

// where is the from and where clauses of a query of debates, with their arguments and the clause that sorts them. The
// table debates has the alias d.
type where struct {
	text  strings.Builder
	args  []any
	order string
}

// newWhere returns the clauses for the debates that follow from and that q selects. With labels, the table labels has
// the order of the list, and the other conditions apply to the rows found there.
func (s *Store) newWhere(q store.Query, from statusRow) *where {
	w := &where{}
	if labels := labelPairs(q.Labels); len(labels) == 0 {
		w.order = ` order by d.created desc, d.id desc`
		w.text.WriteString(` from ` + s.sql.debates + ` d`)
		w.add(` where (d.created, d.id) < ($, $)`, from.Created, from.ID)
	} else {
		w.order = ` order by l.created desc, l.debate desc`
		w.text.WriteString(` from ` + s.sql.labels + ` l join ` + s.sql.debates + ` d on d.id = l.debate`)
		w.add(` where l.label = $ and (l.created, l.debate) < ($, $)`, labels[0], from.Created, from.ID)
		if len(labels) > 1 {
			w.add(` and d.labels @> $`, labels[1:])
		}
	}
	addIn(w, `d.state`, q.States)
	addIn(w, `d.outcome`, q.Outcomes)
	addIn(w, `d.failure`, q.FailureKinds)
	w.addTime(` and d.created >= $`, q.CreatedSince)
	w.addTime(` and d.updated >= $`, q.UpdatedSince)
	w.addTime(` and d.updated < $`, q.UpdatedBefore)
	return w
}

// add adds text, in which each $ stands for the next argument.
func (w *where) add(text string, args ...any) {
	for i, part := range strings.Split(text, "$") {
		if i > 0 {
			w.args = append(w.args, args[i-1])
			fmt.Fprintf(&w.text, "$%d", len(w.args))
		}
		w.text.WriteString(part)
	}
}

// addIn adds the condition that a column has one of the values. It adds nothing if there are none.
func addIn[T ~string](w *where, column string, values []T) {
	if len(values) == 0 {
		return
	}
	var texts []string
	for _, v := range values {
		texts = append(texts, validUTF8(string(v)))
	}
	w.add(` and `+column+` = any($)`, texts)
}

// addTime adds a condition with a time. It adds nothing if the time is zero.
func (w *where) addTime(condition string, at time.Time) {
	if !at.IsZero() {
		w.add(condition, roundUp(at))
	}
}
