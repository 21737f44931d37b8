package debateriver

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

func TestAWorkerWithoutTheProtocolLeavesTheJobOfADebateThatLostItsHead(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m := &digestModel{}
	p := s.open(t)
	o := optionsWith(m)
	o.Store = p.store
	var err error
	p.Engine, err = debate.NewEngine(o)
	require.NoError(t, err)
	d := s.submitter(t).submit(t, configOfRenamedPanel())
	more, err := p.on(t, d).RunOnce(t.Context()) // accepts the configuration
	require.NoError(t, err)
	require.True(t, more)
	s.exec(t, "delete from {jobs} where args->>'plan' <> $1", statusOf(t, d).Plan.Key) // the job of the configuration
	require.Len(t, s.activeJobs(t, d), 1)
	s.exec(t, "delete from {debates}")

	without := s.worker(t, m)
	s.waitForSnooze(t, d)
	require.NoError(t, without.client.Stop(timeoutContext(t)))
	require.Len(t, s.activeJobs(t, d), 1)
	require.Zero(t, m.callCount())

	s.workerWith(t, optionsWith(m))
	s.exec(t, "update {jobs} set state = 'available', scheduled_at = now() where state = 'scheduled'")
	m.requireCalledOnce(t, watchToEnd(t, d))
	s.waitForNoJobs(t, d)
}

// A call that outlasts a pause keeps its job, even if another turn of its phase is committed while there is no plan.
func TestAParallelCallThatOutlastsAPauseIsNotMadeTwice(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	a, b := newGate("A"), newGate("B")
	first := &digestModel{hook: func(ctx context.Context, r providers.Request) error {
		if err := a.hold(ctx, r); err != nil {
			return err
		}
		return b.hold(ctx, r)
	}}
	s.workerOfOneJob(t, first)
	c := twoRoundPanel(panel.Simultaneous)
	d := s.submitter(t).submit(t, c)
	receiveValue(t, a.arrived)
	receiveValue(t, b.arrived)
	job := s.activeJobs(t, d)[0]
	require.NoError(t, d.Pause(t.Context()))
	a.open()
	watchUntil(t, d, 0, turnOf("A"))
	require.Equal(t, []jobRow{job}, s.activeJobs(t, d), "B's call is in progress")
	require.NoError(t, d.Resume(t.Context()))
	require.Equal(t, []jobRow{job}, s.activeJobs(t, d), "still")

	second, other := &digestModel{}, sequentialPanel()
	s.worker(t, second)
	aside := requireUndisturbed(t, s.submitter(t).submit(t, other), other) // run by the second worker, which would also run a second job of d
	b.open()
	r := requireUndisturbed(t, d, c)
	require.Equal(t, len(r.Turns)+len(aside.Turns), first.callCount()+second.callCount())
	s.waitForNoJobs(t, d)
}

// checking is a model whose first check waits for the test, even if its context is canceled.
type checking struct {
	*digestModel
	first, came, cut, end chan struct{} // first holds one value
}

func (c checking) Check(ctx context.Context, _ string) error {
	select {
	case <-c.first:
	default:
		return nil
	}
	c.came <- struct{}{}
	<-ctx.Done()
	c.cut <- struct{}{}
	<-c.end
	return ctx.Err()
}

func TestADebateUnderTheIDOfADeletedOneHasAJobOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	one := func() chan struct{} { return make(chan struct{}, 1) }
	m := checking{&digestModel{}, one(), one(), one(), one()}
	m.first <- struct{}{}
	s.worker(t, m)
	p, c := s.submitter(t), sequentialPanel()
	c.ID = "again"
	old := p.submit(t, c)
	receiveValue(t, m.came)
	require.NoError(t, p.Delete(t.Context(), old.ID()))
	receiveValue(t, m.cut)
	d := p.submit(t, c)
	require.Len(t, s.activeJobs(t, d), 2, "the job of the old debate is still running")
	m.end <- struct{}{}
	m.requireCalledOnce(t, requireUndisturbed(t, d, c))
	s.waitForNoJobs(t, d)
}

