package debateriver

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
)

// insert inserts another job for a plan and returns its ID.
func (p *process) insert(t *testing.T, d *debate.Debate, key string) int64 {
	t.Helper()
	status, _ := d.Status(t.Context()) // zero if the debate was deleted
	res, err := p.store.client.Insert(t.Context(), jobArgs{Debate: d.ID(), Created: status.Created, Plan: key, Timeout: time.Minute}, &river.InsertOpts{Queue: Queue})
	require.NoError(t, err)
	require.False(t, res.UniqueSkippedAsDuplicate)
	return res.Job.ID
}

// done waits until a job is completed.
func (s *testSchema) done(t *testing.T, d *debate.Debate, id int64) {
	t.Helper()
	eventually(t, func() bool {
		for _, j := range s.jobs(t, d) {
			if j.ID == id {
				return j.State == "completed" && j.Errors == 0
			}
		}
		return false
	}, "the job is completed")
}

func TestALateJobChangesNothing(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	g, held := newGate("B"), newGate("C")
	m := &digestModel{hook: func(ctx context.Context, r providers.Request) error {
		if err := g.hold(ctx, r); err != nil {
			return err
		}
		return held.hold(ctx, r)
	}}
	s.worker(t, m)
	p := s.submitter(t)
	d := p.submit(t, sequentialPanel())
	receiveValue(t, g.arrived)
	key := statusOf(t, d).Plan.Key
	require.NoError(t, d.Pause(t.Context()))
	g.open()
	watchUntil(t, d, 0, turnOf("B"))
	s.waitForNoJobs(t, d)
	_, plans := runInMemory(t, sequentialPanel())
	late := func(why string) {
		t.Helper()
		status, calls := statusOf(t, d), m.callCount()
		for _, k := range []string{key, "nonsense", plans[0], plans[2]} {
			s.done(t, d, p.insert(t, d, k))
		}
		require.Equal(t, status, statusOf(t, d), why)
		require.Equal(t, calls, m.callCount(), why)
		require.Empty(t, s.activeJobs(t, d), why)
	}
	late("paused")
	require.NoError(t, d.Resume(t.Context()))
	requireUndisturbed(t, d, sequentialPanel())
	late("completed")

	gone := p.create(t, sequentialPanel())
	require.NoError(t, p.Delete(t.Context(), gone.ID()))
	s.done(t, gone, p.insert(t, gone, key))
	_, err := p.Open(t.Context(), gone.ID())
	require.Error(t, err)

	c := sequentialPanel()
	c.Participants[0].Model = held.who
	d = p.create(t, c)
	late("never started")
	require.NoError(t, d.Start(t.Context()))
	receiveValue(t, held.arrived)
	require.NoError(t, d.Cancel(t.Context()))
	watchToEnd(t, d)
	s.waitForNoJobs(t, d)
	late("canceled")
}

func TestAJobWithoutAPlanChangesNothing(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	s.worker(t, &digestModel{})
	p := s.submitter(t)
	d := p.create(t, sequentialPanel())
	status := statusOf(t, d)
	p.insert(t, d, "")
	s.waitForNoJobs(t, d)
	require.Equal(t, status, statusOf(t, d))
}

func TestDeletingADebateCutsItsCallAndEndsItsJob(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m, g, p, d := s.blocked(t, "A", sequentialPanel())
	require.NoError(t, p.Delete(t.Context(), d.ID()))
	receiveValue(t, g.cut)
	s.waitForNoJobs(t, d)
	for _, j := range s.jobs(t, d) {
		require.Equal(t, "completed", j.State)
		require.Zero(t, j.Errors)
	}
	require.Equal(t, 1, m.callCount())
}

func TestAJobThatTakesTooLongIsCutAndTriedAgain(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m, g := newGatedModel("A")
	d := s.submitter(t).submit(t, sequentialPanel())
	more, err := s.engine(t, m).on(t, d).RunOnce(t.Context()) // accepts the configuration
	require.NoError(t, err)
	require.True(t, more)
	within := func(d time.Duration) {
		s.exec(t, "update {jobs} set args = jsonb_set(args, '{timeout}', to_jsonb($1::bigint))", d.Nanoseconds())
	}
	within(time.Second - GracePeriod)
	s.worker(t, m)
	receiveValue(t, g.arrived)
	status := statusOf(t, d)
	receiveValue(t, g.cut)
	within(time.Minute)
	eventually(t, func() bool { return s.activeJobs(t, d)[0].Errors > 0 }, "River records the error")
	require.Equal(t, status, statusOf(t, d))
	g.open()
	r := requireUndisturbed(t, d, sequentialPanel())
	require.Equal(t, len(r.Turns)+1+len(g.cut), m.callCount(), "on a slow machine, the call is cut more than once")
	s.waitForNoJobs(t, d)
}

