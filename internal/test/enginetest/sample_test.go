package enginetest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/enginetest"
)

// tried returns the cases that a test tries, of two kinds with 21 cases each.
func tried(t *testing.T, seed string) (list []string) {
	t.Setenv("DEBATE_SEED", seed)
	s := enginetest.NewSample(t, 5)
	for i := range 21 {
		for _, kind := range []string{"a", "b"} {
			if s.Tries(kind) {
				list = append(list, fmt.Sprint(kind, i))
			}
		}
	}
	return list
}

func TestASampleHasEachKindAndCanBeRepeated(t *testing.T) {
	t.Setenv("DEBATE_ALL_CASES", "")
	t.Setenv("DEBATE_SPARSE", "")
	all := map[string]bool{}
	for i := range 40 {
		is := tried(t, fmt.Sprint(i))
		require.Len(t, is, 2+2*4, "the first of each kind, and one of each five")
		require.Equal(t, []string{"a0", "b0"}, is[:2])
		require.Equal(t, is, tried(t, fmt.Sprint(i)), "the seed decides")
		for _, c := range is {
			all[c] = true
		}
	}
	require.Len(t, all, 42, "each case is tried with some seed")

	t.Setenv("DEBATE_SPARSE", "2")
	require.Len(t, tried(t, "1"), 2+2*2, "the first of each kind, and one of each ten")

	t.Setenv("DEBATE_ALL_CASES", "1")
	require.Len(t, tried(t, ""), 42)
}
