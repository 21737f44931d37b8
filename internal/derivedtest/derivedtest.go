// Package derivedtest checks that journals contain what follows from the replies of models and the acts of people.
package derivedtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
)

// Require checks that no entry of a debate's journal is wrong, and returns the number of entries by verdict.
func Require(t testing.TB, d *debate.Debate) map[debate.EntryVerdict]int {
	t.Helper()
	count := map[debate.EntryVerdict]int{}
	for c, err := range d.VerifyEntries(t.Context()) {
		require.NoError(t, err)
		require.NotEqual(t, debate.EntryWrong, c.Verdict, "debate %s, entry %d, %s %s: %s", d.ID(), c.Seq, c.Type, c.Key, c.Reason)
		count[c.Verdict]++
	}
	return count
}