func TestAJobGoesOnToFurtherPlans(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	s.jobTime = maxJobTime
	m := &digestModel{}
	s.worker(t, m)
	s.worker(t, m)
	p := s.submitter(t)
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		d := p.submit(t, twoRoundPanel(mode))
		requireUndisturbed(t, d, twoRoundPanel(mode))
		s.waitForNoJobs(t, d)
		require.Len(t, s.jobs(t, d), 1)
	}
}

// A plan that begins later has a job of its own, so that the worker is free meanwhile.
func TestAJobLeavesAPlanThatBeginsLater(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	s.jobTime = maxJobTime
	m := &digestModel{}
	s.worker(t, m)
	c := sequentialPanel()
	c.Limits.RoundDelay = 100 * time.Millisecond
	d := s.submitter(t).submit(t, c)
	m.requireCalledOnce(t, requireUndisturbed(t, d, c))
	s.waitForNoJobs(t, d)
	require.Len(t, s.jobs(t, d), 2)
}

// A control changes the plan while a job runs. The job finds the new plan, so there is no other job, which another worker
// would run at the same time.
func TestARunningJobTakesThePlanOfAControl(t *testing.T) {
	t.Parallel()
	for _, jobTime := range []time.Duration{maxJobTime, -1} {
		t.Run(jobTime.String(), func(t *testing.T) {
			s := newTestSchema(t)
			s.jobTime = jobTime
			first, g := newGatedModel("B")
			s.workerOfOneJob(t, first)
			p := s.submitter(t)
			d := p.submit(t, sequentialPanel())
			receiveValue(t, g.arrived)
			jobs := s.activeJobs(t, d)
			require.Len(t, jobs, 1)
			require.NoError(t, d.Stop(t.Context()))
			receiveValue(t, g.cut)
			g.open()
			r := watchToEnd(t, d)
			require.Equal(t, fsm.Completed, r.State)
			require.Equal(t, len(r.Turns)+1, first.callCount(), "only the call that was cut is not in a turn")
			s.waitForNoJobs(t, d)
		})
	}
}

func TestJobsThatComeTwiceDoAPlanOnce(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m, g, p, d := s.blocked(t, "A", sequentialPanel())
	key := statusOf(t, d).Plan.Key
	ids := []int64{p.insert(t, d, key), p.insert(t, d, key)}
	eventually(t, func() bool { // the second job waits in the worker
		n := 0
		for _, j := range s.jobs(t, d) {
			if j.State == "running" {
				n++
			}
		}
		return n == 3
	}, "all run")
	g.open()
	m.requireCalledOnce(t, requireUndisturbed(t, d, sequentialPanel()))
	for _, id := range ids {
		s.done(t, d, id)
	}
	require.Empty(t, s.activeJobs(t, d))
}

// The state of a job in River does not protect its debate, and is not needed: changes to the row while its step is in
// progress change nothing.
func TestAJobThatIsTakenAwayInFlightHindersNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, sql string }{
		{"available again", "update {jobs} set state = 'available' where id = $1"},
		{"retryable", "update {jobs} set state = 'retryable', scheduled_at = now() + interval '1 hour' where id = $1"},
		{"cancelled", "update {jobs} set state = 'cancelled', finalized_at = now() where id = $1"},
		{"discarded", "update {jobs} set state = 'discarded', finalized_at = now() where id = $1"},
		{"deleted", "delete from {jobs} where id = $1"},
		{"taken by another worker", "update {jobs} set attempt = attempt + 1, attempted_by = array_append(attempted_by, 'other') where id = $1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestSchema(t)
			m, g, _, d := s.blocked(t, "B", sequentialPanel())
			jobs := s.activeJobs(t, d)
			require.Len(t, jobs, 1)
			s.exec(t, tt.sql, jobs[0].ID)
			g.open()
			m.requireCalledOnce(t, requireUndisturbed(t, d, sequentialPanel()))
			s.exec(t, "update {jobs} set state = 'available' where state = 'retryable'") // instead of after an hour
			s.exec(t, "update {jobs} set scheduled_at = now() where state = 'available'")
			s.waitForNoJobs(t, d)
		})
	}
}

