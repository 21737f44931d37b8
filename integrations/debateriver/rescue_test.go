package debateriver

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
)

// TestARescueTakesTheStatedTime kills a worker during a call and measures the time until another worker continues the
// debate. River's intervals have their defaults, so this takes up to an hour. `make proofs ONLY=rescue` runs it.
func TestARescueTakesTheStatedTime(t *testing.T) {
	if os.Getenv("DEBATE_RESCUE") == "" {
		t.Skip("takes up to an hour; run make proofs ONLY=rescue")
	}
	const short = 30 * time.Second // so that the timeout of steps plus GracePeriod is below RescueStuckJobsAfter
	hour := river.Config{RescueStuckJobsAfter: time.Hour}
	for _, tt := range []struct {
		name        string
		config      river.Config
		stepTimeout time.Duration // 0 for the default of 5 minutes
		leader      bool          // the killed worker is River's leader
		after       time.Duration // time after which River may rescue the job
	}{
		{"short steps", river.Config{}, short, false, 90 * time.Second},
		{"short steps, leader killed", river.Config{}, short, true, 90 * time.Second},
		{"default steps", river.Config{}, 0, false, 5*time.Minute + GracePeriod},
		{"default steps, leader killed", river.Config{}, 0, true, 5*time.Minute + GracePeriod},
		{"without Defaults", hour, 0, false, time.Hour},
		{"without Defaults, leader killed", hour, 0, true, time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newTestSchema(t)
			m, g := newGatedModel("A")
			tt.config.Queues = map[string]river.QueueConfig{Queue: {MaxWorkers: 1}}
			heir := func() {
				s.workerOf(t, debate.Options{Providers: map[string]providers.Provider{"m": m}}, tt.config)
			}
			if !tt.leader { // the heir is the leader, and is busy until the victim has the job
				heir()
				s.waitForLeader(t)
				s.submitter(t).submit(t, sequentialPanel())
				receiveValue(t, g.arrived)
			}
			victim, called := s.startVictim(t)
			s.waitForLeader(t)
			c := sequentialPanel()
			c.Limits.StepTimeout = tt.stepTimeout
			d := s.submitter(t).submit(t, c)
			receiveValue(t, called)
			g.open()
			job, began := s.runningJob(t, d)
			require.NoError(t, victim.Process.Kill())
			killed := time.Now()
			if tt.leader {
				heir()
			}
			rescued := s.traceRescue(t, job, killed, tt.after+5*time.Minute)
			took := rescued.Sub(began)
			t.Logf("%s: the job was taken again %v after its first start, %v after the kill", tt.name, took, rescued.Sub(killed))
			require.Greater(t, took, tt.after)
			require.Less(t, took, tt.after+60*time.Second)
			requireUndisturbed(t, d, c)
		})
	}
}

// victimVariable is the environment variable that makes this binary a worker that never finishes a call. Its value is
// the schema and the address of the database.
const victimVariable = "DEBATE_RESCUE_VICTIM"

// startVictim starts a worker process that never finishes a call. The channel receives a value when a call begins.
func (s *testSchema) startVictim(t *testing.T) (victim *exec.Cmd, called chan struct{}) {
	t.Helper()
	victim = exec.CommandContext(t.Context(), os.Args[0])
	victim.Env = append(os.Environ(), victimVariable+"="+s.schema+" "+s.pool.Config().ConnString())
	victim.Stderr = os.Stderr
	out, err := victim.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, victim.Start())
	called = make(chan struct{}, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := io.ReadFull(out, make([]byte, len(calledText))); err == nil {
			called <- struct{}{}
		}
		_ = victim.Wait()
	}()
	t.Cleanup(func() {
		_ = victim.Process.Kill()
		<-ended
	})
	return victim, called
}

const calledText = "called\n"

// victim runs the worker process that startVictim starts. It leaves all of River's settings at their defaults.
func victim(address string) {
	open := func(dsn string) (*pgxpool.Pool, error) { return pgxpool.New(context.Background(), dsn) }
	workUntilKilled(address, open, &digestModel{hook: func(context.Context, providers.Request) error {
		fmt.Print(calledText)
		select {}
	}}, &river.Config{})
}

// waitForLeader waits until a River client is the leader.
func (s *testSchema) waitForLeader(t *testing.T) {
	t.Helper()
	eventually(t, func() bool {
		var n int
		err := s.pool.QueryRow(t.Context(), s.sql("select count(*) from {schema}.river_leader")).Scan(&n)
		return err == nil && n == 1
	}, "a client is the leader")
}

// runningJob returns the id of the debate's running job and the start of its last attempt.
func (s *testSchema) runningJob(t *testing.T, d *debate.Debate) (id int64, attemptedAt time.Time) {
	t.Helper()
	const query = "select id, attempted_at from {jobs} where args->>'debate' = $1 and state = 'running'"
	require.NoError(t, s.pool.QueryRow(t.Context(), s.sql(query), d.ID()).Scan(&id, &attemptedAt))
	return id, attemptedAt
}

// traceRescue logs what happens to a job after the kill of its worker, and returns the start of its second attempt.
func (s *testSchema) traceRescue(t *testing.T, job int64, killed time.Time, timeout time.Duration) (second time.Time) {
	t.Helper()
	const query = `select attempt, attempted_at, format('%s, attempt %s, may start at %s, %s; leader %s', state, attempt,
		to_char(scheduled_at, 'HH24:MI:SS.MS'), coalesce(errors[cardinality(errors)]->>'error', 'no error'),
		coalesce((select leader_id from {schema}.river_leader), 'none')) from {jobs} where id = $1`
	var attempt int
	var last string
	for deadline := killed.Add(timeout); attempt < 2; time.Sleep(50 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), "no rescue: %s", last)
		var text string
		require.NoError(t, s.pool.QueryRow(t.Context(), s.sql(query), job).Scan(&attempt, &second, &text))
		if text != last {
			t.Logf("%.1f s after the kill: %s", time.Since(killed).Seconds(), text)
			last = text
		}
	}
	return second
}
