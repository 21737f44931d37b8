package debateriver

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"slices"
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
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/pgtest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
)

// testTimeout ends waits that would never end. No test that passes takes as long, however slow the machine is.
const testTimeout = 5 * time.Minute

// timeoutContext returns a context that ends after testTimeout.
func timeoutContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits until holds returns true.
func eventually(t testing.TB, holds func() bool, what string) {
	t.Helper()
	require.Eventually(t, holds, testTimeout, 10*time.Millisecond, what)
}

// receiveValue receives a value, or fails the test after testTimeout.
func receiveValue[T any](t testing.TB, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(testTimeout):
		require.Fail(t, "nothing came")
	}
	return v
}

// A testSchema is a schema for one test.
type testSchema struct {
	schema  string
	pool    *pgxpool.Pool // used by the test itself
	jobTime time.Duration // of each store
}

func newTestSchema(t testing.TB) *testSchema {
	t.Helper()
	s := &testSchema{schema: "test_" + strings.ToLower(rand.Text()[:12]), pool: newPool(t)}
	t.Cleanup(func() {
		_, err := s.pool.Exec(context.Background(), "drop schema "+s.schema+" cascade")
		require.NoError(t, err)
	})
	require.NoError(t, s.submitter(t).store.Migrate(t.Context()))
	return s
}

// withJobsOfOnePlan returns a schema in which each plan has a job of its own.
func withJobsOfOnePlan(t testing.TB) *testSchema {
	t.Helper()
	s := newTestSchema(t)
	s.jobTime = -1
	return s
}

// newPool returns a new pool, as a process would open.
func newPool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	p, err := pgxpool.New(context.Background(), pgtest.DSN(t))
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

// process is a program with its own pool, store and engine.
type process struct {
	*debate.Engine
	pool   *pgxpool.Pool
	store  *Store
	client *river.Client[pgx.Tx] // nil if the process only submits debates
}

// submitter starts a process without providers.
func (s *testSchema) submitter(t testing.TB) *process {
	t.Helper()
	p := s.open(t)
	p.Engine = debatetest.Engine(t, debate.Options{Store: p.store})
	return p
}

func (s *testSchema) open(t testing.TB) *process {
	t.Helper()
	p := &process{pool: newPool(t)}
	var err error
	p.store, err = NewStore(p.pool, Config{Schema: s.schema, RiverSchema: s.schema, JobTime: s.jobTime})
	require.NoError(t, err)
	t.Cleanup(p.store.Close)
	return p
}

// worker starts a worker process with the model m under the name "m".
func (s *testSchema) worker(t testing.TB, m providers.Provider) *process {
	t.Helper()
	return s.workerWith(t, debate.Options{Providers: map[string]providers.Provider{"m": m}})
}

func (s *testSchema) workerWith(t testing.TB, o debate.Options) *process {
	t.Helper()
	return s.workerOf(t, o, river.Config{FetchPollInterval: 20 * time.Millisecond}) // short, so that the tests are fast
}

// workerOfOneJob starts a worker that runs one job at a time.
func (s *testSchema) workerOfOneJob(t testing.TB, m providers.Provider) *process {
	t.Helper()
	return s.workerOf(t, debate.Options{Providers: map[string]providers.Provider{"m": m}}, river.Config{
		FetchPollInterval: 20 * time.Millisecond, Queues: map[string]river.QueueConfig{Queue: {MaxWorkers: 1}},
	})
}

func (s *testSchema) workerOf(t testing.TB, o debate.Options, c river.Config) *process {
	t.Helper()
	p := s.open(t)
	c.Schema = s.schema
	c.Workers = river.NewWorkers()
	c.Logger = slog.New(slog.DiscardHandler)
	c.TestOnly = true
	var err error
	p.Engine, err = AddWorker(c.Workers, p.store, o)
	require.NoError(t, err)
	p.client, err = river.NewClient(riverpgxv5.New(p.pool), Defaults(&c))
	require.NoError(t, err)
	require.NoError(t, p.client.Start(context.Background()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		require.NoError(t, p.client.StopAndCancel(ctx))
	})
	return p
}

// engine starts a process that runs debates itself, without jobs.
func (s *testSchema) engine(t testing.TB, m providers.Provider) *process {
	t.Helper()
	p := s.open(t)
	p.Engine = debatetest.Engine(t, debate.Options{Store: p.store, Providers: map[string]providers.Provider{"m": m}})
	return p
}

// on returns a handle of the debate in this process.
func (p *process) on(t testing.TB, d *debate.Debate) *debate.Debate {
	t.Helper()
	return debatetest.Open(t, p.Engine, d.ID())
}