// Two workers have the same job: the first turn is committed, and the other worker's call is canceled.
func TestAWorkerWhoseDebateWasTakenOverIsCut(t *testing.T) {
	t.Parallel()
	s := withJobsOfOnePlan(t)
	stale, g := newGatedModel("B")
	first := s.workerOfOneJob(t, stale)
	d := s.submitter(t).submit(t, sequentialPanel())
	receiveValue(t, g.arrived)
	require.ErrorIs(t, first.client.Stop(over(t)), context.Canceled)
	s.exec(t, "update {jobs} set state = 'available' where state = 'running'")
	fresh := &digestModel{}
	s.worker(t, fresh)
	receiveValue(t, g.cut)
	r := requireUndisturbed(t, d, sequentialPanel())
	require.Equal(t, len(r.Turns)+1, stale.callCount()+fresh.callCount())
	s.waitForNoJobs(t, d)
	_, plans := runInMemory(t, sequentialPanel())
	s.requireJobsCompleted(t, d, plans)
}

// over returns an ended context, so that Client.Stop begins but does not wait.
func over(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestOfTwoEnginesAtOnePlanOneIsCut(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	slow, g := newGatedModel("A")
	quick := &digestModel{}
	d := s.submitter(t).submit(t, sequentialPanel())
	one, other := s.engine(t, slow).on(t, d), s.engine(t, quick).on(t, d)
	more, err := one.RunOnce(t.Context()) // accepts the configuration
	require.NoError(t, err)
	require.True(t, more)
	did := make(chan error, 1)
	go func() {
		_, err := one.RunOnce(t.Context())
		did <- err
	}()
	receiveValue(t, g.arrived)
	for more := true; more; {
		more, err = other.RunOnce(t.Context())
		require.NoError(t, err)
	}
	receiveValue(t, g.cut)
	require.NoError(t, receiveValue(t, did))
	quick.requireCalledOnce(t, requireUndisturbed(t, d, sequentialPanel()))
}

// The turn and the next job are one transaction.
func TestWithoutTheNextJobThereIsNoTurn(t *testing.T) {
	t.Parallel()
	s := withJobsOfOnePlan(t)
	_, g, p, d := s.blocked(t, "A", sequentialPanel())
	s.exec(t, `create function {schema}.refuse() returns trigger language plpgsql as $$ begin raise exception 'no more jobs'; end $$`)
	s.exec(t, "create trigger refuse before insert on {jobs} for each row execute function {schema}.refuse()")
	status := statusOf(t, d)
	g.open()
	eventually(t, func() bool { return s.jobs(t, d)[1].Errors > 0 }, "the job fails")
	require.Equal(t, status, statusOf(t, d))
	require.Equal(t, status.Plan.Key, s.activeJobs(t, d)[0].Plan, "the plan is not done")

	waits := p.create(t, sequentialPanel())
	require.ErrorContains(t, waits.Start(t.Context()), "no more jobs")
	require.Equal(t, fsm.Configuring, statusOf(t, waits).State)

	s.exec(t, "drop trigger refuse on {jobs}")
	requireUndisturbed(t, d, sequentialPanel())
	require.NoError(t, waits.Start(t.Context()))
	requireUndisturbed(t, waits, sequentialPanel())
	_, plans := runInMemory(t, sequentialPanel())
	s.requireJobsCompleted(t, d, plans)
}

func TestStartPutsRightWhatLostItsJob(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, sql string }{
		{"deleted", "delete from {jobs} where state <> 'completed'"},
		{"cancelled", "update {jobs} set state = 'cancelled', finalized_at = now() where state <> 'completed'"},
		{"discarded", "update {jobs} set state = 'discarded', finalized_at = now() where state <> 'completed'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestSchema(t)
			m := &digestModel{}
			d := s.submitter(t).submit(t, sequentialPanel())
			first := s.engine(t, m).on(t, d)
			for range 2 { // the configuration and A's turn
				_, err := first.RunOnce(t.Context())
				require.NoError(t, err)
			}
			s.exec(t, tt.sql)
			require.Empty(t, s.activeJobs(t, d))
			status := statusOf(t, d)
			require.NoError(t, s.submitter(t).on(t, d).Start(t.Context()))
			require.Equal(t, status, statusOf(t, d), "Start commits nothing")
			require.Len(t, s.activeJobs(t, d), 1)
			s.worker(t, m)
			m.requireCalledOnce(t, requireUndisturbed(t, d, sequentialPanel()))
		})
	}
}

