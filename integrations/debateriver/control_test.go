package debateriver

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// refused returns the error of a model whose key is not accepted. Nothing retries it.
func refused() error {
	return &providers.Error{Kind: providers.Authentication, Err: errors.New("the key has expired")}
}

// newFailingModel returns a model and a channel. Each value in the channel makes one call of B fail.
func newFailingModel() (*digestModel, chan struct{}) {
	faults := make(chan struct{}, 10)
	return &digestModel{hook: func(_ context.Context, r providers.Request) error {
		if r.Model == "B" {
			select {
			case <-faults:
				return refused()
			default:
			}
		}
		return nil
	}}, faults
}

func TestAPauseLetsTheCallInFlightCommitAndLeavesNoJob(t *testing.T) {
	t.Parallel()
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			s := newTestSchema(t)
			m, g, _, d := s.blocked(t, "A", twoRoundPanel(mode))
			other := s.submitter(t).on(t, d)
			require.NoError(t, other.Pause(t.Context()))
			g.open()
			turn := watchUntil(t, d, 0, turnOf("A"))
			s.waitForNoJobs(t, d)
			status := statusOf(t, d)
			require.Equal(t, fsm.Paused, status.State)
			require.Zero(t, status.Plan)
			pause := watchUntil(t, d, 0, transitionTo(fsm.Paused))
			require.Less(t, pause.Meta().Seq, turn.Meta().Seq)
			before := len(s.jobs(t, d))

			require.NoError(t, other.Resume(t.Context()))
			require.Greater(t, len(s.jobs(t, d)), before)
			m.requireCalledOnce(t, requireUndisturbed(t, d, twoRoundPanel(mode)))
			require.Empty(t, s.activeJobs(t, d))
		})
	}
}

func TestACallThatFailsDuringAPauseIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	g := newGate("A")
	fails := make(chan struct{}, 1)
	fails <- struct{}{}
	m := &digestModel{hook: func(ctx context.Context, r providers.Request) error {
		if err := g.hold(ctx, r); err != nil || r.Model != "A" {
			return err
		}
		select {
		case <-fails:
			return refused()
		default:
			return nil
		}
	}}
	s.worker(t, m)
	d := s.submitter(t).submit(t, sequentialPanel())
	receiveValue(t, g.arrived)
	require.NoError(t, d.Pause(t.Context()))
	g.open()
	s.waitForNoJobs(t, d)
	require.Equal(t, fsm.Paused, statusOf(t, d).State)
	require.NoError(t, d.Resume(t.Context()))
	r := requireUndisturbed(t, d, sequentialPanel())
	require.Equal(t, len(r.Turns)+1, m.callCount())
}

func TestStopAndCancelCutCallsInFlight(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		end  func(*debate.Debate, context.Context) error
		want fsm.State
	}{
		{"stop", (*debate.Debate).Stop, fsm.Completed},
		{"cancel", (*debate.Debate).Cancel, fsm.Canceled},
	} {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			t.Run(tt.name+" "+string(mode), func(t *testing.T) {
				s := newTestSchema(t)
				_, g, _, d := s.blocked(t, "B", twoRoundPanel(mode))
				watchUntil(t, d, 0, turnOf("A"))
				require.NoError(t, tt.end(s.submitter(t).on(t, d), t.Context()))
				receiveValue(t, g.cut)
				r := watchToEnd(t, d)
				require.Equal(t, tt.want, r.State)
				for _, turn := range r.Turns {
					require.NotEqual(t, "B", turn.Actor)
				}
				require.Equal(t, tt.want == fsm.Completed, r.Turns[len(r.Turns)-1].Kind == transcript.Conclusion)
				s.waitForNoJobs(t, d)
				require.Empty(t, g.arrived, "no call is repeated")
			})
		}
	}
}

