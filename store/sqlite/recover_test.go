package sqlite_test

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store/sqlite"
)

// callCounter counts the calls of a model that takes a while.
type callCounter struct {
	debatetest.DigestModel
	calls atomic.Int64
}

func (m *callCounter) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	m.calls.Add(1)
	return m.DigestModel.Generate(ctx, r)
}

// Two services use one file during a rolling deploy. No call is made twice.
func TestARollingDeployOnOneFilePaysForEachCallOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debates.db")
	looked := make(chan struct{}) // closed when the new service has looked at the debates: until then, none ends
	look := sync.OnceFunc(func() { close(looked) })
	defer look()
	m := &callCounter{DigestModel: debatetest.DigestModel{Names: []string{"A", "B"}, Latency: func() time.Duration {
		<-looked
		return 100 * time.Millisecond
	}}}
	service := func(name string) (*debate.Engine, *sqlite.Store) {
		s, err := sqlite.Open(path)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		e := debatetest.Engine(t, debate.Options{
			Store: s, Providers: map[string]providers.Provider{"m": m, "j": m}, Name: name,
			HeartbeatInterval: 50 * time.Millisecond, RecoverAfter: 10 * time.Minute,
		})
		t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
		return e, s
	}
	old, _ := service("old")
	var ids []string
	for _, id := range []string{"a", "b", "c"} {
		c := debatetest.PairConfig(nil)
		c.ID, c.Limits.MaxRounds = id, 2
		d := debatetest.Create(t, old, c)
		require.NoError(t, d.Start(t.Context()))
		ids = append(ids, id)
	}
	next, _ := service("next")
	d := debatetest.Open(t, next, "a")
	require.Eventually(t, func() bool {
		s, err := d.Status(t.Context())
		return err == nil && s.Driver.Name == "old"
	}, 5*time.Minute, 5*time.Millisecond)
	require.NoError(t, next.Recover(t.Context()))
	look()
	require.NoError(t, old.Close(t.Context()))
	turns := 0
	for _, id := range ids {
		d := debatetest.Open(t, next, id)
		for _, err := range d.Watch(t.Context(), 0) {
			require.NoError(t, err)
		}
		r := debatetest.Result(t, d)
		require.Equal(t, fsm.Completed, r.State)
		turns += len(r.Turns)
	}
	require.Greater(t, turns, 9)
	require.EqualValues(t, turns, m.calls.Load())
}
