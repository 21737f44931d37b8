package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

// A page reads rows in the order of an index, and no others. Without the index, a page of 30,000 debates takes 100 ms.
func TestAListByLabelUsesAnIndex(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "debates.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for name, q := range map[string]store.Query{
		"all":             {},
		"a label":         {Labels: map[string]string{"a": "1"}},
		"two labels":      {Labels: map[string]string{"a": "1", "b": "2"}},
		"label and state": {Labels: map[string]string{"a": "1"}, States: []fsm.State{fsm.Paused}},
		"a fork":          {Parent: "d"},
		"a person":        {Waiting: "Ada"},
	} {
		w := newWhere(q, listStart(q), encodeLabels(q.Labels, waiting(q), q.Parent))
		rows, err := s.readers.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+w.page(), append(w.args, 20)...)
		require.NoError(t, err)
		plan := ""
		for rows.Next() {
			var id, parent, unused int
			var step string
			require.NoError(t, rows.Scan(&id, &parent, &unused, &step))
			plan += step + "\n"
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
		require.NotContains(t, plan, "SCAN", name)
		require.NotContains(t, plan, "TEMP B-TREE", name)
		if name != "all" {
			require.True(t, strings.HasPrefix(plan, "SEARCH l USING PRIMARY KEY (label=? AND (created,debate)<(?,?))"), "%s: %s", name, plan)
		}
	}
}
