package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

const pageSize = 200 // statuses that List reads at a time

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
				h, err = store.Status{ID: r.id}, fmt.Errorf("list debates: read the status of debate %s: %w", r.id, err)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			h.Driver = decodeHeartbeat(r.beat)
			if !yield(h, err) {
				return nil
			}
			from = r.listPosition
		}
		left -= len(rows)
		if len(rows) < most || left == 0 {
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
	beat   []byte
}

// listStart returns the position at which the results of a query start.
func listStart(q store.Query) listPosition {
	before, id := q.Start()
	at := roundUp(before)
	switch {
	case before.IsZero():
		return listPosition{created: math.MaxInt64}
	case !before.Equal(time.UnixMicro(at)):
		return listPosition{created: at}
	}
	return listPosition{at, id}
}

// roundUp returns t in microseconds since 1970. Rows have whole microseconds, so a row is before t if it is before the
// returned time.
func roundUp(t time.Time) int64 {
	at := t.UnixMicro()
	if t.After(time.UnixMicro(at)) {
		at++
	}
	return at
}

// waiting returns the names of the people for whom the debates of a query wait.
func waiting(q store.Query) []string {
	if q.Waiting == "" {
		return nil
	}
	return []string{q.Waiting}
}

// readPage reads at most that many rows.
func (s *Store) readPage(ctx context.Context, q store.Query, from listPosition, most int) (found []statusRow, err error) {
	err = readTx(ctx, s.readers, func(tx *sql.Tx) error {
		found = nil
		p, err := planOf(ctx, tx, q)
		if err != nil {
			return err
		}
		text, args := p.page(from)
		rows, err := tx.QueryContext(ctx, text, append(args, most)...) //nolint:gosec // only the arguments come from the query
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err returns the same error
		for rows.Next() {
			var r statusRow
			if err := rows.Scan(&r.created, &r.id, &r.status, &r.beat); err != nil {
				return err
			}
			found = append(found, r)
		}
		return rows.Err()
	})
	return found, err
}