// create creates a debate.
func (p *process) create(t testing.TB, c debate.Config) *debate.Debate {
	t.Helper()
	return debatetest.Create(t, p.Engine, c)
}

// submit creates a debate and starts it.
func (p *process) submit(t testing.TB, c debate.Config) *debate.Debate {
	t.Helper()
	d := p.create(t, c)
	require.NoError(t, d.Start(t.Context()))
	return d
}

// exec runs SQL in which {schema} and {jobs} stand for the schema and for the table of jobs.
func (s *testSchema) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	_, err := s.pool.Exec(t.Context(), s.sql(sql), args...)
	require.NoError(t, err)
}

func (s *testSchema) sql(text string) string {
	return strings.NewReplacer("{jobs}", s.schema+".river_job", "{debates}", s.schema+".debates", "{schema}", s.schema).Replace(text)
}

// jobRow is a row of river_job.
type jobRow struct {
	ID          int64
	State       string
	Plan        string
	Attempt     int
	Errors      int
	ScheduledAt time.Time
	Snoozes     int
}

func (r jobRow) active() bool { return slices.Contains(activeStates, rivertype.JobState(r.State)) }

// jobs returns all jobs of a debate, in the order of insertion.
func (s *testSchema) jobs(t testing.TB, d *debate.Debate) []jobRow {
	t.Helper()
	rows, err := s.pool.Query(context.Background(), s.sql(`select id, state::text, args->>'plan', attempt::int,
		coalesce(cardinality(errors), 0), scheduled_at, coalesce((metadata->>'snoozes')::int, 0) from {jobs} where args->>'debate' = $1 order by id`), d.ID())
	require.NoError(t, err)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[jobRow])
	require.NoError(t, err)
	return list
}

// activeJobs returns the jobs of a debate whose plan is not done yet.
func (s *testSchema) activeJobs(t testing.TB, d *debate.Debate) []jobRow {
	t.Helper()
	return slices.DeleteFunc(s.jobs(t, d), func(r jobRow) bool { return !r.active() })
}

// waitForSnooze waits until a worker has left the first job of a debate to others, and returns the job.
func (s *testSchema) waitForSnooze(t testing.TB, d *debate.Debate) jobRow {
	t.Helper()
	eventually(t, func() bool {
		job := s.jobs(t, d)[0]
		require.True(t, job.active(), "the job is %s", job.State)
		return job.Snoozes > 0
	}, "the job is snoozed")
	job := s.jobs(t, d)[0]
	require.Zero(t, job.Errors)
	return job
}

// waitForNoJobs waits until a debate has no active job.
func (s *testSchema) waitForNoJobs(t testing.TB, d *debate.Debate) {
	t.Helper()
	eventually(t, func() bool { return len(s.activeJobs(t, d)) == 0 }, "no job is left")
}

// requireJobsCompleted checks that there was one job for each plan, and that all are completed.
func (s *testSchema) requireJobsCompleted(t testing.TB, d *debate.Debate, plans []string) {
	t.Helper()
	var got []string
	for _, j := range s.jobs(t, d) {
		require.Equal(t, "completed", j.State, j.Plan)
		got = append(got, j.Plan)
	}
	require.Equal(t, plans, got)
}

// twoRoundPanel returns a debate of A and B over two rounds, judged by J.
func twoRoundPanel(mode panel.Mode) debate.Config {
	who := func(name string) debate.Participant {
		return debate.Participant{Name: name, Provider: "m", Model: name}
	}
	return debate.Config{
		Topic: "Is one enough?", Protocol: panel.Protocol{Mode: mode}, Participants: []debate.Participant{who("A"), who("B")},
		Judges: []debate.Participant{who("J")}, Limits: debate.Limits{MaxRounds: 2},
	}
}

// sequentialPanel returns such a debate with one turn after another.
func sequentialPanel() debate.Config { return twoRoundPanel(panel.Sequential) }

// digestModel answers each prompt with its digest, so that any difference in a prompt changes all later answers.
type digestModel struct {
	hook func(context.Context, providers.Request) error // called before each answer; may be nil

	mu    sync.Mutex
	calls map[string]int // by prompt
}

// Generate implements providers.Provider.
func (s *digestModel) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	said := fmt.Sprintf("%016x", debatetest.Digest(r))
	s.mu.Lock()
	if s.calls == nil {
		s.calls = map[string]int{}
	}
	s.calls[r.Model+" "+said]++
	s.mu.Unlock()
	if s.hook != nil {
		if err := s.hook(ctx, r); err != nil {
			return providers.Response{}, err
		}
	}
	p := scripted.Provider{Replies: []scripted.Reply{{Text: debatetest.Answer(r, said), Chunks: 3}}}
	return p.Generate(ctx, r)
}

