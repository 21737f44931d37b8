package debateriver

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/crashtest"
	"github.com/elenchus-go/debate/internal/test/pgtest"
	"github.com/elenchus-go/debate/store"
)

// points are the points at which a worker may be killed: around its job and its call, and in its transaction.
var points = []string{
	"job-begins", "called", "streaming", "answered", "committing", "transaction-begun", "turn-written", "job-completed", "next-inserted",
	"transaction-ends", "transaction-ended", "committed", "acknowledged", "job-ends",
}

// Debates survive a kill of either of two workers at any point of a step.
func TestDebatesSurviveKilledWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts dozens of processes")
	}
	trial := crashtest.Trial{
		Children: 2, Points: points, KillsPerPoint: 1, RandomKills: 4,
		MaxLifetime: 500 * time.Millisecond, FinishTimeout: 15 * time.Minute, // the last jobs wait for River's rescuer
	}
	if os.Getenv("DEBATE_KILLS_RESTARTS") == "" {
		trial.StoreAddress = pgtest.DSN(t)
	} else {
		server := pgtest.Start(t, true)
		trial.StoreAddress = server.DSN
		trial.RestartDatabase = func() error {
			server.Kill(t)
			server.Restart(t)
			return nil
		}
	}
	pool := connect(t, trial.StoreAddress)
	s, err := NewStore(pool, Config{Schema: crashSchema, RiverSchema: crashSchema})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	_, err = pool.Exec(t.Context(), `drop schema if exists `+crashSchema+` cascade`)
	require.NoError(t, err)
	require.NoError(t, s.Migrate(t.Context()))
	t.Cleanup(func() {
		_, err := pool.Exec(context.Background(), `drop schema `+crashSchema+` cascade`)
		require.NoError(t, err)
	})
	trial.Store = s
	if !crashtest.Soak() {
		trial.ExpireTimeouts = func() error { return expireTimeouts(t.Context(), pool) }
	}
	t.Cleanup(func() { logJobs(t, pool) })
	trial.Run(t)

	var open int
	require.NoError(t, pool.QueryRow(t.Context(), `select count(*) from `+crashSchema+`.river_job where state <> 'completed'`).Scan(&open))
	require.Zero(t, open, "unfinished jobs")
}

// expireTimeouts expires the lease of a dead leader and the timeouts of dead workers' jobs, so that River's rescuer
// acts at once.
func expireTimeouts(ctx context.Context, pool *pgxpool.Pool) error {
	_, err := pool.Exec(ctx, `delete from `+crashSchema+`.river_leader`)
	if err == nil {
		_, err = pool.Exec(ctx, `update `+crashSchema+`.river_job set attempted_at = attempted_at - interval '1 hour' where state = 'running'`)
	}
	return err
}

// logJobs logs the unfinished jobs if the test failed.
func logJobs(t *testing.T, pool *pgxpool.Pool) {
	if !t.Failed() {
		return
	}
	rows, err := pool.Query(context.Background(), `select state || ' ' || attempt || ' ' || coalesce(attempted_at::text, '') || ' ' || args::text from `+crashSchema+`.river_job where state <> 'completed'`)
	require.NoError(t, err)
	jobs, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	t.Logf("at %v:\n%s", time.Now(), strings.Join(jobs, "\n"))
}

const crashSchema = "crashed"