func TestADebateInErrorHasNoJobUntilRetryAndStart(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m, faults := newFailingModel()
	faults <- struct{}{}
	s.worker(t, m)
	d := s.submitter(t).submit(t, sequentialPanel())
	failed := watchUntil(t, d, 0, transitionTo(fsm.Error)).(debate.StateChanged)
	require.Equal(t, providers.Authentication, failed.Failure.Kind)
	require.Empty(t, s.activeJobs(t, d))
	before := len(s.jobs(t, d))
	other := s.submitter(t).on(t, d)
	require.NoError(t, other.Retry(t.Context()))
	require.Len(t, s.jobs(t, d), before, "the debate is ready and waits for Start")
	require.NoError(t, other.Start(t.Context()))
	r := requireUndisturbed(t, d, sequentialPanel())
	require.Equal(t, len(r.Turns)+1, m.callCount(), "only the failed call is repeated")
	s.waitForNoJobs(t, d)
}

func TestAQuestionIsDecidedByAnotherProcess(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m, faults := newFailingModel()
	faults <- struct{}{}
	s.worker(t, m)
	c := sequentialPanel()
	c.OnFailure = debate.Ask
	d := s.submitter(t).submit(t, c)
	asked := watchUntil(t, d, 0, transitionTo(fsm.Paused)).(debate.StateChanged)
	require.NotNil(t, asked.Question)
	s.waitForNoJobs(t, d) // the job may end after the event
	require.NoError(t, s.submitter(t).on(t, d).Decide(t.Context(), debatetest.Result(t, s.submitter(t).on(t, d)).Question.ID, "retry"))
	r := requireUndisturbed(t, d, c)
	require.Equal(t, len(r.Turns)+1, m.callCount())
	s.waitForNoJobs(t, d)
}

func TestARemarkOfAnotherProcessIsHeardFromTheNextStepOn(t *testing.T) {
	t.Parallel()
	s := withJobsOfOnePlan(t)
	m, g, _, d := s.blocked(t, "A", sequentialPanel())
	require.NoError(t, s.submitter(t).on(t, d).Inject(t.Context(), debate.Remark{From: "Guest", Text: "Think of the costs."}))
	require.Len(t, s.activeJobs(t, d), 1, "the plan is the same")
	g.open()
	r := watchToEnd(t, d)
	plain := sequentialPanel()
	plain.ID = d.ID()
	words, plans := runInMemory(t, plain)
	require.NotEqual(t, words, debatetest.Text(r), "the turns depend on the prompts")
	require.Equal(t, "Guest", r.Turns[0].Actor)
	require.Equal(t, len(r.Turns)-1, m.callCount())
	s.requireJobsCompleted(t, d, plans)
}

// With a scheduling store, Start does not run the debate, and each call that continues a debate inserts a job. This
// test has no worker.
func TestWhatGoesOnHasAJob(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m, faults := newFailingModel()
	faults <- struct{}{}
	c := sequentialPanel()
	c.OnFailure = debate.Ask
	submitter, driver := s.submitter(t), s.engine(t, m)
	d := submitter.create(t, c)
	require.Empty(t, s.jobs(t, d))
	job := func(why string) {
		t.Helper()
		jobs := s.activeJobs(t, d)
		require.Len(t, jobs, 1, why)
		require.Equal(t, statusOf(t, d).Plan.Key, jobs[0].Plan, why)
		require.Equal(t, "available", jobs[0].State)
		s.exec(t, "delete from {jobs}")
	}
	do := func() (more bool) {
		t.Helper()
		more, err := driver.on(t, d).RunOnce(t.Context())
		require.NoError(t, err)
		return more
	}
	require.NoError(t, driver.on(t, d).Start(t.Context()))
	job("started by an engine with providers")
	require.True(t, do())
	job("configuration accepted")
	require.NoError(t, d.Pause(t.Context()))
	require.Empty(t, s.jobs(t, d))
	require.NoError(t, d.Resume(t.Context()))
	job("resumed")
	require.True(t, do())
	job("A has spoken")
	require.False(t, do(), "a question is pending")
	require.Empty(t, s.jobs(t, d))
	require.NoError(t, d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, "retry"))
	job("question decided")
	require.NoError(t, d.Stop(t.Context()))
	job("ready for the conclusion")
	require.False(t, do())
	require.Empty(t, s.jobs(t, d))
	require.Equal(t, 3, m.callCount(), "A, the failed call of B, and the verdict")
}

