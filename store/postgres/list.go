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
					status, err = store.Status{ID: r.ID}, fmt.Errorf("list debates: read status of debate %s: %w", r.ID, err)
				}
				status.Driver = decodeHeartbeat(r.Beat)
				if !yield(status, err) {
					return
				}
				from = r
			}
			if err != nil {
				yield(store.Status{}, fmt.Errorf("list debates: %w", Unavailable(err)))
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
	Beat    *string // nil if there is none
}

// listStart returns the position at which the results of a query start: they follow this row.
func listStart(q store.Query) statusRow {
	at, id := q.Start()
	if at.IsZero() {
		return statusRow{Created: pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}}
	}
	before := roundUp(at)
	if !before.Equal(at) {
		id = ""
	}
	return statusRow{ID: id, Created: pgtype.Timestamptz{Time: before, Valid: true}}
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
	first, err := s.rarest(ctx, pairsOf(q))
	if err != nil {
		return nil, err
	}
	w := s.newWhere(q, from, first)
	w.text.WriteString(w.order)
	w.add(` limit $`, limit)
	rows, err := s.pool.Query(ctx, `select d.id, d.created, d.status::text, `+s.sql.heartbeat+w.text.String(), w.args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[statusRow])
}

// Count implements store.Store.
func (s *Store) Count(ctx context.Context, q store.Query) (map[fsm.State]int, error) {
	counts, err := s.count(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("count debates: %w", Unavailable(err))
	}
	return counts, nil
}

func (s *Store) count(ctx context.Context, q store.Query) (map[fsm.State]int, error) {
	first, err := s.rarest(ctx, pairsOf(q))
	if err != nil {
		return nil, err
	}
	w := s.newWhere(q, listStart(q), first)
	rows, err := s.pool.Query(ctx, `select d.state, count(*)`+w.text.String()+` group by d.state`, w.args...)
	if err != nil {
		return nil, err
	}
	counts := map[fsm.State]int{}
	var state string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&state, &n}, func() error {
		counts[fsm.State(state)] = n
		return nil
	})
	return counts, err
}

// rarest returns the label that fewest debates have, counted up to a limit, or "" if there are no labels. PostgreSQL reads
// them in the order of an index, because it would read the whole table to find few rows in any order.
func (s *Store) rarest(ctx context.Context, pairs []string) (label string, err error) {
	switch len(pairs) {
	case 0:
		return "", nil
	case 1:
		return pairs[0], nil
	}
	err = s.pool.QueryRow(ctx, `select label from unnest($1::text[]) wanted (label) order by (
		select count(*) from (select from `+s.sql.labels+` l where l.label = wanted.label order by l.created, l.debate limit 300) found) limit 1`, pairs).Scan(&label)
	return label, err
}

// pairsOf returns the labels of a query as they are stored.
func pairsOf(q store.Query) []string {
	if q.Waiting == "" {
		return labelPairs(q.Labels, nil, q.Parent)
	}
	return labelPairs(q.Labels, []string{q.Waiting}, q.Parent)
}

// where is the from and where clauses of a query of debates, with their arguments and the clause that sorts them. The
// table debates has the alias d.
type where struct {
	text  strings.Builder
	args  []any
	order string
}

// newWhere returns the clauses for the debates that follow from and that q selects. first is the label that fewest
// debates have, or "" if q has no labels.
func (s *Store) newWhere(q store.Query, from statusRow, first string) *where {
	w := &where{}
	w.text.WriteString(` from ` + s.sql.debates + ` d`)
	if first == "" {
		w.order = ` order by d.created desc, d.id desc`
		w.add(` where (d.created, d.id) < ($, $)`, from.Created, from.ID)
	} else {
		w.order = ` order by l.created desc, l.debate desc`
		w.text.WriteString(` join ` + s.sql.labels + ` l on l.debate = d.id`)
		w.add(` where l.label = $ and (l.created, l.debate) < ($, $)`, first, from.Created, from.ID)
	}
	if pairs := pairsOf(q); len(pairs) > 1 {
		w.add(` and d.labels @> $`, pairs)
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
	for _, arg := range args {
		before, after, _ := strings.Cut(text, "$")
		w.args = append(w.args, arg)
		fmt.Fprintf(&w.text, "%s$%d", before, len(w.args))
		text = after
	}
	w.text.WriteString(text)
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
