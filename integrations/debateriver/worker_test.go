package debateriver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

func TestAConfigurationThatTheWorkerRejectsCanBeEdited(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m := &digestModel{}
	s.workerWith(t, debate.Options{Providers: map[string]providers.Provider{"m": m, "locked": lockedModel{m}}})
	wrong := sequentialPanel()
	wrong.Participants[1].Provider = "locked"
	d := s.submitter(t).submit(t, wrong)
	ev := watchUntil(t, d, 0, transitionTo(fsm.Configuring)).(debate.StateChanged)
	require.Len(t, ev.Problems, 1)
	require.Contains(t, ev.Problems[0].String(), "the key has expired")
	s.waitForNoJobs(t, d)
	require.Zero(t, statusOf(t, d).Plan)
	require.Equal(t, "completed", s.jobs(t, d)[0].State)
	wrong.Participants[1].Provider = "m"
	require.NoError(t, d.Edit(t.Context(), wrong))
	require.Len(t, s.jobs(t, d), 1)
	require.NoError(t, d.Start(t.Context()))
	m.requireCalledOnce(t, watchToEnd(t, d))
}

// lockedModel is a model whose key is refused.
type lockedModel struct{ providers.Provider }

func (lockedModel) Check(context.Context, string) error {
	return &providers.Error{Kind: providers.Authentication, Err: errors.New("the key has expired")}
}

// renamedPanel is a protocol that some workers do not have.
type renamedPanel struct{ panel.Protocol }

func (renamedPanel) Name() string { return "rare/1" }

func configOfRenamedPanel() debate.Config {
	c := sequentialPanel()
	c.Protocol = renamedPanel{}
	return c
}

func optionsWith(m providers.Provider) debate.Options {
	return debate.Options{Providers: map[string]providers.Provider{"m": m}, Protocols: []protocol.Protocol{renamedPanel{}}}
}

func TestADebateWaitsForAWorkerThatHasItsProtocol(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m := &digestModel{}
	without := s.worker(t, m)
	d := s.submitter(t).submit(t, configOfRenamedPanel())
	status := statusOf(t, d)
	job := s.waitForSnooze(t, d)
	require.True(t, job.ScheduledAt.After(status.Updated.Add(time.Second)))
	require.Equal(t, status, statusOf(t, d))
	full := debatetest.Status(t, d)
	require.Contains(t, full.Driver.Missing[0], `protocol.name: "rare/1" is unknown to this engine`)
	require.NoError(t, without.client.Stop(timeoutContext(t)))
	s.workerWith(t, optionsWith(m))
	s.exec(t, "update {jobs} set state = 'available', scheduled_at = now()")
	r := watchToEnd(t, d)
	m.requireCalledOnce(t, r)
	s.waitForNoJobs(t, d)
}

// A process needs no protocol to start a debate or to restore its job.
func TestAProcessWithoutTheProtocolStartsADebate(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m := &digestModel{}
	d := s.submitter(t).create(t, configOfRenamedPanel())
	require.NoError(t, s.submitter(t).on(t, d).Start(t.Context()))
	require.Len(t, s.activeJobs(t, d), 1)
	s.workerWith(t, optionsWith(m))
	m.requireCalledOnce(t, watchToEnd(t, d))
}

func TestStopLetsTheStepInFlightCommitAndStartsNone(t *testing.T) {
	t.Parallel()
	s := withJobsOfOnePlan(t)
	m, g := newGatedModel("A")
	w := s.workerOfOneJob(t, m)
	d := s.submitter(t).submit(t, sequentialPanel())
	receiveValue(t, g.arrived)
	require.ErrorIs(t, w.client.Stop(over(t)), context.Canceled)
	g.open()
	require.NoError(t, w.client.Stop(timeoutContext(t)))
	watchUntil(t, d, 0, turnOf("A"))
	require.Equal(t, 1, m.callCount())
	jobs := s.activeJobs(t, d)
	require.Len(t, jobs, 1)
	require.Equal(t, "available", jobs[0].State)
	require.Equal(t, statusOf(t, d).Plan.Key, jobs[0].Plan)
	s.worker(t, m)
	m.requireCalledOnce(t, requireUndisturbed(t, d, sequentialPanel()))
}

