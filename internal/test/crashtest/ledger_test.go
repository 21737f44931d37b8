package crashtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A reader may see any part of a line that is being written, and a killed process may leave one.
func TestAPartOfALineIsNoLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l, err := openLedger(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.file.Close()) })
	require.NoError(t, l.append(15, "call", "d1", "A"))
	first, err := l.size()
	require.NoError(t, err)
	require.NoError(t, l.append(16, "ack", "d1", 7, "1/1/summary/A/up to B"))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := []ledgerLine{{15, "call", []string{"d1", "A"}}, {16, "ack", []string{"d1", "7", "1/1/summary/A/up to B"}}}
	got, err := l.readFrom(0)
	require.NoError(t, err)
	require.Equal(t, lines, got)

	for cut := first; cut < int64(len(whole))-1; cut++ {
		require.NoError(t, os.WriteFile(path, whole[:cut], 0o600))
		got, err := l.readFrom(0)
		require.NoError(t, err)
		require.Equal(t, lines[:1], got, "%q", whole[:cut])
		require.NoError(t, l.append(17, "dead", "random", true))
		got, err = l.readFrom(0)
		require.NoError(t, err)
		require.Equal(t, []ledgerLine{lines[0], {17, "dead", []string{"random", "true"}}}, got, "after %q", whole[:cut])
	}
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	for offset := range first + 1 {
		got, err := l.readFrom(offset)
		require.NoError(t, err)
		require.Equal(t, lines[1:], got[len(got)-1:], "from %d", offset)
	}
}
