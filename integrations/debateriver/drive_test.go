package debateriver

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
)

func TestWorkersDriveWhatAProcessWithoutProvidersSubmits(t *testing.T) {
	t.Parallel()
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			s := withJobsOfOnePlan(t)
			m := &digestModel{}
			s.worker(t, m)
			s.worker(t, m)
			d := s.submitter(t).submit(t, twoRoundPanel(mode))
			r := requireUndisturbed(t, d, twoRoundPanel(mode))
			m.requireCalledOnce(t, r)
			_, plans := runInMemory(t, twoRoundPanel(mode))
			s.requireJobsCompleted(t, d, plans)
		})
	}
}

// The commit that creates a debate with Launch has its job.
func TestWorkersDriveWhatAProcessLaunches(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	d, err := s.submitter(t).Launch(t.Context(), sequentialPanel())
	require.NoError(t, err)
	require.Equal(t, int64(2), statusOf(t, d).Seq, "one commit of two entries")
	require.Len(t, s.activeJobs(t, d), 1)
	m := &digestModel{}
	s.worker(t, m)
	r := watchToEnd(t, d)
	require.Equal(t, fsm.Completed, r.State)
	m.requireCalledOnce(t, r)
}

func TestAPhaseInParallelIsOneJob(t *testing.T) {
	t.Parallel()
	_, one := runInMemory(t, twoRoundPanel(panel.Sequential))
	_, both := runInMemory(t, twoRoundPanel(panel.Simultaneous))
	require.Len(t, both, len(one)-2, "one plan less in each of two rounds")
	s := withJobsOfOnePlan(t)
	m, g, _, d := s.blocked(t, "B", twoRoundPanel(panel.Simultaneous))
	watchUntil(t, d, 0, turnOf("A"))
	jobs := s.activeJobs(t, d)
	require.Len(t, jobs, 1, "A's turn is committed, B's is not")
	require.Equal(t, "running", jobs[0].State)
	g.open()
	m.requireCalledOnce(t, requireUndisturbed(t, d, twoRoundPanel(panel.Simultaneous)))
	s.requireJobsCompleted(t, d, both)
}

func TestAViewerThatGoesAwayStopsNothing(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m, g := newGatedModel("B")
	s.worker(t, m)
	first := s.submitter(t)
	d := first.submit(t, sequentialPanel())
	watchUntil(t, d, 0, turnOf("A"))
	receiveValue(t, g.arrived)
	require.NoError(t, first.Close(t.Context()))
	first.store.Close()
	first.pool.Close()
	g.open()
	m.requireCalledOnce(t, requireUndisturbed(t, s.submitter(t).on(t, d), sequentialPanel()))
}