func TestStopAndCancelGivesTheStepInFlightToAnotherWorker(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		mode    panel.Mode
		jobTime time.Duration
	}{{panel.Sequential, -1}, {panel.Simultaneous, -1}, {panel.Sequential, maxJobTime}, {panel.Simultaneous, maxJobTime}} {
		mode := tt.mode
		t.Run(fmt.Sprintf("%s %v", mode, tt.jobTime), func(t *testing.T) {
			s := newTestSchema(t)
			s.jobTime = tt.jobTime
			m, g := newGatedModel("B")
			w := s.worker(t, m)
			d := s.submitter(t).submit(t, twoRoundPanel(mode))
			receiveValue(t, g.arrived)
			watchUntil(t, d, 0, turnOf("A"))
			status := statusOf(t, d)
			require.NoError(t, w.client.StopAndCancel(timeoutContext(t)))
			receiveValue(t, g.cut)
			require.Equal(t, status, statusOf(t, d))
			jobs := s.activeJobs(t, d)
			require.Len(t, jobs, 1)
			require.Equal(t, "available", jobs[0].State)
			require.False(t, jobs[0].ScheduledAt.After(time.Now()), "at once")
			require.Zero(t, jobs[0].Errors)
			g.open()
			s.worker(t, m)
			r := requireUndisturbed(t, d, twoRoundPanel(mode))
			require.Equal(t, len(r.Turns)+1, m.callCount())
			if tt.jobTime < 0 {
				_, plans := runInMemory(t, twoRoundPanel(mode))
				s.requireJobsCompleted(t, d, plans)
			}
			s.waitForNoJobs(t, d)
		})
	}
}

func TestAWorkerThatStopsLeavesNoGoroutine(t *testing.T) {
	for _, tt := range []struct {
		name string
		stop func(*river.Client[pgx.Tx], context.Context) error
	}{
		{"stop", (*river.Client[pgx.Tx]).Stop},
		{"stop and cancel", (*river.Client[pgx.Tx]).StopAndCancel},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := withJobsOfOnePlan(t)
			before := goleak.IgnoreCurrent()
			t.Run("a worker", func(t *testing.T) {
				m, g := newGatedModel("B")
				w := s.workerOfOneJob(t, m)
				d := s.submitter(t).submit(t, twoRoundPanel(panel.Simultaneous))
				receiveValue(t, g.arrived)
				require.ErrorIs(t, w.client.Stop(over(t)), context.Canceled)
				if tt.name == "stop" {
					g.open()
				}
				require.NoError(t, tt.stop(w.client, timeoutContext(t)))
				require.NoError(t, w.Close(t.Context()), "the engine runs nothing")
				require.Len(t, s.activeJobs(t, d), 1)
			})
			var err error
			for range 100 { // each call waits for less than a second, and the machine may be slow
				err = goleak.Find(before)
				if err == nil {
					break
				}
			}
			require.NoError(t, err)
		})
	}
}

// Jobs do not touch a debate that the worker's engine runs itself.
func TestAJobOfADebateThatTheEngineDrivesWaits(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m, g := newGatedModel("A")
	w := s.worker(t, m)
	d := w.create(t, sequentialPanel())
	ran := make(chan error, 1)
	go func() {
		for _, err := range d.Run(t.Context()) {
			if err != nil {
				ran <- err
				return
			}
		}
		ran <- nil
	}()
	receiveValue(t, g.arrived)
	eventually(t, func() bool {
		jobs := s.jobs(t, d)
		return len(jobs) > 0 && slices.ContainsFunc(jobs, func(j jobRow) bool { return j.active() && j.Errors == 0 })
	}, "the debate has a job")
	g.open()
	require.NoError(t, receiveValue(t, ran))
	m.requireCalledOnce(t, requireUndisturbed(t, d, sequentialPanel()))
	s.exec(t, "update {jobs} set scheduled_at = now() where state = 'available'")
	s.waitForNoJobs(t, d)
}

