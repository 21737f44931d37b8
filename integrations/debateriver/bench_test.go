package debateriver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/pgtest"
	"github.com/elenchus-go/debate/providers"
)

// BenchmarkTurns measures turns of debates of three rounds, which have 10, and of nine rounds, which have 28. A job runs a whole
// debate, unless that takes longer than Config.JobTime. The model answers at once.
func BenchmarkTurns(b *testing.B) {
	for _, rounds := range []int{3, 9} {
		for _, jobs := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("rounds=%d/jobs=%d", rounds, jobs), func(b *testing.B) { benchTurns(b, rounds, jobs) })
		}
	}
}

func benchTurns(b *testing.B, rounds, jobs int) {
	schema, pool := benchSchema(b)
	turns := runTurns(b, schema, pool, rounds, jobs, defaultJobTime)
	b.ReportMetric(float64(turns)/b.Elapsed().Seconds(), "turns/s")
}

// runTurns runs debates of a number of rounds on a worker in a schema, and returns their turns.
func runTurns(b *testing.B, schema string, pool *pgxpool.Pool, rounds, jobs int, jobTime time.Duration) int64 {
	var turns atomic.Int64
	ended := make(chan struct{}, 2*jobs)
	e := benchWorker(b, schema, pool, jobs, jobTime, func(_ context.Context, _ string, ev debate.Event) {
		switch ev := ev.(type) {
		case debate.TurnDone:
			turns.Add(1)
		case debate.StateChanged:
			if ev.To.Final() {
				ended <- struct{}{}
			}
		}
	})
	for b.Loop() {
		for range 2 * jobs {
			d, err := e.Create(b.Context(), fleetDebate(rounds))
			require.NoError(b, err)
			require.NoError(b, d.Start(b.Context()))
		}
		for range 2 * jobs {
			<-ended
		}
	}
	return turns.Load()
}

// BenchmarkScaleJobs reports the size of a completed job on disk: with the dead rows that its changes of state leave, and without
// them. River keeps completed jobs for a day. Each plan has a job, as with replies that take as long as Config.JobTime.
func BenchmarkScaleJobs(b *testing.B) {
	schema, pool := benchSchema(b)
	turns := runTurns(b, schema, pool, 9, 64, -1)
	measure := func() (size, jobs float64) {
		require.NoError(b, pool.QueryRow(b.Context(), `select pg_total_relation_size('`+schema+`.river_job'), count(*) from `+schema+`.river_job`).Scan(&size, &jobs))
		return size, jobs
	}
	size, jobs := measure()
	_, err := pool.Exec(b.Context(), `vacuum full `+schema+`.river_job`)
	require.NoError(b, err)
	compact, _ := measure()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(jobs, "jobs")
	b.ReportMetric(float64(turns)/jobs, "turns/job")
	b.ReportMetric(size/jobs, "B/job")
	b.ReportMetric(compact/jobs, "compact-B/job")
}

// BenchmarkEmptyJobs measures jobs of River that do nothing but insert the next one and complete themselves, in one
// transaction. It is what River takes of a turn.
func BenchmarkEmptyJobs(b *testing.B) {
	for _, jobs := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			schema, pool := benchSchema(b)
			chain := &chainWorker{pool: pool, done: make(chan struct{}, 2*jobs)}
			workers := river.NewWorkers()
			river.AddWorker(workers, chain)
			startClient(b, schema, pool, workers, jobs)
			turns := 0
			for b.Loop() {
				for range 2 * jobs {
					_, err := chain.client(b, schema).Insert(context.Background(), chainArgs{Left: 10, Chain: rand.Int64()}, chainInsertOpts)
					require.NoError(b, err)
				}
				for range 2 * jobs {
					<-chain.done
				}
				turns += 2 * jobs * 10
			}
			b.ReportMetric(float64(turns)/b.Elapsed().Seconds(), "turns/s")
		})
	}
}

// chainArgs are the arguments of a job that inserts the next one of its chain.
type chainArgs struct {
	Left  int   `json:"left" river:"unique"`
	Chain int64 `json:"chain" river:"unique"`
}

func (chainArgs) Kind() string { return "chain" }

var chainInsertOpts = &river.InsertOpts{Queue: Queue, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: activeStates}}

type chainWorker struct {
	river.WorkerDefaults[chainArgs]
	pool   *pgxpool.Pool
	insert atomic.Pointer[river.Client[pgx.Tx]]
	done   chan struct{}
}

// client returns a client that only inserts jobs, with the settings of a Store.
func (w *chainWorker) client(b *testing.B, schema string) *river.Client[pgx.Tx] {
	if c := w.insert.Load(); c != nil {
		return c
	}
	c, err := river.NewClient(riverpgxv5.New(w.pool), &river.Config{Schema: schema, FetchCooldown: river.FetchCooldownMin})
	require.NoError(b, err)
	w.insert.Store(c)
	return c
}

func (w *chainWorker) Work(ctx context.Context, job *river.Job[chainArgs]) error {
	err := pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		if _, err := completeTx(ctx, tx, job); err != nil {
			return err
		}
		if job.Args.Left == 1 {
			return nil
		}
		_, err := w.insert.Load().InsertTx(ctx, tx, chainArgs{Left: job.Args.Left - 1, Chain: job.Args.Chain}, chainInsertOpts)
		return err
	})
	if err == nil && job.Args.Left == 1 {
		w.done <- struct{}{}
	}
	return err
}