// loading is a store that calls before ahead of each load of a job.
type loading struct {
	*Store
	before func(id string)
}

func (l loading) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	if ctx.Value(jobRunKey{}) != nil {
		l.before(id)
	}
	return l.Store.Load(ctx, id, after)
}

// A late job ends when another driver rejects the debate, whenever that happens.
func TestALateJobDoesNotStartARejectedDebateAgain(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	submitter, driver := s.submitter(t), s.engine(t, lockedModel{&digestModel{}})
	var debates []*debate.Debate
	var mu sync.Mutex
	left := map[string]int{}               // number of loads before the debate is rejected
	rejects := map[string]*debate.Debate{} // handle that rejects the debate
	for n := range 5 {
		c := sequentialPanel()
		c.ID = fmt.Sprintf("d%d", n)
		d := submitter.submit(t, c)
		debates = append(debates, d)
		left[d.ID()], rejects[d.ID()] = n, driver.on(t, d)
	}
	s.loader(t, func(id string) {
		mu.Lock()
		defer mu.Unlock()
		left[id]--
		if left[id] == -1 {
			_, err := rejects[id].RunOnce(t.Context())
			assert.ErrorAs(t, err, new(*debate.Problems))
		}
	})
	for _, d := range debates {
		s.waitForNoJobs(t, d)
		started := 0
		for m, err := range d.Replay(t.Context()) {
			require.NoError(t, err)
			if transitionTo(fsm.Validating)(m.Event) {
				started++
			}
		}
		require.Equal(t, 1, started, "debate %s", d.ID())
		require.Equal(t, fsm.Configuring, statusOf(t, d).State)
	}
}

// loader starts a worker that calls before ahead of each load of a job.
func (s *testSchema) loader(t *testing.T, before func(id string)) {
	t.Helper()
	p, workers := s.open(t), river.NewWorkers()
	_, err := addWorker(workers, p.store, debate.Options{
		Store: loading{p.store, before}, Providers: map[string]providers.Provider{"m": lockedModel{&digestModel{}}},
	})
	require.NoError(t, err)
	client, err := river.NewClient(riverpgxv5.New(p.pool), Defaults(&river.Config{
		Schema: s.schema, Workers: workers, Logger: slog.New(slog.DiscardHandler), TestOnly: true,
	}))
	require.NoError(t, err)
	require.NoError(t, client.Start(context.Background()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		assert.NoError(t, client.StopAndCancel(ctx))
	})
}

// A job that exceeds its timeout has lost its worker.
func TestTheJobOfADeadWorkerIsRescuedAfterItsTimeout(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	p := s.submitter(t)
	dead, alive := p.submit(t, sequentialPanel()), p.submit(t, sequentialPanel())
	runs := func(d *debate.Debate, since time.Duration) {
		s.exec(t, `update {jobs} set state = 'running', attempt = 1, attempted_by = '{gone}', attempted_at = now() - make_interval(secs => $1)
			where args->>'debate' = $2`, since.Seconds(), d.ID())
	}
	row := func(d *debate.Debate) (text string) {
		require.NoError(t, s.pool.QueryRow(t.Context(), s.sql("select to_jsonb(j)::text from {jobs} j where args->>'debate' = $1"), d.ID()).Scan(&text))
		return text
	}
	timeout := statusOf(t, dead).Plan.Timeout + GracePeriod
	runs(dead, timeout+time.Second)
	runs(alive, timeout-time.Minute)
	before := row(alive)

	m := &digestModel{}
	s.worker(t, m)
	m.requireCalledOnce(t, requireUndisturbed(t, dead, sequentialPanel()))
	s.waitForNoJobs(t, dead)
	rescued := s.jobs(t, dead)[0]
	require.Equal(t, "completed", rescued.State)
	require.Equal(t, 2, rescued.Attempt)
	require.Equal(t, 1, rescued.Errors)
	require.Equal(t, before, row(alive))
	require.Equal(t, fsm.Validating, statusOf(t, alive).State)
}
