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
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// refused is what a model says whose key is not accepted: nobody tries again.
func refused() error {
	return &providers.Error{Kind: providers.Authentication, Err: errors.New("the key has expired")}
}

// faulty is a speaker that is refused once for each word in its channel, at B's turn.
func faulty() (*speaker, chan struct{}) {
	faults := make(chan struct{}, 10)
	return &speaker{before: func(_ context.Context, r providers.Request) error {
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
			s := newSite(t)
			m, g := gated("A")
			s.worker(t, m)
			d := s.submitter(t).submit(t, two(mode))
			receive(t, g.came)
			other := s.submitter(t).on(t, d)
			require.NoError(t, other.Pause(t.Context()))
			g.open()
			turn := follow(t, d, 0, speaks("A"))
			s.idle(t, d)
			head := headOf(t, d)
			require.Equal(t, fsm.Paused, head.State)
			require.Zero(t, head.Plan)
			pause := follow(t, d, 0, enters(fsm.Paused))
			require.Less(t, pause.Event().Seq, turn.Event().Seq)
			before := len(s.jobs(t, d))

			require.NoError(t, other.Resume(t.Context()))
			require.Greater(t, len(s.jobs(t, d)), before)
			m.once(t, complete(t, d, two(mode)))
			require.Empty(t, s.activeJobs(t, d))
		})
	}
}

func TestACallThatFailsDuringAPauseIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := shut("A")
	fails := make(chan struct{}, 1)
	fails <- struct{}{}
	m := &speaker{before: func(ctx context.Context, r providers.Request) error {
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
	d := s.submitter(t).submit(t, seq())
	receive(t, g.came)
	require.NoError(t, d.Pause(t.Context()))
	g.open()
	s.idle(t, d)
	require.Equal(t, fsm.Paused, headOf(t, d).State)
	require.NoError(t, d.Resume(t.Context()))
	r := complete(t, d, seq())
	require.Equal(t, len(r.Turns)+1, m.made())
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
				s := newSite(t)
				m, g := gated("B")
				s.worker(t, m)
				d := s.submitter(t).submit(t, two(mode))
				receive(t, g.came)
				follow(t, d, 0, speaks("A"))
				require.NoError(t, tt.end(s.submitter(t).on(t, d), t.Context()))
				receive(t, g.cut)
				r := ended(t, d)
				require.Equal(t, tt.want, r.State)
				for _, turn := range r.Turns {
					require.NotEqual(t, "B", turn.Actor)
				}
				require.Equal(t, tt.want == fsm.Completed, r.Turns[len(r.Turns)-1].Kind == transcript.Conclusion)
				s.idle(t, d)
				require.Empty(t, g.came, "nobody called again")
			})
		}
	}
}

func TestADebateInErrorHasNoJobUntilRetryAndStart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m, faults := faulty()
	faults <- struct{}{}
	s.worker(t, m)
	d := s.submitter(t).submit(t, seq())
	failed := follow(t, d, 0, enters(fsm.Error)).(debate.StateChanged)
	require.Equal(t, providers.Authentication, failed.Failure.Kind)
	require.Empty(t, s.activeJobs(t, d))
	before := len(s.jobs(t, d))
	other := s.submitter(t).on(t, d)
	require.NoError(t, other.Retry(t.Context()))
	require.Len(t, s.jobs(t, d), before, "it is ready, and waits for Start")
	require.NoError(t, other.Start(t.Context()))
	r := complete(t, d, seq())
	require.Equal(t, len(r.Turns)+1, m.made(), "only what failed was called again")
	s.idle(t, d)
}

func TestAQuestionIsDecidedByAnotherProcess(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m, faults := faulty()
	faults <- struct{}{}
	s.worker(t, m)
	c := seq()
	c.OnFailure = debate.Ask
	d := s.submitter(t).submit(t, c)
	asked := follow(t, d, 0, enters(fsm.Paused)).(debate.StateChanged)
	require.NotNil(t, asked.Question)
	s.idle(t, d) // the job ends after the event
	require.NoError(t, s.submitter(t).on(t, d).Decide(t.Context(), "retry"))
	r := complete(t, d, c)
	require.Equal(t, len(r.Turns)+1, m.made())
	s.idle(t, d)
}

