package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/forgedtest"
	"github.com/elenchus-go/debate/store/sqlite"
)

// Commands name the entry of a stored debate that is damaged or forged, and import refuses its file. A list shows it.
func TestAForgedDebateIsAnErrorOfEachCommand(t *testing.T) {
	for _, f := range forgedtest.Forgeries(t) {
		t.Run(f.Name, func(t *testing.T) {
			folder(t, "d.json", string(f.Journal))
			code, _, stderr := start(t, environment(), "import", "d.json", "--store", "other.db")
			require.NotZero(t, code)
			require.Contains(t, stderr, "entry ")

			s, err := sqlite.Open("d.db")
			require.NoError(t, err)
			_, err = forgedtest.Put(t, s, f.Journal)
			require.NoError(t, err)
			require.NoError(t, s.Close())
			for _, args := range [][]string{{"show", "d"}, {"show", "d", "--json"}, {"answer", "d"}, {"pause", "d"}, {"resume", "d"}, {"cancel", "d"}, {"retry", "d"}, {"fork", "d"}} {
				code, _, stderr = start(t, environment(), append(args, "--store", "d.db")...)
				require.NotZero(t, code, args)
				require.Contains(t, stderr, fmt.Sprintf("entry %d of debate d", f.Entry), args)
			}
			code, stdout, stderr := start(t, environment(), "list", "--store", "d.db")
			require.Zero(t, code, stderr)
			require.Contains(t, stdout, "panel/1")
		})
	}
}