func connect(t *testing.T, dsn string) *pgxpool.Pool {
	pool, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// child is a worker that also submits debates, until it is killed.
func child(c *crashtest.Child) {
	ctx := context.Background()
	config, err := pgxpool.ParseConfig(c.StoreAddress)
	c.Must(err)
	config.ConnConfig.Tracer = pointTracer{c}
	config.MaxConns = 20
	pool, err := pgxpool.NewWithConfig(ctx, config)
	c.Must(err)
	s, err := NewStore(pool, Config{Schema: crashSchema, RiverSchema: crashSchema, JobTime: -time.Duration(os.Getpid() % 2)}) // half of the jobs go on
	c.Must(err)
	workers := river.NewWorkers()
	e, err := addWorker(workers, s, debate.Options{Store: c.Store(s), Providers: c.Models(), Tools: c.Tools()})
	c.Must(err)
	client, err := river.NewClient(riverpgxv5.New(pool), Defaults(&river.Config{
		Schema: crashSchema, Workers: workers, Middleware: []rivertype.Middleware{&pointMiddleware{child: c}},
		Logger:     slog.New(slog.DiscardHandler), // lost connections are part of the test
		JobTimeout: time.Second, RescueStuckJobsAfter: time.Second,
	}))
	c.Must(err)
	for err = client.Start(ctx); err != nil; err = client.Start(ctx) { // the database may be down
		time.Sleep(100 * time.Millisecond)
	}
	for c.Finish { // until the parent closes standard input
		c.Must(continueAll(ctx, c, e))
		time.Sleep(50 * time.Millisecond)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				submit(ctx, c, e)
			}
		})
	}
	all.Wait()
}

// continueAll continues the debates that do not run. The process of some died between Create and Start, or before it
// continued a debate that had stopped.
func continueAll(ctx context.Context, c *crashtest.Child, e *debate.Engine) error {
	for h, err := range e.List(ctx, store.Query{States: []fsm.State{fsm.Configuring, fsm.Ready, fsm.Paused, fsm.Error}}) {
		if err != nil {
			return err
		}
		d, err := e.Open(ctx, h.ID)
		if err == nil {
			err = continueDebate(ctx, c, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// continueDebate disturbs a debate, and starts it if it needs that.
func continueDebate(ctx context.Context, c *crashtest.Child, d *debate.Debate) error {
	err := c.Disturb(ctx, d)
	if err == nil {
		err = d.Start(ctx)
	}
	if _, refused := errors.AsType[*fsm.Refused](err); refused { // it runs, or is paused
		return nil
	}
	return err
}

// submit creates a debate for the workers, and disturbs it until it has ended.
func submit(ctx context.Context, c *crashtest.Child, e *debate.Engine) {
	d, err := e.Create(ctx, crashtest.NewConfig(crashtest.NewID()))
	for final := false; err == nil && !final; {
		err = continueDebate(ctx, c, d)
		if err == nil {
			var status store.Status
			status, err = d.Status(ctx)
			final = status.State.Final()
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil { // the database is down
		time.Sleep(100 * time.Millisecond)
	}
}

// pointMiddleware reaches the points before and after a job.
type pointMiddleware struct {
	river.MiddlewareDefaults
	child *crashtest.Child
}

func (a *pointMiddleware) Work(ctx context.Context, _ *rivertype.JobRow, work func(context.Context) error) error {
	a.child.ReachPoint("job-begins")
	err := work(ctx)
	a.child.ReachPoint("job-ends")
	return err
}

// pointTracer reaches the points in the transaction of a job's commit.
type pointTracer struct{ child *crashtest.Child }

type sqlKey struct{}

func (tr pointTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	if d.SQL == "commit" && isJobQuery(ctx) {
		tr.child.ReachPoint("transaction-ends")
	}
	return context.WithValue(ctx, sqlKey{}, d.SQL)
}

func (tr pointTracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryEndData) {
	sql, _ := ctx.Value(sqlKey{}).(string)
	switch {
	case d.Err != nil || !isJobQuery(ctx):
	case sql == "begin":
		tr.child.ReachPoint("transaction-begun")
	case sql == "commit":
		tr.child.ReachPoint("transaction-ended")
	case strings.Contains(sql, "INSERT INTO") && strings.Contains(sql, "river_job"):
		tr.child.ReachPoint("next-inserted")
	case strings.Contains(sql, "UPDATE") && strings.Contains(sql, "river_job"):
		tr.child.ReachPoint("job-completed")
	}
}

func (tr pointTracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (tr pointTracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (tr pointTracer) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchEndData) {
	if d.Err == nil && isJobQuery(ctx) {
		tr.child.ReachPoint("turn-written")
	}
}

// isJobQuery reports whether a job runs the statement.
func isJobQuery(ctx context.Context) bool {
	_, ok := ctx.Value(jobRunKey{}).(*jobRun)
	return ok
}