// Count implements [store.Store].
func (s *Store) Count(ctx context.Context, q store.Query) (counts map[fsm.State]int, err error) {
	err = readTx(ctx, s.readers, func(tx *sql.Tx) error {
		counts = map[fsm.State]int{}
		labels, err := rarestFirst(ctx, tx, encodeLabels(q.Labels, waiting(q), q.Parent))
		if err != nil {
			return err
		}
		w := newWhere(q, listStart(q), labels, len(labels) > 0)
		//nolint:gosec // only the arguments come from the query
		rows, err := tx.QueryContext(ctx, `SELECT d.state, count(*)`+w.String()+` GROUP BY d.state`, w.args...)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err returns the same error
		for rows.Next() {
			var state fsm.State
			var n int
			if err := rows.Scan(&state, &n); err != nil {
				return err
			}
			counts[state] = n
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("count debates: %w", err)
	}
	return counts, nil
}

// rarestFirst moves the label that fewest debates have, counted up to a limit, to the front.
func rarestFirst(ctx context.Context, tx *sql.Tx, labels []string) ([]string, error) {
	if len(labels) < 2 {
		return labels, nil
	}
	fewest := math.MaxInt
	for i := range labels {
		n, err := countSome(ctx, tx, `labels WHERE label = ?`, labels[i])
		if err != nil {
			return nil, err
		}
		if n < fewest {
			fewest = n
			labels[0], labels[i] = labels[i], labels[0]
		}
	}
	return labels, nil
}

// enough is the number of debates up to which those that a condition selects are counted.
const enough = 300

// A plan says how to read the debates that a query selects. Its arms together select them. Each reads its rows in the order
// of an index.
type plan struct {
	arms    []store.Query
	labels  []string // the labels that the debates have, encoded
	byLabel bool     // whether the first label selects the rows that are read
}

// planOf returns the plan of a query that reads fewest rows. If a state, an outcome or a failure leads, there is an arm for
// each value, because SQLite would sort what it finds for several.
func planOf(ctx context.Context, tx *sql.Tx, q store.Query) (p plan, err error) {
	p = plan{arms: []store.Query{q}}
	p.labels, err = rarestFirst(ctx, tx, encodeLabels(q.Labels, waiting(q), q.Parent))
	if err != nil {
		return p, err
	}
	fewest := math.MaxInt
	p.byLabel = len(p.labels) > 0
	if p.byLabel {
		fewest, err = countSome(ctx, tx, `labels WHERE label = ?`, p.labels[0])
		if err != nil {
			return p, err
		}
	}
	states := split(q, q.States, func(q *store.Query, v []fsm.State) { q.States = v })
	outcomes := split(q, q.Outcomes, func(q *store.Query, v []transcript.Outcome) { q.Outcomes = v })
	failures := split(q, q.FailureKinds, func(q *store.Query, v []string) { q.FailureKinds = v })
	for _, x := range []struct {
		arms  []store.Query
		where string
		value func(store.Query) any
	}{
		{states, `debates WHERE state = ?`, func(q store.Query) any { return string(q.States[0]) }},
		{outcomes, `debates WHERE outcome = ? AND outcome <> ''`, func(q store.Query) any { return string(q.Outcomes[0]) }},
		{failures, `debates WHERE failure = ? AND failure <> ''`, func(q store.Query) any { return q.FailureKinds[0] }},
	} {
		n := 0
		for _, arm := range x.arms {
			some, err := countSome(ctx, tx, x.where, x.value(arm))
			if err != nil {
				return p, err
			}
			n += some
		}
		if x.arms != nil && n < fewest {
			fewest = n
			p.arms = x.arms
			p.byLabel = false
		}
	}
	return p, nil
}

// split returns a query for each of some values that a query selects by. It returns nil if one is empty, because the indexes
// lack debates without an outcome or a failure.
func split[T ~string](q store.Query, values []T, set func(*store.Query, []T)) (arms []store.Query) {
	if slices.Contains(values, "") {
		return nil
	}
	for _, v := range slices.Compact(slices.Sorted(slices.Values(values))) {
		set(&q, []T{v})
		arms = append(arms, q)
	}
	return arms
}

// countSome counts the rows of a table that a condition with one argument selects, up to enough.
func countSome(ctx context.Context, tx *sql.Tx, from string, arg any) (n int, err error) {
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM `+from+` LIMIT `+strconv.Itoa(enough)+`)`, arg).Scan(&n)
	return n, err
}

// page returns the query of a page of the debates that follow from, and its arguments except the last one, the largest number
// of rows.
func (p plan) page(from listPosition) (text string, args []any) {
	var texts []string
	order := ` ORDER BY 1 DESC, 2 DESC`
	for _, q := range p.arms {
		w := newWhere(q, from, p.labels, p.byLabel)
		texts, args = append(texts, `SELECT d.created, d.id, d.status, `+heartbeatSQL+w.String()), append(args, w.args...)
		if len(p.arms) == 1 {
			order = w.order
		}
	}
	return strings.Join(texts, ` UNION ALL `) + order + ` LIMIT ?`, args
}

// where is the FROM and WHERE clauses of a query of debates, with their arguments and the clause that sorts them. The
// table debates has the alias d.
type where struct {
	strings.Builder
	args  []any
	order string
}

// newWhere returns the clauses for the debates that follow from, that q selects and that have the labels. If byLabel is set,
// the first label selects rows of the table labels in the order of the list, and the other conditions apply to these rows.
func newWhere(q store.Query, from listPosition, labels []string, byLabel bool) *where {
	w := &where{}
	if byLabel {
		w.order = ` ORDER BY l.created DESC, l.debate DESC`
		w.add(` FROM labels l CROSS JOIN debates d ON d.id = l.debate AND d.created = l.created WHERE l.label = ? AND (l.created, l.debate) < (?, ?)`,
			labels[0], from.created, from.id)
		labels = labels[1:]
	} else {
		w.order = ` ORDER BY d.created DESC, d.id DESC`
		w.add(` FROM debates d WHERE (d.created, d.id) < (?, ?)`, from.created, from.id)
	}
	for _, label := range labels {
		w.add(` AND EXISTS (SELECT 1 FROM labels WHERE label = ? AND created = d.created AND debate = d.id)`, label)
	}
	addIn(w, `d.state`, q.States)
	addIn(w, `d.outcome`, q.Outcomes)
	addIn(w, `d.failure`, q.FailureKinds)
	for condition, at := range map[string]time.Time{
		` AND d.created >= ?`: q.CreatedSince, ` AND d.updated >= ?`: q.UpdatedSince, ` AND d.updated < ?`: q.UpdatedBefore,
	} {
		if !at.IsZero() {
			w.add(condition, roundUp(at))
		}
	}
	return w
}

func (w *where) add(text string, args ...any) {
	w.WriteString(text)
	w.args = append(w.args, args...)
}

// addIn adds the condition that a column has one of the values. It adds nothing if there are none.
func addIn[T ~string](w *where, column string, values []T) {
	if len(values) == 0 {
		return
	}
	w.WriteString(` AND ` + column + ` IN (?` + strings.Repeat(`, ?`, len(values)-1) + `)`)
	if !slices.Contains(values, "") {
		w.WriteString(` AND ` + column + ` <> ''`) // an index lacks empty values
	}
	for _, v := range values {
		w.args = append(w.args, string(v))
	}
}
