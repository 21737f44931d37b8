package debateriver

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
)

func TestWorkersDriveWhatAProcessWithoutProvidersSubmits(t *testing.T) {
	t.Parallel()
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			s := newSite(t)
			m := &speaker{}
			s.worker(t, m)
			s.worker(t, m)
			d := s.submitter(t).submit(t, two(mode))
			r := complete(t, d, two(mode))
			m.once(t, r)
			_, plans := undisturbed(t, two(mode))
			s.worked(t, d, plans)
		})
	}
}

func TestAPhaseInParallelIsOneJob(t *testing.T) {
	t.Parallel()
	_, one := undisturbed(t, two(panel.Sequential))
	_, both := undisturbed(t, two(panel.Simultaneous))
	require.Len(t, both, len(one)-2, "one less in each of two rounds")
	s := newSite(t)
	m, g := gated("B")
	s.worker(t, m)
	d := s.submitter(t).submit(t, two(panel.Simultaneous))
	receive(t, g.came)
	follow(t, d, 0, speaks("A"))
	jobs := s.activeJobs(t, d)
	require.Len(t, jobs, 1, "A has spoken, B is still to")
	require.Equal(t, "running", jobs[0].State)
	g.open()
	m.once(t, complete(t, d, two(panel.Simultaneous)))
	s.worked(t, d, both)
}

func TestAViewerThatGoesAwayStopsNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m, g := gated("B")
	s.worker(t, m)
	first := s.submitter(t)
	d := first.submit(t, seq())
	follow(t, d, 0, speaks("A"))
	receive(t, g.came)
	require.NoError(t, first.Close(t.Context()))
	first.store.Close()
	first.pool.Close()
	g.open()
	m.once(t, complete(t, s.submitter(t).on(t, d), seq()))
}

func TestADebateThatIsSubmittedTwiceRunsOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, other := s.submitter(t), s.submitter(t)
	c := seq()
	c.ID = "one"
	d := one.create(t, c)
	_, err := other.Create(t.Context(), c)
	require.ErrorContains(t, err, "taken")

	m := &speaker{}
	s.worker(t, m)
	again := other.on(t, d)
	ctx, stop := context.WithCancel(t.Context())
	var starts sync.WaitGroup
	for i := range 4 { // before it runs, while it does and at its end
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
	m.once(t, complete(t, d, c))
	stop()
	starts.Wait()
	_, plans := undisturbed(t, c)
	s.worked(t, d, plans)
}

func TestADelayBetweenRoundsIsTheJobs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := seq()
	c.Limits.RoundDelay = 100 * time.Millisecond
	_, plans := undisturbed(t, c)
	m := &speaker{}
	s.worker(t, m)
	d := s.submitter(t).submit(t, c)
	r := complete(t, d, c)
	m.once(t, r)
	s.worked(t, d, plans)

	pause := follow(t, d, 0, enters(fsm.RoundComplete)).(debate.StateChanged)
	next := follow(t, d, pause.Seq, enters(fsm.Awaiting)).(debate.StateChanged)
	due := pause.At.Add(c.Limits.RoundDelay)
	require.False(t, next.At.Before(due))
	var found int
	for _, j := range s.jobs(t, d) {
		if j.ScheduledAt.Equal(due) {
			found++
		}
	}
	require.Equal(t, 1, found, "one job was for that time")
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		if m.Event.Event().Seq == pause.Seq {
			require.Equal(t, due, m.Head().Plan.Due)
		}
	}
}

func TestAWatcherInTheWorkersProcessSeesChunks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	heard := make(chan struct{})
	talk := &speaker{}
	w := s.worker(t, model(func(ctx context.Context, r providers.Request) (providers.Response, error) {
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
	d := s.submitter(t).submit(t, seq())
	ev := follow(t, w.on(t, d), 0, func(ev debate.Event) bool { _, ok := ev.(debate.Chunk); return ok })
	require.Equal(t, "A", ev.(debate.Chunk).Key.Actor)
	require.NotEmpty(t, ev.(debate.Chunk).Text)
	close(heard)
	complete(t, d, seq())
}

// model is a function that is one.
type model func(context.Context, providers.Request) (providers.Response, error)

func (m model) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return m(ctx, r)
}
