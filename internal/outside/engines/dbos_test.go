package engines

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/drivetest"
	"github.com/elenchus-go/debate/store"
)

// The outcomes of a step. DBOS stores them, and a workflow that it recovers reads them again.
const (
	more      = "more"
	nothing   = "nothing"
	elsewhere = "elsewhere" // this process lacks something
)

// program is what a process of DBOS registers. Each debate is a partition of the queue with one workflow at a time.
type program struct {
	engine *debate.Engine
	queue  dbos.Queue
	hold   func() // keeps a process that was killed from going on; a program has none
}

// Drive is the workflow.
func (p *program) Drive(ctx dbos.Context, id string) (string, error) {
	for {
		outcome, err := dbos.RunAsStep(ctx, func(c context.Context) (string, error) { return p.step(c, id) },
			dbos.WithStepMaxRetries(1_000_000), dbos.WithStepBaseInterval(time.Second), dbos.WithStepMaxInterval(time.Minute))
		if err != nil || outcome == nothing {
			return outcome, err
		}
		if outcome == elsewhere {
			_, err := dbos.RunWorkflow(ctx, p.Drive, id, dbos.WithQueue(p.queue), dbos.WithQueuePartitionKey(id), dbos.WithDelay(time.Second))
			return outcome, err
		}
	}
}

func (p *program) step(ctx context.Context, id string) (string, error) {
	again, err := do(ctx, p.engine, id)
	p.hold()
	switch {
	case errors.Is(err, debate.ErrUnsupported):
		return elsewhere, nil
	case again:
		return more, err
	}
	return nothing, err
}

// dbosSystem is DBOS on one SQLite file.
type dbosSystem struct {
	store store.Store
	url   string
	ended chan struct{} // closed with the test

	mu    sync.Mutex
	names int      // of executors
	dead  []string // executors whose work the next process takes over
}

// open connects an executor to the database.
func (s *dbosSystem) open(t testing.TB, executor string) (dbos.Context, dbos.Queue) {
	ctx, err := dbos.NewContext(context.Background(), dbos.Config{
		AppName: "debates", DatabaseURL: s.url, ExecutorID: executor, ApplicationVersion: "1", Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	queue, err := dbos.RegisterQueue(ctx, "debates", dbos.WithPartitionQueue(), dbos.WithGlobalConcurrency(1), dbos.WithQueueBasePollingInterval(20*time.Millisecond))
	require.NoError(t, err)
	return ctx, queue
}

func (s *dbosSystem) start(t testing.TB, o debate.Options) drivetest.Process {
	s.mu.Lock()
	executor := "executor-" + strconv.Itoa(s.names)
	if len(s.dead) > 0 {
		executor, s.dead = s.dead[0], s.dead[1:]
	} else {
		s.names++
	}
	s.mu.Unlock()
	alive, kill := context.WithCancel(context.Background())
	ctx, queue := s.open(t, executor)
	p := &program{engine: newEngine(t, o, s.store), queue: queue, hold: func() {
		if alive.Err() != nil {
			<-s.ended
		}
	}}
	dbos.RegisterWorkflow(ctx, p.Drive, dbos.WithWorkflowName("Drive"))
	require.NoError(t, dbos.Launch(ctx))
	end := sync.OnceFunc(func() {
		kill()
		_ = dbos.Shutdown(ctx, time.Second)
	})
	t.Cleanup(end)
	return drivetest.Process{Kill: func() {
		end()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dead = append(s.dead, executor)
	}}
}

func TestDBOS(t *testing.T) {
	drivetest.Run(t, func(t testing.TB) drivetest.System {
		s := &dbosSystem{store: store.Memory(), url: "sqlite:" + filepath.Join(t.TempDir(), "dbos.db"), ended: make(chan struct{})}
		client, _ := s.open(t, "client")
		t.Cleanup(func() { _ = dbos.Shutdown(client, time.Second) })
		t.Cleanup(func() { close(s.ended) })
		return drivetest.System{
			Store: s.store,
			Start: s.start,
			Drive: func(t testing.TB, id string) {
				_, err := dbos.Enqueue[string](client, "debates", "Drive", id, dbos.WithEnqueueQueuePartitionKey(id), dbos.WithEnqueueApplicationVersion("1"))
				require.NoError(t, err)
			},
		}
	})
}
