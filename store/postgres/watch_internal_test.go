package postgres

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnAnswerThatIsOldIsNotTold(t *testing.T) {
	var w watchers
	var told []int64
	n := w.add("d", 1, func(last int64) { told = append(told, last) }, func(context.Context) {})
	asked := w.news()["d"]
	w.tell("d", 2) // while the database answers
	w.found("d", 1, asked)
	require.Equal(t, []int64{2}, told)
	w.found("d", 3, w.news()["d"])
	w.found("d", 3, w.news()["d"])
	require.Equal(t, []int64{2, 3}, told)
	w.remove("d", n)
	w.found("d", 4, asked)
	require.Equal(t, []int64{2, 3}, told)
}

func TestADebateThatNobodyKnowsOfWasNotDeleted(t *testing.T) {
	var w watchers
	var told []int64
	w.add("d", unknown, func(last int64) { told = append(told, last) }, func(context.Context) {})
	w.found("d", 0, 0)
	require.Empty(t, told)
	w.found("d", 1, 0)
	w.found("d", 0, 1)
	require.Equal(t, []int64{1, 0}, told)
	w.close()
}