// River notifies workers when a job is inserted. Without the notification, they find the job when they poll, once a
// second.
func TestAWorkerIsToldOfEachJob(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m := &digestModel{}
	s.workerOf(t, debate.Options{Providers: map[string]providers.Provider{"m": m}}, river.Config{FetchPollInterval: time.Hour})
	d := s.submitter(t).submit(t, sequentialPanel())
	m.requireCalledOnce(t, requireUndisturbed(t, d, sequentialPanel()))
}

func TestWhenAJobIsTriedAgain(t *testing.T) {
	ended := func(cause error) context.Context {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		return ctx
	}
	expired, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	broken := errors.New("no database")
	for _, tt := range []struct {
		name string
		ctx  context.Context
		err  error
		want error
	}{
		{"any error: River's default", t.Context(), broken, broken},
		{"a job that took too long: River's default", expired, context.DeadlineExceeded, context.DeadlineExceeded},
		{"a canceled job: at once", ended(context.Canceled), context.Canceled, river.JobSnooze(0)},
		{"a canceled job with another error: at once", ended(errors.New("stopped")), broken, river.JobSnooze(0)},
		{"a closed engine: at once", t.Context(), fmt.Errorf("drive: %w", debate.ErrClosed), river.JobSnooze(0)},
		{"a debate that the engine runs itself: after a second", t.Context(), fmt.Errorf("drive: %w", debate.ErrBusy), river.JobSnooze(time.Second)},
		{"an unsupported debate: after a second", t.Context(), fmt.Errorf("drive: %w", debate.ErrUnsupported), river.JobSnooze(time.Second)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, retryDecision(tt.ctx, &river.Job[jobArgs]{JobRow: &rivertype.JobRow{}}, tt.err))
		})
	}
	for n, want := range map[int]time.Duration{0: time.Second, 3: time.Second, 4: 2 * time.Second, 20: 32 * time.Second, 24: time.Minute, 99: time.Minute} {
		job := &river.Job[jobArgs]{JobRow: &rivertype.JobRow{Metadata: fmt.Appendf(nil, `{"snoozes": %d}`, n)}}
		require.Equal(t, river.JobSnooze(want), retryDecision(t.Context(), job, debate.ErrUnsupported), "snoozed %d times", n)
	}
}

// A worker that lacks a provider leaves debates to others, for example during a deploy that adds the provider.
func TestDebatesEndWhileSomeWorkersLackAProvider(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m := &digestModel{}
	s.workerWith(t, debate.Options{Providers: map[string]providers.Provider{"other": m}})
	c := sequentialPanel()
	c.Limits.MaxRounds = 1
	p := s.submitter(t)
	var submitted []*debate.Debate
	for range 12 {
		submitted = append(submitted, p.submit(t, c))
	}
	s.waitForSnooze(t, submitted[0])
	full := debatetest.Status(t, submitted[0])
	require.Equal(t, `participants[0].provider: "m" is unknown, use one of other`, full.Driver.Missing[0])
	s.worker(t, m)
	turns := 0
	for _, d := range submitted {
		r := watchToEnd(t, d)
		require.Equal(t, fsm.Completed, r.State)
		turns += len(r.Turns)
	}
	require.Equal(t, turns, m.callCount())
}

func TestAJobIsRetriedAfterASecondAndEachTimeTwiceAsLong(t *testing.T) {
	for attempt, want := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 6: 32 * time.Second, 7: time.Minute, 8: time.Minute, maxAttempts: time.Minute,
	} {
		job := &river.Job[jobArgs]{JobRow: &rivertype.JobRow{Attempt: attempt}}
		from := time.Now()
		got := (&worker{}).NextRetry(job)
		require.WithinRange(t, got, from.Add(want), time.Now().Add(want), "attempt %d", attempt)
	}
}

func TestAJobHasTheTimeOfItsStepAndGrace(t *testing.T) {
	for _, within := range []time.Duration{time.Millisecond, 5 * time.Minute, 3 * time.Hour} {
		require.Equal(t, within+GracePeriod, (&worker{}).Timeout(&river.Job[jobArgs]{Args: jobArgs{Timeout: within}}))
	}
}

