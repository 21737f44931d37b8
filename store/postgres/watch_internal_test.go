package postgres

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnAnswerThatIsOldIsNotTold(t *testing.T) {
	var w watchers
	var told []int64
	n := w.add("d", func(last int64) { told = append(told, last) }, func(context.Context) {})
	asked := w.notifyCounts()["d"]
	w.notify("d", 2) // while the database query runs
	w.notifyIfUnchanged("d", 1, asked)
	require.Equal(t, []int64{2}, told)
	w.notifyIfUnchanged("d", 3, w.notifyCounts()["d"])
	w.notifyIfUnchanged("d", 3, w.notifyCounts()["d"])
	require.Equal(t, []int64{2, 3}, told)
	w.remove("d", n)
	w.notifyIfUnchanged("d", 4, asked)
	require.Equal(t, []int64{2, 3}, told)
	w.close()
}
