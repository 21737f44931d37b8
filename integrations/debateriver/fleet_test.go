package debateriver

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/pgtest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
)

const (
	fleetWorkers = 4               // processes
	fleetJobs    = 256             // jobs that each of them runs at once
	fleetPool    = 8               // connections of each of them, besides those that listen
	fleetLatency = time.Second     // of a reply
	fleetTimeout = 5 * time.Second // of a step
)

// BenchmarkFleet runs many debates at once on worker processes, on a server that flushes each commit to the disk. It reports
// the turns per second and per job, how long controls of this process take meanwhile, and the server's connections. After that it kills a
// worker and reports how long it takes until another one has its jobs. make proofs ONLY=scale runs 1,000 debates.
func BenchmarkFleet(b *testing.B) {
	if testing.Short() {
		b.Skip("starts processes")
	}
	debates := 8
	if n, err := strconv.Atoi(os.Getenv("DEBATE_SCALE_FLEET")); err == nil {
		debates = n
	}
	f := newFleet(b)
	for b.Loop() {
		f.run(b, debates, 4)
	}
	if os.Getenv("DEBATE_SCALE_FLEET") != "" {
		f.benchKill(b, debates)
	}
}

// fleet is some worker processes, and an engine of this process that only submits and controls debates.
type fleet struct {
	schema  string
	pool    *pgxpool.Pool
	engine  *debate.Engine
	workers []*exec.Cmd
}

func newFleet(b *testing.B) *fleet {
	b.Helper()
	ctx := context.Background()
	dsn := pgtest.Start(b, true).DSN
	f := &fleet{schema: "fleet", pool: fleetConnect(b, dsn)}
	s, err := NewStore(f.pool, Config{Schema: f.schema, RiverSchema: f.schema})
	require.NoError(b, err)
	b.Cleanup(s.Close)
	require.NoError(b, s.Migrate(ctx))
	f.engine, err = debate.NewEngine(debate.Options{Store: s, Providers: map[string]providers.Provider{"m": fleetModel(fleetLatency)}})
	require.NoError(b, err)
	for range fleetWorkers {
		w := exec.CommandContext(ctx, os.Args[0])
		w.Env = append(os.Environ(), fleetVariable+"="+f.schema+" "+dsn)
		w.Stderr = os.Stderr
		require.NoError(b, w.Start())
		b.Cleanup(func() {
			_ = w.Process.Kill()
			_ = w.Wait()
		})
		f.workers = append(f.workers, w)
	}
	return f
}

func fleetConnect(b *testing.B, dsn string) *pgxpool.Pool {
	b.Helper()
	p, err := newFleetPool(dsn)
	require.NoError(b, err)
	b.Cleanup(p.Close)
	return p
}

func newFleetPool(dsn string) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	c.MaxConns = fleetPool
	return pgxpool.NewWithConfig(context.Background(), c)
}

// fleetModel returns a model whose replies take the given time.
func fleetModel(latency time.Duration) providers.Provider {
	speech := strings.Repeat("A closed centre is a quiet centre, and trade follows people. ", 20)
	var values sync.Map // replies, by schema
	return &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		reply := scripted.Reply{Text: speech}
		if r.Schema != nil {
			v, ok := values.Load(string(r.Schema))
			if !ok {
				v, _ = values.LoadOrStore(string(r.Schema), scripted.Values{}.Reply(r))
			}
			reply = v.(scripted.Reply)
		}
		reply.Latency = latency
		return reply
	}}
}

// fleetVariable is the environment variable that makes this binary a worker of a fleet. Its value is the schema and the
// address of the database.
const fleetVariable = "DEBATE_FLEET_WORKER"

// fleetWorker runs a worker until the process is killed.
func fleetWorker(address string) {
	workUntilKilled(address, newFleetPool, fleetModel(fleetLatency), &river.Config{
		ID: strconv.Itoa(os.Getpid()), Queues: map[string]river.QueueConfig{Queue: {MaxWorkers: fleetJobs}},
	})
}

// workUntilKilled runs a worker with the model m on the schema and the database of an address, until the process is killed.
func workUntilKilled(address string, open func(dsn string) (*pgxpool.Pool, error), m providers.Provider, c *river.Config) {
	must := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	schema, dsn, _ := strings.Cut(address, " ")
	pool, err := open(dsn)
	must(err)
	s, err := NewStore(pool, Config{Schema: schema, RiverSchema: schema})
	must(err)
	c.Schema = schema
	c.Workers = river.NewWorkers()
	c.Logger = slog.New(slog.DiscardHandler)
	_, err = AddWorker(c.Workers, s, debate.Options{Providers: map[string]providers.Provider{"m": m}})
	must(err)
	client, err := river.NewClient(riverpgxv5.New(pool), Defaults(c))
	must(err)
	must(client.Start(context.Background()))
	select {}
}

