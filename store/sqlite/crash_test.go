package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sqlite "modernc.org/sqlite"

	"github.com/elenchus-go/debate/internal/test/crashtest"
)

// points are the points of a step at which a process may be killed.
var points = []string{
	"called", "streaming", "answered", "calling-tool", "tool-called", "committing", "inserting-entry", "replacing-status", "sqlite-commits", "committed", "acknowledged",
}

// durable holds the setting of synchronous outside of these tests. Processes that the tests kill have it too.
var durable string

func TestMain(m *testing.M) {
	for variable, run := range map[string]func(string) error{evalChild: evaluate, tournamentChild: playTournament} {
		folder := os.Getenv(variable)
		if folder == "" {
			continue
		}
		if err := run(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if c := crashtest.ChildFromEnv(); c != nil {
		child(c)
	}
	durable = synchronous
	synchronous = "OFF" // nothing but the power can fail here
	os.Exit(m.Run())
}

// child runs debates until it is killed. Some kill points are inside SQLite's transactions.
func child(c *crashtest.Child) {
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, _ string) error {
		hooks := conn.(sqlite.HookRegisterer)
		hooks.RegisterPreUpdateHook(func(d sqlite.SQLitePreUpdateData) {
			c.ReachPoint(map[string]string{"entries": "inserting-entry", "debates": "replacing-status"}[d.TableName])
		})
		hooks.RegisterCommitHook(func() int32 {
			c.ReachPoint("sqlite-commits")
			return 0
		})
		return nil
	})
	s, err := Open(c.StoreAddress)
	c.Must(err)
	c.RunDebates(s)
}

// Debates survive a kill of their process at any point of a step.
func TestDebatesSurviveKills(t *testing.T) {
	if testing.Short() {
		t.Skip("starts dozens of processes")
	}
	path := filepath.Join(t.TempDir(), "debates.db")
	s, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	trial := crashtest.Trial{
		Store: s, StoreAddress: path, Children: 1, Points: points, KillsPerPoint: 1, RandomKills: 6,
		MaxLifetime: 300 * time.Millisecond, FinishTimeout: 15 * time.Minute,
	}
	trial.Run(t)
}
