package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// A page reads rows in the order of an index, and no others. Without the index, a page of 30,000 debates takes 100 ms.
func TestAListUsesAnIndex(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "debates.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	fill(t, s)
	const byLabel, byState, byOutcome, byFailure = "SEARCH l USING PRIMARY KEY (label=? AND (created,debate)<(?,?))",
		"USING INDEX debates_state (state=? AND (created,id)<(?,?))", "USING INDEX debates_outcome (outcome=? AND (created,id)<(?,?))", "USING INDEX debates_failure (failure=? AND (created,id)<(?,?))"
	for name, tt := range map[string]struct {
		query store.Query
		index string
	}{
		"all":                       {store.Query{}, "USING INDEX debates_newest ((created,id)<(?,?))"},
		"a label":                   {store.Query{Labels: map[string]string{"a": "1"}}, byLabel},
		"two labels":                {store.Query{Labels: map[string]string{"a": "1", "b": "2"}}, byLabel},
		"a fork":                    {store.Query{Parent: "d"}, byLabel},
		"a person":                  {store.Query{Waiting: "Ada"}, byLabel},
		"rare label, common state":  {store.Query{Labels: map[string]string{"rare": "1"}, States: []fsm.State{fsm.Completed}}, byLabel},
		"common label, rare state":  {store.Query{Labels: map[string]string{"common": "1"}, States: []fsm.State{fsm.Paused}}, byState},
		"a rare state":              {store.Query{States: []fsm.State{fsm.Paused}}, byState},
		"a common state":            {store.Query{States: []fsm.State{fsm.Completed}}, byState},
		"several states":            {store.Query{States: []fsm.State{fsm.Paused, fsm.Completed, fsm.Ready}}, byState},
		"an outcome":                {store.Query{Outcomes: []transcript.Outcome{transcript.QuorumLost, transcript.Stopped}}, byOutcome},
		"common state and outcome":  {store.Query{States: []fsm.State{fsm.Completed}, Outcomes: []transcript.Outcome{transcript.QuorumLost}}, byOutcome},
		"a failure":                 {store.Query{FailureKinds: []string{"network"}}, byFailure},
		"a state since a time":      {store.Query{States: []fsm.State{fsm.Paused}, UpdatedSince: time.Unix(1, 0)}, byState},
		"no outcome and rare state": {store.Query{States: []fsm.State{fsm.Paused}, Outcomes: []transcript.Outcome{""}}, byState},
	} {
		var text string
		var args []any
		require.NoError(t, readTx(t.Context(), s.readers, func(tx *sql.Tx) error {
			p, err := planOf(t.Context(), tx, tt.query)
			text, args = p.page(listStart(tt.query))
			return err
		}))
		plan := explain(t, s, text, append(args, 20)...)
		require.NotContains(t, plan, "SCAN d", name)
		require.NotContains(t, plan, "SCAN l", name)
		require.NotContains(t, plan, "TEMP B-TREE", name)
		require.Contains(t, plan, tt.index, name)
		require.Equal(t, max(strings.Count(text, "UNION ALL")+1, 1), strings.Count(plan, tt.index), "%s: each part uses it:\n%s", name, plan)
	}
}

// fill stores debates: common labels and states of many, and rare ones of few.
func fill(t testing.TB, s *Store) {
	t.Helper()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range 2 * enough {
		id := fmt.Sprint("d", i)
		h := store.Status{ID: id, Seq: 1, State: fsm.Completed, Created: at.Add(time.Duration(i) * time.Second), Labels: map[string]string{"common": "1"}}
		h.Ending.Outcome = transcript.Converged
		if i%100 == 0 {
			h.State = fsm.Paused
			h.Labels["rare"] = "1"
			h.Ending.Outcome = ""
		}
		if i%100 == 1 {
			h.Ending.Outcome = transcript.QuorumLost
		}
		require.NoError(t, s.Commit(t.Context(), store.Change{ID: id, Entries: []store.Entry{{Seq: 1, Type: "config", At: at, Data: 1}}, Status: h}))
	}
}

// explain returns the plan of a query.
func explain(t *testing.T, s *Store, text string, args ...any) (plan string) {
	t.Helper()
	rows, err := s.readers.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
	require.NoError(t, err)
	for rows.Next() {
		var id, parent, unused int
		var step string
		require.NoError(t, rows.Scan(&id, &parent, &unused, &step))
		plan += step + "\n"
	}
	require.NoError(t, rows.Err())
	require.NoError(t, rows.Close())
	return plan
}