// A debate with a plan has a job at all times, and each debate ends.
func TestPausesRaceWithCallsAndNoDebateIsStuck(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*testSchema{"jobs that go on": newTestSchema(t), "jobs of one plan": withJobsOfOnePlan(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.race(t)
		})
	}
}

// race pauses debates at random while two workers run them.
func (s *testSchema) race(t *testing.T) {
	t.Helper()
	m := &digestModel{hook: func(ctx context.Context, _ providers.Request) error {
		select { // the model is slow
		case <-time.After(rand.N(8 * time.Millisecond)):
		case <-ctx.Done():
			return providers.ContextError(ctx, providers.Response{})
		}
		if rand.N(8) == 0 {
			return refused()
		}
		return nil
	}}
	s.worker(t, m)
	s.worker(t, m)
	one, other := s.submitter(t), s.submitter(t)
	ctx, stop := context.WithCancel(t.Context())
	var watch, controls sync.WaitGroup
	watch.Go(func() { s.observe(ctx, t) })
	for i := range 16 {
		c := twoRoundPanel([]panel.Mode{panel.Sequential, panel.Simultaneous}[i%2])
		c.OnFailure, c.OnJudgeFailure = debate.Ask, debate.Ask
		d := one.submit(t, c)
		controls.Go(func() {
			pauseAtRandom(t, other.on(t, d), 12)
			if !t.Failed() {
				requireUndisturbed(t, d, c)
				s.waitForNoJobs(t, d)
			}
		})
	}
	controls.Wait()
	stop()
	watch.Wait()
}

// pauseAtRandom pauses and resumes a debate at random times until it ends, and answers its questions.
func pauseAtRandom(t *testing.T, d *debate.Debate, pauses int) {
	ctx := timeoutContext(t)
	for ctx.Err() == nil {
		status, err := d.Status(ctx)
		switch {
		case err != nil:
		case status.State.Final():
			return
		case status.State == fsm.Paused:
			err = d.Resume(ctx)
			if err != nil {
				if q := debatetest.Result(t, d).Question; q != nil { // it was pending, or appeared meanwhile
					err = d.Decide(ctx, q.ID, "retry")
				}
			}
		case pauses > 0:
			pauses--
			err = d.Pause(ctx)
		}
		_, late := errors.AsType[*fsm.Refused](err)
		if err != nil && !late {
			t.Errorf("debate %s: %v", d.ID(), err)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(rand.N(10 * time.Millisecond)):
		}
	}
	status, err := d.Status(t.Context())
	t.Errorf("debate %s is stuck in %s at plan %q: %v", d.ID(), status.State, status.Plan.Key, err)
}

// observe repeatedly looks for debates that have a plan but no job for it, and no running job either, which would find it.
func (s *testSchema) observe(ctx context.Context, t *testing.T) {
	for ctx.Err() == nil {
		var stuck, looks int
		err := s.pool.QueryRow(ctx, s.sql(`select count(*) filter (where not found), count(*) from (
			select exists (select from {jobs} j where j.args->>'debate' = d.id and (j.state = 'running' or
				j.args->>'plan' = d.status->'plan'->>'key' and j.state in ('available', 'pending', 'retryable', 'scheduled'))) as found
			from {debates} d where d.status->'plan'->>'key' <> '') x`)).Scan(&stuck, &looks)
		if ctx.Err() == nil && (err != nil || stuck > 0) {
			t.Errorf("%d of %d checks found a debate with a plan but without a job: %v", stuck, looks, err)
			return
		}
	}
}