// callCount returns the number of calls so far.
func (s *digestModel) callCount() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.calls {
		n += k
	}
	return n
}

// requireCalledOnce checks that the model was called exactly once for each step of a debate.
func (s *digestModel) requireCalledOnce(t testing.TB, r *debate.Result) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for step, n := range s.calls {
		require.Equal(t, 1, n, step)
	}
	require.Len(t, slices.Collect(maps.Keys(s.calls)), len(r.Turns))
}

// gate blocks the calls of one speaker until it is opened or the calls are canceled.
type gate struct {
	who     string
	arrived chan struct{} // receives a value for each call
	opened  chan struct{}
	cut     chan struct{} // receives a value for each canceled call
}

func newGate(who string) *gate {
	return &gate{who: who, arrived: make(chan struct{}, 100), opened: make(chan struct{}), cut: make(chan struct{}, 100)}
}

func (g *gate) open() { close(g.opened) }

// hold blocks a call of the speaker.
func (g *gate) hold(ctx context.Context, r providers.Request) error {
	if r.Model != g.who {
		return nil
	}
	g.arrived <- struct{}{}
	select {
	case <-g.opened:
		return nil
	case <-ctx.Done():
		g.cut <- struct{}{}
		return providers.ContextError(ctx, providers.Response{})
	}
}

// newGatedModel returns a model with a gate for one speaker.
func newGatedModel(who string) (*digestModel, *gate) {
	g := newGate(who)
	return &digestModel{hook: g.hold}, g
}

// blocked starts a worker and submits a debate from another process. It returns when the call of a speaker is at the gate.
func (s *testSchema) blocked(t testing.TB, who string, c debate.Config) (*digestModel, *gate, *process, *debate.Debate) {
	t.Helper()
	m, g := newGatedModel(who)
	s.worker(t, m)
	p := s.submitter(t)
	d := p.submit(t, c)
	receiveValue(t, g.arrived)
	return m, g, p, d
}

// watchUntil watches a debate until is returns true for an event.
func watchUntil(t testing.TB, d *debate.Debate, after int64, is func(debate.Event) bool) debate.Event {
	t.Helper()
	for ev, err := range d.Watch(timeoutContext(t), after) {
		require.NoError(t, err)
		if is(ev) {
			return ev
		}
	}
	require.Fail(t, "the debate ended before the event")
	return nil
}

// transitionTo returns a function that matches the transition to a state.
func transitionTo(state fsm.State) func(debate.Event) bool {
	return func(ev debate.Event) bool {
		s, ok := ev.(debate.StateChanged)
		return ok && s.To == state
	}
}

// turnOf returns a function that matches a turn of a speaker.
func turnOf(who string) func(debate.Event) bool {
	return func(ev debate.Event) bool {
		turn, ok := ev.(debate.TurnDone)
		return ok && turn.Turn.Actor == who
	}
}

// watchToEnd watches a debate to its end and returns its result.
func watchToEnd(t testing.TB, d *debate.Debate) *debate.Result {
	t.Helper()
	ev := watchUntil(t, d, 0, func(ev debate.Event) bool { _, ok := ev.(debate.Ended); return ok })
	return ev.(debate.Ended).Result
}

func statusOf(t testing.TB, d *debate.Debate) store.Status {
	t.Helper()
	h := debatetest.Status(t, d)
	h.Driver = store.Heartbeat{} // it changes with time
	return h
}

// planRecorder is a memory store that records the plans.
type planRecorder struct {
	store.Store
	store.Watcher
	plans []string
}

func (p *planRecorder) Commit(ctx context.Context, c store.Change) error {
	if key := c.Status.Plan.Key; key != "" && (len(p.plans) == 0 || key != p.plans[len(p.plans)-1]) {
		p.plans = append(p.plans, key)
	}
	return p.Store.Commit(ctx, c)
}

// runInMemory runs a debate in memory and returns its text and its plans.
func runInMemory(t testing.TB, c debate.Config) (words string, plans []string) {
	t.Helper()
	memory := store.Memory()
	s := &planRecorder{Store: memory, Watcher: memory.(store.Watcher)}
	d := debatetest.New(t, c, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": &digestModel{}}})
	r := debatetest.RunResult(t, d)
	return debatetest.Text(r), s.plans
}

// requireUndisturbed checks that a debate ended as an undisturbed one with the same ID does. The ID matters because it
// decides the pseudonyms that the judge sees.
func requireUndisturbed(t testing.TB, d *debate.Debate, c debate.Config) *debate.Result {
	t.Helper()
	c.ID = d.ID()
	words, _ := runInMemory(t, c)
	r := watchToEnd(t, d)
	require.Equal(t, words, debatetest.Text(r))
	return r
}
