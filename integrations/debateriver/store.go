package debateriver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/postgres"
)

// Config configures a [Store]. The zero Config is valid.
type Config struct {
	// Schema is the schema of the debates' tables. Defaults to the default of postgres.Config.
	Schema string
	// RiverSchema is the schema of River's tables, as in river.Config. Defaults to the first one in the connection's
	// search_path.
	RiverSchema string
	// JobTime is how long a job goes on to the next plans of its debate, before it leaves them to another job. Fewer jobs cost less:
	// River takes about a millisecond of processor time for each. River's Client.Stop waits for the jobs, so for up to JobTime
	// and a step. Defaults to 5 seconds, and is at most 20, because it is part of [GracePeriod]. If it is negative, each plan has
	// a job of its own.
	JobTime time.Duration
	// Logger logs lost connections, and jobs that River took away from a worker. Defaults to no logging.
	Logger *slog.Logger
}

const (
	defaultJobTime = 5 * time.Second
	maxJobTime     = 20 * time.Second
)

// Store is a store on PostgreSQL that schedules jobs: a commit that makes a new plan ready inserts its River job in the
// same transaction. A process that only submits, watches and controls debates needs no worker.
type Store struct {
	*postgres.Store
	pool    *pgxpool.Pool
	schema  string // schema of River's tables
	log     *slog.Logger
	client  *river.Client[pgx.Tx]
	jobTime time.Duration
}

var (
	_ store.Store     = (*Store)(nil)
	_ store.Watcher   = (*Store)(nil)
	_ store.Scheduler = (*Store)(nil)
)

// NewStore returns a store that uses the pool. The caller owns the pool and closes it.
func NewStore(pool *pgxpool.Pool, c Config) (*Store, error) {
	if c.JobTime > maxJobTime {
		return nil, fmt.Errorf("make store: JobTime: %v, use at most %v", c.JobTime, maxJobTime)
	}
	log := cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	pg, err := postgres.New(pool, postgres.Config{Schema: c.Schema, Logger: log})
	if err != nil {
		return nil, err
	}
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{ // a client that only inserts jobs
		Schema: c.RiverSchema, Logger: log,
		FetchCooldown: river.FetchCooldownMin, // River notifies workers of only one insert per cooldown
	})
	if err != nil {
		pg.Close()
		return nil, fmt.Errorf("make store: %w", err)
	}
	return &Store{Store: pg, pool: pool, schema: c.RiverSchema, log: log, client: client, jobTime: cmp.Or(c.JobTime, defaultJobTime)}, nil
}

// Migrate creates or updates the tables of debates and of River, and creates their schemas if they are missing. Many
// processes may call it at once.
func (s *Store) Migrate(ctx context.Context) error {
	if err := s.Store.Migrate(ctx); err != nil {
		return err
	}
	if err := s.migrateRiver(ctx); err != nil {
		return fmt.Errorf("migrate River: %w", err)
	}
	return nil
}