func TestADebateThatIsSubmittedTwiceRunsOnce(t *testing.T) {
	t.Parallel()
	s := withJobsOfOnePlan(t)
	one, other := s.submitter(t), s.submitter(t)
	c := sequentialPanel()
	c.ID = "one"
	d := one.create(t, c)
	_, err := other.Create(t.Context(), c)
	require.ErrorContains(t, err, "taken")

	m := &digestModel{}
	s.worker(t, m)
	again := other.on(t, d)
	ctx, stop := context.WithCancel(t.Context())
	var starts sync.WaitGroup
	for i := range 4 { // before the debate runs, while it runs and at its end
		h := []*debate.Debate{d, again}[i%2]
		starts.Go(func() {
			for n := 0; n == 0 || ctx.Err() == nil; n++ {
				err := h.Start(t.Context())
				if _, over := errors.AsType[*fsm.Refused](err); over {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	m.requireCalledOnce(t, requireUndisturbed(t, d, c))
	stop()
	starts.Wait()
	_, plans := runInMemory(t, c)
	s.requireJobsCompleted(t, d, plans)
}

func TestADelayBetweenRoundsIsTheJobs(t *testing.T) {
	t.Parallel()
	s := withJobsOfOnePlan(t)
	c := sequentialPanel()
	c.Limits.RoundDelay = 100 * time.Millisecond
	_, plans := runInMemory(t, c)
	m := &digestModel{}
	s.worker(t, m)
	d := s.submitter(t).submit(t, c)
	r := requireUndisturbed(t, d, c)
	m.requireCalledOnce(t, r)
	s.requireJobsCompleted(t, d, plans)

	pause := watchUntil(t, d, 0, transitionTo(fsm.RoundComplete)).(debate.StateChanged)
	next := watchUntil(t, d, pause.Seq, transitionTo(fsm.AwaitingResponses)).(debate.StateChanged)
	due := pause.At.Add(c.Limits.RoundDelay)
	require.False(t, next.At.Before(due))
	var found int
	for _, j := range s.jobs(t, d) {
		if j.ScheduledAt.Equal(due) {
			found++
		}
	}
	require.Equal(t, 1, found, "one job was scheduled for that time")
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		if m.Event.Meta().Seq == pause.Seq {
			require.Equal(t, due, m.Status().Plan.NotBefore)
		}
	}
}

func TestAWatcherInTheWorkersProcessSeesChunks(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	heard := make(chan struct{})
	talk := &digestModel{}
	w := s.worker(t, debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		show := r.OnChunk
		r.OnChunk = func(text string) error {
			if err := show(text); err != nil {
				return err
			}
			select {
			case <-heard:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return talk.Generate(ctx, r)
	}))
	d := s.submitter(t).submit(t, sequentialPanel())
	ev := watchUntil(t, w.on(t, d), 0, func(ev debate.Event) bool { _, ok := ev.(debate.Chunk); return ok })
	require.Equal(t, "A", ev.(debate.Chunk).Key.Actor)
	require.NotEmpty(t, ev.(debate.Chunk).Text)
	close(heard)
	requireUndisturbed(t, d, sequentialPanel())
}

// A bug in a worker's code stops the debate. River does not try the job again.
func TestABugOfAWorkerIsAFailure(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	bug := debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) { panic("a bug") })
	s.workerWith(t, debate.Options{Providers: map[string]providers.Provider{"m": bug}})
	d := s.submitter(t).submit(t, sequentialPanel())
	ev := watchUntil(t, d, 0, transitionTo(fsm.Error)).(debate.StateChanged)
	require.Equal(t, providers.Panic, ev.Failure.Kind)
	require.Contains(t, ev.Failure.Stack, "debateriver")
	s.waitForNoJobs(t, d)
	for _, job := range s.jobs(t, d) {
		require.Equal(t, "completed", job.State)
		require.Zero(t, job.Errors)
	}
}

// A provider that ends the goroutine of its job keeps no place of the worker. River tries the job again.
func TestAGoroutineThatEndsBlocksNoJob(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m, ended := &digestModel{}, atomic.Bool{}
	s.workerOfOneJob(t, debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if ended.CompareAndSwap(false, true) {
			runtime.Goexit()
		}
		return m.Generate(ctx, r)
	}))
	submitter := s.submitter(t)
	first, second := submitter.submit(t, sequentialPanel()), submitter.submit(t, sequentialPanel())
	require.Equal(t, fsm.Completed, watchToEnd(t, second).State)
	require.Equal(t, fsm.Completed, watchToEnd(t, first).State)
}

// A fork has no job before it is started, and then workers continue it.
func TestWorkersContinueAFork(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m := &digestModel{}
	s.worker(t, m)
	submitter := s.submitter(t)
	d := submitter.submit(t, sequentialPanel())
	r := watchToEnd(t, d)
	m.requireCalledOnce(t, r)
	fork, err := submitter.Fork(t.Context(), d.ID(), r.Turns[1].Seq, debate.Edits{})
	require.NoError(t, err)
	is := statusOf(t, fork)
	require.Equal(t, fsm.Paused, is.State)
	require.Zero(t, is.Plan)
	require.Empty(t, s.activeJobs(t, fork))
	require.NoError(t, submitter.Recover(t.Context()))
	require.Empty(t, s.activeJobs(t, fork), "a fork waits until it is started")
	require.NoError(t, fork.Start(t.Context()))
	same := watchToEnd(t, fork)
	require.Equal(t, fsm.Completed, same.State)
	require.Len(t, same.Turns, len(r.Turns))
	require.Equal(t, 2*len(r.Turns)-2, m.callCount(), "the first two turns are not asked for again")
	for i := range r.Turns {
		require.Equal(t, r.Turns[i].Text, same.Turns[i].Text)
	}
}