func TestTheEndOfAJobEndsItsWaitForAnother(t *testing.T) {
	w := &worker{running: map[string]chan struct{}{}}
	leave, err := w.acquire(t.Context(), "one")
	require.NoError(t, err)
	_, err = w.acquire(over(t), "one")
	require.ErrorIs(t, err, context.Canceled)
	other, err := w.acquire(t.Context(), "other")
	require.NoError(t, err)
	other()
	leave()
	again, err := w.acquire(t.Context(), "one")
	require.NoError(t, err)
	again()
	require.Empty(t, w.running)
}

func TestDefaultsFillInWhatIsMissing(t *testing.T) {
	pool := newPool(t)
	mine := river.QueueConfig{MaxWorkers: 3}
	for _, tt := range []struct {
		name        string
		give        river.Config
		queues      map[string]river.QueueConfig
		cooldown    time.Duration
		rescueAfter time.Duration
	}{
		{"nothing set", river.Config{}, map[string]river.QueueConfig{Queue: {MaxWorkers: 100}}, 5 * time.Millisecond, river.JobTimeoutDefault + GracePeriod},
		{
			"other queues",
			river.Config{Queues: map[string]river.QueueConfig{"mail": mine}},
			map[string]river.QueueConfig{"mail": mine, Queue: {MaxWorkers: 100}},
			5 * time.Millisecond, river.JobTimeoutDefault + GracePeriod,
		},
		{
			"everything set",
			river.Config{
				Queues: map[string]river.QueueConfig{Queue: mine}, FetchCooldown: time.Second, RescueStuckJobsAfter: time.Hour, JobTimeout: time.Minute,
			},
			map[string]river.QueueConfig{Queue: mine},
			time.Second, time.Hour,
		},
		{
			"a long timeout",
			river.Config{JobTimeout: 2 * time.Hour},
			map[string]river.QueueConfig{Queue: {MaxWorkers: 100}},
			5 * time.Millisecond, 2*time.Hour + GracePeriod,
		},
		{
			"no timeout",
			river.Config{JobTimeout: -1},
			map[string]river.QueueConfig{Queue: {MaxWorkers: 100}},
			5 * time.Millisecond, river.JobTimeoutDefault + GracePeriod,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			given := tt.give.Queues
			before := len(given)
			c := Defaults(&tt.give)
			require.Same(t, &tt.give, c)
			require.Equal(t, tt.queues, c.Queues)
			require.Equal(t, tt.cooldown, c.FetchCooldown)
			require.Equal(t, tt.rescueAfter, c.RescueStuckJobsAfter)
			require.Greater(t, c.RescueStuckJobsAfter, c.JobTimeout)
			require.Len(t, given, before, "the caller's map is unchanged")
			c.Workers = river.NewWorkers()
			river.AddWorker(c.Workers, &worker{})
			_, err := river.NewClient(riverpgxv5.New(pool), c)
			require.NoError(t, err)
		})
	}
}

func TestTheTimeOfAJobIsPartOfTheGracePeriod(t *testing.T) {
	_, err := NewStore(newPool(t), Config{JobTime: time.Minute})
	require.EqualError(t, err, "make store: JobTime: 1m0s, use at most 20s")
	s, err := NewStore(newPool(t), Config{})
	require.NoError(t, err)
	defer s.Close()
	require.Equal(t, defaultJobTime, s.jobTime)
}

func TestAddWorkerSaysWhatIsWrong(t *testing.T) {
	_, err := AddWorker(river.NewWorkers(), &Store{}, debate.Options{Providers: map[string]providers.Provider{"m": nil}})
	require.ErrorContains(t, err, `provider "m" is nil`)
	workers := river.NewWorkers()
	s, err := NewStore(newPool(t), Config{})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	_, err = AddWorker(workers, s, debate.Options{Store: store.Memory()})
	require.NoError(t, err)
	_, err = AddWorker(workers, s, debate.Options{})
	require.ErrorContains(t, err, "add worker: ")
}