// Cancelling a job in River cancels its call. The debate stays unchanged.
func TestAJobThatIsCancelledInRiverWaitsForStart(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m, g, p, d := s.blocked(t, "A", sequentialPanel())
	status := statusOf(t, d)
	_, err := p.store.client.JobCancel(t.Context(), s.activeJobs(t, d)[0].ID)
	require.NoError(t, err)
	receiveValue(t, g.cut)
	s.waitForNoJobs(t, d)
	require.Equal(t, status, statusOf(t, d))
	g.open()
	require.NoError(t, d.Start(t.Context()))
	r := requireUndisturbed(t, d, sequentialPanel())
	require.Equal(t, len(r.Turns)+1, m.callCount())
}

// A control may come while the job is being canceled, which then looks for no further plan.
func TestAControlAfterTheCancellationOfAJobHasAJob(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	began, end := make(chan struct{}, 1), make(chan struct{})
	var once sync.Once
	m := &digestModel{hook: func(ctx context.Context, r providers.Request) (err error) {
		if r.Model == "B" {
			once.Do(func() {
				began <- struct{}{}
				<-end // the model is slow to notice that the job is canceled
				err = ctx.Err()
			})
		}
		return err
	}}
	s.worker(t, m)
	notice := sync.OnceFunc(func() { close(end) })
	t.Cleanup(notice)
	p := s.submitter(t)
	d := p.submit(t, sequentialPanel())
	receiveValue(t, began)
	job := s.activeJobs(t, d)[0]
	_, err := p.store.client.JobCancel(t.Context(), job.ID)
	require.NoError(t, err)
	require.NoError(t, d.Stop(t.Context()))
	require.Len(t, s.activeJobs(t, d), 2, "one of them is being canceled")
	notice()
	require.Equal(t, fsm.Completed, watchToEnd(t, d).State)
	s.waitForNoJobs(t, d)
}

// A model may use the context of its call for anything. In this test it runs another debate.
func TestAModelMaySubmitADebate(t *testing.T) {
	t.Parallel()
	s := withJobsOfOnePlan(t)
	p := s.submitter(t)
	c := sequentialPanel()
	c.ID = "inner"
	inner := p.create(t, c)
	m, g := newGatedModel("A")
	var once sync.Once
	s.worker(t, debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (_ providers.Response, err error) {
		once.Do(func() { err = inner.Start(ctx) })
		if err != nil {
			return providers.Response{}, err
		}
		return m.Generate(ctx, r)
	}))
	outer := p.submit(t, sequentialPanel())
	receiveValue(t, g.arrived)
	require.Len(t, s.activeJobs(t, outer), 1, "the step is in progress")
	g.open()
	requireUndisturbed(t, outer, sequentialPanel())
	requireUndisturbed(t, inner, c)
	_, plans := runInMemory(t, sequentialPanel())
	s.requireJobsCompleted(t, outer, plans)
	s.requireJobsCompleted(t, inner, plans)
}

// A panic stops the debate in an error. After Retry, workers continue it and repeat no committed step.
func TestADebateContinuesAfterAPanic(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	panics := make(chan struct{}, 1)
	panics <- struct{}{}
	m := &digestModel{hook: func(context.Context, providers.Request) error {
		select {
		case <-panics:
			panic("a bug in the provider")
		default:
			return nil
		}
	}}
	s.worker(t, m)
	d := s.submitter(t).submit(t, sequentialPanel())
	ev := watchUntil(t, d, 0, transitionTo(fsm.Error)).(debate.StateChanged)
	require.Equal(t, providers.Panic, ev.Failure.Kind)
	s.waitForNoJobs(t, d)
	require.NoError(t, d.Retry(t.Context()))
	require.NoError(t, d.Start(t.Context()))
	r := requireUndisturbed(t, d, sequentialPanel())
	require.Equal(t, len(r.Turns)+1, m.callCount())
}

// Recover gives workers the jobs that are missing.
func TestRecoverInsertsMissingJobs(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m := &digestModel{}
	p := s.submitter(t)
	d := p.submit(t, sequentialPanel())
	created := p.create(t, sequentialPanel()) // nobody has started it
	s.exec(t, "delete from {jobs}")
	require.NoError(t, p.Recover(t.Context()))
	require.NoError(t, p.Recover(t.Context()), "a second call inserts nothing")
	require.Len(t, s.activeJobs(t, d), 1)
	require.Empty(t, s.activeJobs(t, created))
	s.worker(t, m)
	m.requireCalledOnce(t, watchToEnd(t, d))
}
