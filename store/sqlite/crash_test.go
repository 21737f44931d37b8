package sqlite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sqlite "modernc.org/sqlite"

	"github.com/elenchus-go/debate/internal/crashtest"
)

// points are those of a step at which a process may die.
var points = []string{
	"called", "streaming", "answered", "committing", "inserting-entry", "replacing-head", "sqlite-commits", "committed", "acknowledged",
}

func TestMain(m *testing.M) {
	if c := crashtest.Spawned(); c != nil {
		child(c)
	}
	os.Exit(m.Run())
}

// child drives debates until it is killed, also in the middle of SQLite's transactions.
func child(c *crashtest.Child) {
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, _ string) error {
		hooks := conn.(sqlite.HookRegisterer)
		hooks.RegisterPreUpdateHook(func(d sqlite.SQLitePreUpdateData) {
			c.At(map[string]string{"entries": "inserting-entry", "debates": "replacing-head"}[d.TableName])
		})
		hooks.RegisterCommitHook(func() int32 {
			c.At("sqlite-commits")
			return 0
		})
		return nil
	})
	s, err := Open(c.Address)
	c.Must(err)
	c.Drive(s)
}

// Debates survive the death of their process at any point of a step.
func TestDebatesSurviveKills(t *testing.T) {
	if testing.Short() {
		t.Skip("dozens of processes are started")
	}
	path := filepath.Join(t.TempDir(), "debates.db")
	s, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	trial := crashtest.Trial{
		Store: s, Address: path, Children: 1, Points: points, Each: 3, Random: 12,
		Life: 300 * time.Millisecond, Patience: time.Minute,
	}
	trial.Run(t)
}