// migrateRiver migrates River's tables. It holds a lock on a connection outside the pool, because River's migrations
// take none.
func (s *Store) migrateRiver(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // the lock is released in any case
	if _, err := conn.Exec(ctx, `select pg_advisory_lock(hashtextextended('debateriver migrates ' || $1, 0))`, s.schema); err != nil {
		return err
	}
	var there bool
	if err := conn.QueryRow(ctx, `select $1 = '' or exists (select from pg_namespace where nspname = $1)`, s.schema).Scan(&there); err != nil {
		return err
	}
	if !there { // "create schema if not exists" needs the right to create even if the schema exists
		if _, err := conn.Exec(ctx, `create schema `+pgx.Identifier{s.schema}.Sanitize()); err != nil {
			return err
		}
	}
	m, err := rivermigrate.New(riverpgxv5.New(s.pool), &rivermigrate.Config{Schema: s.schema, Logger: s.log})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// Schedules implements store.Scheduler. It returns true.
func (s *Store) Schedules() bool { return true }

// Commit implements store.Store. The commit that ends the plan of a job either leaves the next plan to the job, or completes the
// job and inserts another one.
func (s *Store) Commit(ctx context.Context, c store.Change) error {
	t := jobRunFor(ctx, c)
	switch {
	case t == nil && c.Status.Plan.Key == "": // nothing is to be scheduled
		return s.Store.Commit(ctx, c)
	case t != nil && (!t.endsPlan(c) || t.goesOn(c)):
		err := s.Store.Commit(ctx, c)
		if err == nil && t.endsPlan(c) {
			t.plan.Store(&c.Status.Plan.Key)
		}
		return err
	}
	err := s.CommitWith(ctx, c, func(tx pgx.Tx) error { return s.schedule(ctx, tx, c, t) })
	if err == nil && t != nil {
		t.completed.Store(true)
	}
	return err
}

// schedule completes the job of t, if there is one, and inserts a job for the plan in c.
func (s *Store) schedule(ctx context.Context, tx pgx.Tx, c store.Change, t *jobRun) error {
	next := c.Status.Plan
	if t != nil {
		if err := s.complete(ctx, tx, t.job); err != nil {
			return fmt.Errorf("complete job %d of debate %s: %w", t.job.ID, c.ID, err)
		}
	}
	if next.Key == "" {
		return nil
	}
	if t == nil && c.After > 1 || len(c.Entries) == 0 { // others may run the debate: it has had a plan before
		if runs, err := s.runs(ctx, tx, c.Status); err != nil || runs {
			return err
		}
	}
	_, err := s.client.InsertTx(ctx, tx, jobArgs{Debate: c.ID, Created: c.Status.Created, Plan: next.Key, Timeout: next.Timeout}, &river.InsertOpts{
		Queue: Queue, MaxAttempts: maxAttempts, ScheduledAt: next.NotBefore, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: activeStates},
	})
	if err != nil {
		return fmt.Errorf("insert job for debate %s: %w", c.ID, err)
	}
	return nil
}

// runs reports whether a job of the debate is running. It sees what is planned before it ends, because it ends with a commit.
// A job that is being canceled in River does not.
func (s *Store) runs(ctx context.Context, tx pgx.Tx, h store.Status) (bool, error) {
	of, err := json.Marshal(map[string]any{"debate": h.ID, "created": h.Created})
	if err != nil {
		return false, fmt.Errorf("encode arguments: %w", err)
	}
	list, err := s.client.JobListTx(ctx, tx, river.NewJobListParams().Kinds(jobArgs{}.Kind()).States(rivertype.JobStateRunning).
		Where("args @> @of::jsonb and metadata->'cancel_attempted_at' is null", river.NamedArgs{"of": string(of)}))
	if err != nil {
		return false, fmt.Errorf("look for jobs of debate %s: %w", h.ID, err)
	}
	return len(list.Jobs) > 0, nil
}

// complete marks a job as completed. River may have taken the job away because it took too long or was canceled or
// deleted. Its plan is done even so, and the next worker of the job finds that out.
func (s *Store) complete(ctx context.Context, tx pgx.Tx, job *river.Job[jobArgs]) error {
	now, err := completeTx(ctx, tx, job)
	switch {
	case errors.Is(err, rivertype.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	if now.State != rivertype.JobStateCompleted {
		s.log.InfoContext(ctx, "River took the job away", "job", job.ID, "debate", job.Args.Debate, "state", now.State)
	}
	return nil
}

// completeTx marks a job as completed. Without the settings, PostgreSQL plans River's statement again for each job, or keeps
// a plan from when the table of jobs was small, which reads the whole table.
func completeTx[T river.JobArgs](ctx context.Context, tx pgx.Tx, job *river.Job[T]) (*river.Job[T], error) {
	const settings = `select set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)`
	if _, err := tx.Exec(ctx, settings); err != nil {
		return nil, err
	}
	return river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
}
