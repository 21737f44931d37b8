// Package derivedtest checks that journals contain what follows from the replies of models and the acts of people.
package derivedtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
)

// Count is what was derived of a journal.
type Count struct {
	Verdicts map[debate.EntryVerdict]int // entries by verdict
	Prompts  int                         // calls whose request was made again
	Unknown  int                         // other calls of turns
	Turns    int                         // turns by models
	Read     int                         // those that were compared with their reply
}

// Require checks that no entry of a debate's journal is wrong, and returns what was derived.
func Require(t testing.TB, d *debate.Debate) (n Count) {
	t.Helper()
	n.Verdicts = map[debate.EntryVerdict]int{}
	for c, err := range d.VerifyEntries(t.Context()) {
		require.NoError(t, err)
		require.NotEqual(t, debate.EntryWrong, c.Verdict, "debate %s, entry %d, %s %s: %s", d.ID(), c.Seq, c.Type, c.Key, c.Reason)
		n.Verdicts[c.Verdict]++
		n.Prompts += c.Prompts
		n.Unknown += c.Unknown
		if c.Prompts+c.Unknown > 0 && c.Type == "turn" {
			n.Turns++
		}
		if c.Read {
			n.Read++
		}
	}
	return n
}

// RequireAll checks that no entry is wrong, that each request of a turn was made again, and that each turn by a model was
// compared with its reply.
func RequireAll(t testing.TB, d *debate.Debate) Count {
	t.Helper()
	n := Require(t, d)
	if n.Unknown > 0 || n.Read < n.Turns {
		for c, err := range d.VerifyEntries(t.Context()) {
			require.NoError(t, err)
			require.Zero(t, c.Unknown, "entry %d, %s: %q", c.Seq, c.Key, c.Missing)
			require.True(t, c.Prompts == 0 || c.Read || c.Type != "turn", "entry %d, %s is not compared with its reply", c.Seq, c.Key)
		}
	}
	return n
}
