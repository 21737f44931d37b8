package postgres_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// queries records what a pool asks the server.
type queries struct {
	mu   sync.Mutex
	list []pgx.TraceQueryStartData
}

func (q *queries) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, data)
	return ctx
}

func (*queries) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// A page reads rows in the order of an index. Without the index, a page of 30,000 debates takes 200 ms.
func TestAListByLabelUsesAnIndex(t *testing.T) {
	b := manyDebates(t)
	asked := &queries{}
	s := b.openOn(t, pool(t, func(c *pgxpool.Config) { c.ConnConfig.Tracer = asked }))
	for _, labels := range []map[string]string{{"common": "yes"}, {"rare": "yes"}, {"none": "yes"}, {"common": "yes", "rare": "yes"}} {
		asked.list = nil
		ids(t, s, store.Query{Labels: labels, Limit: 20})
		require.Len(t, asked.list, len(labels), "one to find the rarest of several labels, and one for the page")
		for _, q := range asked.list {
			rows, err := b.pool.Query(t.Context(), "explain "+q.SQL, q.Args...)
			require.NoError(t, err)
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err)
			plan := strings.Join(lines, "\n")
			require.Regexp(t, `on labels l .*\n\s*(Index|Recheck) Cond: \(+label = `, plan)
			require.NotRegexp(t, `Seq Scan on (debates|labels)|label = .* d\.`, plan, "it reads no debate but those with the label")
		}
	}
}

// A page of debates in rare states reads no others. Without an index, a page of 30,000 debates takes 200 ms.
func TestAListByStateUsesAnIndex(t *testing.T) {
	b := manyDebates(t)
	asked := &queries{}
	s := b.openOn(t, pool(t, func(c *pgxpool.Config) { c.ConnConfig.Tracer = asked }))
	for name, tt := range map[string]struct {
		query store.Query
		index string
	}{
		"a rare state":        {store.Query{States: []fsm.State{fsm.Paused}}, "debates_state"},
		"several rare states": {store.Query{States: []fsm.State{fsm.Paused, fsm.Ready, fsm.Judging}}, "debates_state"},
		"a failure":           {store.Query{FailureKinds: []string{"network"}}, "debates_failure"},
		"an outcome":          {store.Query{Outcomes: []transcript.Outcome{transcript.QuorumLost}}, "debates_outcome"},
		"a common state":      {store.Query{States: []fsm.State{fsm.Completed}}, "debates_(state|created)"},
	} {
		asked.list = nil
		tt.query.Limit = 20
		ids(t, s, tt.query)
		require.Len(t, asked.list, 1, name)
		rows, err := b.pool.Query(t.Context(), "explain "+asked.list[0].SQL, asked.list[0].Args...)
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		plan := strings.Join(lines, "\n")
		require.Regexp(t, `(using|on) `+tt.index, plan, name)
		require.NotContains(t, plan, "Seq Scan on debates", name)
	}
}