// BenchmarkRawTurns measures transactions of the shape of a turn, without River and without this library: one takes a job,
// and one inserts an entry, updates a status, finishes the job and inserts the next one.
func BenchmarkRawTurns(b *testing.B) {
	for _, jobs := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			schema, pool := benchSchema(b)
			ctx := context.Background()
			for _, table := range []string{
				`jobs (id bigserial primary key, state text not null default 'available', debate text not null, args json not null)`,
				`statuses (id text primary key, seq bigint not null, status json not null)`,
				`turns (debate text, seq bigint, at timestamptz not null default now(), data json not null, primary key (debate, seq))`,
			} {
				_, err := pool.Exec(ctx, `create table `+schema+`.`+table)
				require.NoError(b, err)
			}
			_, err := pool.Exec(ctx, `create index on `+schema+`.jobs (id) where state = 'available'`)
			require.NoError(b, err)
			r := newRawTurns(schema, pool)
			turns := 0
			for b.Loop() {
				var all sync.WaitGroup
				for range jobs {
					all.Go(func() {
						for range 2 {
							if err := r.chain(ctx, 10); err != nil {
								b.Error(err)
							}
						}
					})
				}
				all.Wait()
				turns += 2 * jobs * 10
			}
			b.ReportMetric(float64(turns)/b.Elapsed().Seconds(), "turns/s")
		})
	}
}

// rawTurns makes transactions on tables of one schema.
type rawTurns struct {
	pool                *pgxpool.Pool
	start, take, finish string
	entry, status       json.RawMessage // about as long as those of a turn
}

func newRawTurns(schema string, pool *pgxpool.Pool) *rawTurns {
	in := strings.NewReplacer("{", schema+".", "}", "")
	return &rawTurns{
		pool:  pool,
		start: in.Replace(`with s as (insert into {statuses} values ($1, 0, $2)) insert into {jobs} (debate, args) values ($1, $2)`),
		take: in.Replace(`update {jobs} set state = 'running' where id = (
			select id from {jobs} where state = 'available' order by id limit 1 for update skip locked) returning id, debate`),
		finish: in.Replace(`with t as (insert into {turns} (debate, seq, data) select $1, seq + 1, $2 from {statuses} where id = $1),
			s as (update {statuses} set seq = seq + 1, status = $3 where id = $1),
			j as (update {jobs} set state = 'completed' where id = $4)
			insert into {jobs} (debate, args) select $1, $3 where $5`),
		entry:  json.RawMessage(`{"text":"` + strings.Repeat("words of a turn ", 70) + `"}`),
		status: json.RawMessage(`{"topic":"` + strings.Repeat("words of a status ", 40) + `"}`),
	}
}

// chain starts a debate, and takes and finishes as many jobs as it has turns. They may belong to other debates.
func (r *rawTurns) chain(ctx context.Context, turns int) error {
	if _, err := r.pool.Exec(ctx, r.start, fmt.Sprintf("%x", rand.Uint64()), r.status); err != nil {
		return err
	}
	for i := range turns {
		var job int64
		var debate string
		err := pgx.ErrNoRows
		for errors.Is(err, pgx.ErrNoRows) { // others took the job that it had found
			err = r.pool.QueryRow(ctx, r.take).Scan(&job, &debate)
		}
		if err != nil {
			return err
		}
		err = pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, r.finish, debate, r.entry, r.status, job, i < turns-1)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// benchWorker starts a worker that runs the given number of jobs at once, in a schema. It tells commit of each event.
func benchWorker(
	b *testing.B, schema string, pool *pgxpool.Pool, jobs int, jobTime time.Duration, commit func(context.Context, string, debate.Event),
) *debate.Engine {
	s, err := NewStore(pool, Config{Schema: schema, RiverSchema: schema, JobTime: jobTime})
	require.NoError(b, err)
	b.Cleanup(s.Close)
	workers := river.NewWorkers()
	e, err := AddWorker(workers, s, debate.Options{
		Providers: map[string]providers.Provider{"m": fleetModel(0)}, Observer: debate.Observer{Commit: commit},
	})
	require.NoError(b, err)
	startClient(b, schema, pool, workers, jobs)
	return e
}

// benchSchema makes a schema with the tables of debates and of River.
func benchSchema(b *testing.B) (string, *pgxpool.Pool) {
	b.Helper()
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
	defer s.Close()
	require.NoError(b, s.Migrate(ctx))
	b.Cleanup(func() {
		_, err := pool.Exec(ctx, `drop schema `+schema+` cascade`)
		require.NoError(b, err)
	})
	return schema, pool
}

// startClient starts a River client that runs the given number of jobs at once.
func startClient(b *testing.B, schema string, pool *pgxpool.Pool, workers *river.Workers, jobs int) {
	b.Helper()
	ctx := context.Background()
	client, err := river.NewClient(riverpgxv5.New(pool), Defaults(&river.Config{
		Schema: schema, Workers: workers, Queues: map[string]river.QueueConfig{Queue: {MaxWorkers: jobs}},
	}))
	require.NoError(b, err)
	require.NoError(b, client.Start(ctx))
	b.Cleanup(func() { require.NoError(b, client.Stop(ctx)) })
}