// fleetDebate returns a debate of two participants and a judge.
func fleetDebate(rounds int) debate.Config {
	member := func(name string) debate.Participant { return debate.Participant{Name: name, Provider: "m"} }
	return debate.Config{
		Topic: "Should cities ban cars?", Protocol: panel.Protocol{Format: panel.RoundLimited},
		Participants: []debate.Participant{member("Ann"), member("Bob")}, Judges: []debate.Participant{member("Cem")},
		Limits: debate.Limits{MaxRounds: rounds, StepTimeout: fleetTimeout},
	}
}

// start starts debates, several at once.
func (f *fleet) start(b *testing.B, debates, rounds int) (list []*debate.Debate) {
	b.Helper()
	ctx := context.Background()
	for range debates {
		d, err := f.engine.Create(ctx, fleetDebate(rounds))
		require.NoError(b, err)
		list = append(list, d)
	}
	var all sync.WaitGroup
	for part := range slices.Chunk(list, (debates+fleetPool-1)/fleetPool) {
		all.Go(func() {
			for _, d := range part {
				if err := d.Start(ctx); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	return list
}

// run runs debates to their ends, and pauses and resumes one after the other meanwhile.
func (f *fleet) run(b *testing.B, debates, rounds int) {
	ctx := context.Background()
	begun := time.Now()
	list := f.start(b, debates, rounds)
	var controls []time.Duration
	connections := 0
	for {
		d := list[rand.IntN(len(list))]
		for _, control := range []func(context.Context) error{d.Pause, d.Resume} {
			start := time.Now()
			if err := control(ctx); err == nil { // else it has ended
				controls = append(controls, time.Since(start))
			}
		}
		var now int
		require.NoError(b, f.pool.QueryRow(ctx, `select count(*) from pg_stat_activity where backend_type = 'client backend'`).Scan(&now))
		connections = max(connections, now)
		counts, err := f.engine.Count(ctx, store.Query{CreatedSince: begun.Truncate(time.Microsecond)})
		require.NoError(b, err)
		if counts[fsm.Completed] == debates {
			break
		}
		require.Zero(b, counts[fsm.Error])
		select { // as often as a person would look
		case <-time.After(100 * time.Millisecond):
		case <-b.Context().Done():
		}
	}
	took := time.Since(begun)
	var turns int
	require.NoError(b, f.pool.QueryRow(ctx, `select count(*) from `+f.schema+`.entries where type = 'turn' and at >= $1`, begun).Scan(&turns))
	var jobs int
	require.NoError(b, f.pool.QueryRow(ctx, `select count(*) from `+f.schema+`.river_job where created_at >= $1`, begun).Scan(&jobs))
	slices.Sort(controls)
	b.ReportMetric(float64(turns)/took.Seconds(), "turns/s")
	b.ReportMetric(float64(turns)/float64(jobs), "turns/job")
	b.ReportMetric(float64(connections), "connections")
	if len(controls) > 0 {
		b.ReportMetric(float64(controls[len(controls)/2].Microseconds())/1000, "control-p50-ms")
		b.ReportMetric(float64(controls[len(controls)*99/100].Microseconds())/1000, "control-p99-ms")
	}
}

// benchKill kills a worker and waits until other workers have run its jobs.
func (f *fleet) benchKill(b *testing.B, debates int) {
	ctx := context.Background()
	f.start(b, debates, 200)
	victim := f.workers[0]
	jobs := func(where string, args ...any) (ids []int64) {
		rows, err := f.pool.Query(ctx, `select id from `+f.schema+`.river_job where `+where, args...)
		require.NoError(b, err)
		for rows.Next() {
			var id int64
			require.NoError(b, rows.Scan(&id))
			ids = append(ids, id)
		}
		require.NoError(b, rows.Err())
		return ids
	}
	name := strconv.Itoa(victim.Process.Pid)
	require.Eventually(b, func() bool {
		return len(jobs(`state = 'running' and attempted_by[cardinality(attempted_by)] = $1`, name)) > debates/fleetWorkers/2
	}, time.Minute, 10*time.Millisecond)
	require.NoError(b, victim.Process.Kill())
	killed := time.Now()
	_ = victim.Wait()
	time.Sleep(time.Second) // the server finishes the commits that it has received, which may complete jobs
	lost := jobs(`state = 'running' and attempted_by[cardinality(attempted_by)] = $1`, name)
	require.NotEmpty(b, lost)
	var took []time.Duration
	require.Eventually(b, func() bool {
		waiting := jobs(`id = any($1) and attempted_by[cardinality(attempted_by)] = $2`, lost, name)
		for range len(lost) - len(waiting) - len(took) {
			took = append(took, time.Since(killed))
		}
		return len(waiting) == 0
	}, 5*time.Minute, 100*time.Millisecond)
	b.ReportMetric(float64(len(lost)), "jobs-lost")
	b.ReportMetric(took[len(took)/2].Seconds(), "taken-over-p50-s")
	b.ReportMetric(took[len(took)-1].Seconds(), "taken-over-max-s")
}
