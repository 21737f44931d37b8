package debateriver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/crashtest"
	"github.com/elenchus-go/debate/internal/pgtest"
	"github.com/elenchus-go/debate/providers"
)

// BenchmarkTurns measures a turn through River, from the previous commit: fetch the job, call a model that answers at
// once, and commit.
func BenchmarkTurns(b *testing.B) {
	for _, jobs := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			e := benchWorker(b, jobs)
			turns := 0
			for b.Loop() {
				var all sync.WaitGroup
				for range 2 * jobs {
					all.Go(func() { hold(b, e) })
				}
				all.Wait()
				turns += 2 * jobs * 10
			}
			b.ReportMetric(float64(turns)/b.Elapsed().Seconds(), "turns/s")
		})
	}
}

// hold runs a debate of ten turns.
func hold(b *testing.B, e *debate.Engine) {
	ctx := context.Background()
	c := crashtest.NewConfig(crashtest.NewID())
	for _, list := range [][]debate.Participant{c.Participants, c.Judges} {
		for i := range list {
			list[i].Tools = nil // one call for each turn
		}
	}
	d, err := e.Create(ctx, c)
	if err == nil {
		err = d.Start(ctx)
	}
	if err != nil {
		b.Error(err)
		return
	}
	for _, err := range d.Watch(ctx, 0) {
		if err != nil {
			b.Error(err)
		}
	}
}

// benchWorker starts a worker that runs the given number of jobs at once, in a new schema.
func benchWorker(b *testing.B, jobs int) *debate.Engine {
	ctx := context.Background()
	config, err := pgxpool.ParseConfig(pgtest.DSN(b))
	require.NoError(b, err)
	config.MaxConns = 32
	pool, err := pgxpool.NewWithConfig(ctx, config)
	require.NoError(b, err)
	b.Cleanup(pool.Close)
	schema := fmt.Sprintf("bench_%x", rand.Uint64())
	s, err := NewStore(pool, Config{Schema: schema, RiverSchema: schema})
	require.NoError(b, err)
	b.Cleanup(s.Close)
	require.NoError(b, s.Migrate(ctx))
	b.Cleanup(func() {
		_, err := pool.Exec(ctx, `drop schema `+schema+` cascade`)
		require.NoError(b, err)
	})
	workers := river.NewWorkers()
	e, err := AddWorker(workers, s, debate.Options{Providers: map[string]providers.Provider{"m": crashtest.DigestModel(0)}})
	require.NoError(b, err)
	client, err := river.NewClient(riverpgxv5.New(pool), Defaults(&river.Config{
		Schema: schema, Workers: workers, Queues: map[string]river.QueueConfig{Queue: {MaxWorkers: jobs}},
	}))
	require.NoError(b, err)
	require.NoError(b, client.Start(ctx))
	b.Cleanup(func() { require.NoError(b, client.Stop(ctx)) })
	return e
}