func TestARemarkOfAnotherProcessIsHeardFromTheNextStepOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m, g := gated("A")
	s.worker(t, m)
	d := s.submitter(t).submit(t, seq())
	receive(t, g.came)
	require.NoError(t, s.submitter(t).on(t, d).Inject(t.Context(), debate.Remark{From: "Guest", Text: "Think of the costs."}))
	require.Len(t, s.activeJobs(t, d), 1, "it is the same plan")
	g.open()
	r := ended(t, d)
	plain := seq()
	plain.ID = d.ID()
	words, plans := undisturbed(t, plain)
	require.NotEqual(t, words, said(r), "what is said depends on what was shown")
	require.Equal(t, "Guest", r.Turns[0].Actor)
	require.Equal(t, len(r.Turns)-1, m.made())
	s.worked(t, d, plans)
}

// Start never drives where workers do, and each way to go on makes a job. Here is no worker at all.
func TestWhatGoesOnHasAJob(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m, faults := faulty()
	faults <- struct{}{}
	c := seq()
	c.OnFailure = debate.Ask
	submitter, driver := s.submitter(t), s.engine(t, m)
	d := submitter.create(t, c)
	require.Empty(t, s.jobs(t, d))
	job := func(why string) {
		t.Helper()
		jobs := s.activeJobs(t, d)
		require.Len(t, jobs, 1, why)
		require.Equal(t, headOf(t, d).Plan.Key, jobs[0].Plan, why)
		require.Equal(t, "available", jobs[0].State)
		s.exec(t, "delete from {jobs}")
	}
	do := func() (more bool) {
		t.Helper()
		more, err := driver.on(t, d).Do(t.Context())
		require.NoError(t, err)
		return more
	}
	require.NoError(t, driver.on(t, d).Start(t.Context()))
	job("an engine with providers leaves it to workers, too")
	require.True(t, do())
	job("the configuration was accepted")
	require.NoError(t, d.Pause(t.Context()))
	require.Empty(t, s.jobs(t, d))
	require.NoError(t, d.Resume(t.Context()))
	job("it was resumed")
	require.True(t, do())
	job("A has spoken")
	require.False(t, do(), "a question is open")
	require.Empty(t, s.jobs(t, d))
	require.NoError(t, d.Decide(t.Context(), "retry"))
	job("the question was decided")
	require.NoError(t, d.Stop(t.Context()))
	job("it is to be concluded")
	require.False(t, do())
	require.Empty(t, s.jobs(t, d))
	require.Equal(t, 3, m.made(), "A, B in vain, and the verdict")
}

// At no time has a debate a plan and no job, and each one ends.
func TestPausesRaceWithCallsAndNoDebateIsStuck(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m := &speaker{before: func(ctx context.Context, _ providers.Request) error {
		select { // a model takes its time
		case <-time.After(rand.N(8 * time.Millisecond)):
		case <-ctx.Done():
			return providers.Ended(ctx, providers.Response{})
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
		c := two([]panel.Mode{panel.Sequential, panel.Simultaneous}[i%2])
		c.OnFailure, c.OnJudgeFailure = debate.Ask, debate.Ask
		d := one.submit(t, c)
		controls.Go(func() {
			disturb(t, other.on(t, d), 12)
			if !t.Failed() {
				complete(t, d, c)
				s.idle(t, d)
			}
		})
	}
	controls.Wait()
	stop()
	watch.Wait()
}

// disturb pauses and resumes a debate a number of times at random moments, and answers its questions, until it has
// ended.
func disturb(t *testing.T, d *debate.Debate, pauses int) {
	ctx := limited(t)
	for ctx.Err() == nil {
		head, err := d.Head(ctx)
		switch {
		case err != nil:
		case head.State.Final():
			return
		case head.State == fsm.Paused:
			if err = d.Resume(ctx); err != nil {
				err = d.Decide(ctx, "retry") // a question was open, or came meanwhile
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
	head, err := d.Head(t.Context())
	t.Errorf("debate %s is stuck in %s at plan %q: %v", d.ID(), head.State, head.Plan.Key, err)
}

// observe looks again and again for a debate that has a plan and not one job for it.
func (s *site) observe(ctx context.Context, t *testing.T) {
	for ctx.Err() == nil {
		var stuck, looks int
		err := s.pool.QueryRow(ctx, s.sql(`select count(*) filter (where jobs <> 1), count(*) from (
			select (select count(*) from {jobs} j where j.args->>'debate' = d.id and j.args->>'plan' = d.head->'plan'->>'key'
				and j.state in ('available', 'pending', 'retryable', 'running', 'scheduled')) as jobs
			from {debates} d where d.head->'plan'->>'key' <> '') x`)).Scan(&stuck, &looks)
		if ctx.Err() == nil && (err != nil || stuck > 0) {
			t.Errorf("%d of %d debates have a plan, and not one job for it: %v", stuck, looks, err)
			return
		}
	}
}
