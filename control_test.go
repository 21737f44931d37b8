package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// A stop during the conclusion changes neither the outcome nor its evidence.
func TestTheOutcomeIsDecidedOnce(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	runUntilTurn(t, d, transcript.Conclusion)
	require.NoError(t, d.Pause(t.Context()))
	want := debatetest.Result(t, d).Ending
	require.NotEmpty(t, want.Outcome)
	require.NotEqual(t, transcript.Stopped, want.Outcome)
	require.NoError(t, d.Stop(t.Context()))
	require.Equal(t, want, debatetest.Result(t, d).Ending)
	debatetest.Finish(t, d)
	require.Equal(t, want, debatetest.Result(t, d).Ending)
}

// deafModel is a model whose first call ignores that it is canceled, and replies when it is released.
type deafModel struct {
	providers.Provider
	called, release chan struct{}
	calls           atomic.Int64
	canceled        atomic.Bool
}

func newDeafModel() *deafModel {
	return &deafModel{Provider: talkingModel(), called: make(chan struct{}), release: make(chan struct{})}
}

func (m *deafModel) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if m.calls.Add(1) > 1 {
		return m.Provider.Generate(ctx, r)
	}
	close(m.called)
	<-m.release
	m.canceled.Store(ctx.Err() != nil)
	return providers.Response{Text: "too late", FinishReason: providers.Stop}, nil
}

// A step of a deleted debate is not committed to a new debate with the same id, although that has the same step open.
func TestACallForADeletedDebateIsNotCommittedToItsSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, deaf := store.Memory(), newDeafModel()
		engine := func(s store.Store, p providers.Provider) *debate.Engine {
			return debatetest.Engine(t, debate.Options{Store: s, Providers: providersOf(p, scriptedJudge(t, 1))})
		}
		// The old debate's engine polls the store once a second, so it does not notice the deletion.
		old := debatetest.Create(t, engine(struct{ store.Store }{s}, deaf), debatetest.PairConfig(nil))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = debatetest.Run(t, old)
		}()
		<-deaf.called
		time.Sleep(1500 * time.Millisecond)

		e := engine(s, slowModel())
		require.NoError(t, e.Delete(t.Context(), "d"))
		d := debatetest.Create(t, e, debatetest.PairConfig(nil))
		require.NoError(t, d.Annotate(t.Context(), "note", "new")) // the poll finds a seq that is higher
		runUntilTurn(t, d, transcript.Speech)
		time.Sleep(2 * time.Second)
		close(deaf.release)
		<-ended
		for _, turn := range debatetest.Result(t, d).Turns {
			require.NotEqual(t, "too late", turn.Text)
		}
	})
}

// A start that arrives while Run leaves takes effect only if the debate is active or paused by then.
func TestAStartThatComesWhileRunLeaves(t *testing.T) {
	t.Run("the debate is ready again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
				o.Providers["m"] = modelFailingFirst(1, providers.Authentication, transcript.Usage{})
			})
			for ev, err := range d.Run(t.Context()) {
				if _, ok := ev.(debate.PhaseStarted); ok {
					require.NoError(t, d.Start(t.Context()))
				}
				if err != nil {
					require.NoError(t, d.Retry(t.Context()))
				}
			}
			time.Sleep(time.Minute)
			require.Equal(t, fsm.Ready, debatetest.Result(t, d).State, "nobody has started it since")
			_, err := debatetest.Run(t, d)
			require.NoError(t, err, "nobody drives it")
			require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
		})
	})
	t.Run("the debate is paused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newPanelDebate(t, 1, nil)
			for ev, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				if _, ok := ev.(debate.PhaseStarted); ok {
					require.NoError(t, d.Start(t.Context()))
					require.NoError(t, d.Pause(t.Context()))
				}
			}
			synctest.Wait()
			require.NoError(t, d.Resume(t.Context()))
			synctest.Wait()
			require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
		})
	})
}

// If another process commits after the driver has planned its calls and before they can be canceled, they are canceled
// as soon as they can be.
func TestCallsOfAnOutdatedPlanAreCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
			<-ctx.Done()
			return providers.Response{}, providers.ContextError(ctx, providers.Response{})
		})
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = m })
		runUntilTurn(t, d, transcript.Speech)
		other := d.OpenWithProvider(t, m)
		began := time.Now()
		d.PerformPlanAfter(t, func() {
			require.NoError(t, other.Cancel(t.Context()))
			synctest.Wait() // the driver was told, and had nothing to cancel
		})
		require.Zero(t, time.Since(began))
	})
}

func TestStartReturnsWhyItCannotDrive(t *testing.T) {
	e := debatetest.Engine(t, debate.Options{})
	d := debatetest.Create(t, e, debatetest.PairConfig(nil))
	require.ErrorIs(t, d.Start(t.Context()), debate.ErrUnsupported)
	require.Equal(t, fsm.Configuring, debatetest.Result(t, d).State)

	e = debatetest.Engine(t, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
	d = debatetest.Create(t, e, debatetest.PairConfig(nil))
	require.NoError(t, e.Close(t.Context()))
	require.ErrorIs(t, d.Start(t.Context()), debate.ErrClosed)
}

// An engine that lacks the protocol of an active debate cannot drive it, but can ask workers to do so.
func TestStartOfAnActiveDebateWithAnotherProtocol(t *testing.T) {
	memory, models := store.Memory(), providersOf(talkingModel(), talkingModel())
	e := debatetest.Engine(t, debate.Options{Store: memory, Providers: models})
	c := debatetest.PairConfig(unjudgedPanel{})
	c.Judges = nil
	d := debatetest.Create(t, e, c)
	runUntilTurn(t, d, transcript.Speech)
	for want, s := range map[error]store.Store{debate.ErrUnsupported: memory, nil: schedulingStore{memory, memory.(store.Watcher)}} {
		e := debatetest.Engine(t, debate.Options{Store: s, Providers: models})
		other := debatetest.Open(t, e, d.ID())
		require.ErrorIs(t, other.Start(t.Context()), want)
	}
}

// Where workers drive, Start of a debate that was retried plans its next step.
func TestStartOfAReadyDebatePlansAStep(t *testing.T) {
	memory := store.Memory()
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store = schedulingStore{memory, memory.(store.Watcher)} })
	failByAuthentication(t, d)
	require.NoError(t, d.Retry(t.Context()))
	require.NoError(t, d.Start(t.Context()))
	require.Equal(t, fsm.AwaitingResponses, debatetest.Status(t, d).State)
	require.Equal(t, "1/1/respond/A/", debatetest.Status(t, d).Plan.Key)
}

// A debate without judges is never in judging. A transition has the round, and an ending only if it decides the outcome.
func TestTransitionsSayWhatTheyChange(t *testing.T) {
	d := newPanelDebate(t, 2, func(c *debate.Config, _ *debate.Options) {
		c.Protocol, c.Judges, c.Limits.MaxRounds = unjudgedPanel{}, nil, 2
	})
	events := debatetest.Finish(t, d)
	endings, round := 0, 0
	for _, ev := range events {
		s, ok := ev.(debate.StateChanged)
		if !ok {
			continue
		}
		require.NotEqual(t, fsm.Judging, s.To)
		if s.To == fsm.AwaitingResponses {
			round++
		}
		require.Equal(t, round, s.Round)
		if s.Ending.Outcome == "" {
			require.Zero(t, s.Ending)
		} else {
			endings++
		}
	}
	require.Equal(t, 2, round)
	require.Equal(t, 1, endings)
}

// A commit is never older than the one before, even if the clock of another machine was ahead.
func TestTimeNeverGoesBack(t *testing.T) {
	later := time.Now().Add(time.Hour).UTC()
	require.Equal(t, later, debate.TimeOfCommitAfter(later))
	require.True(t, debate.TimeOfCommitAfter(time.Time{}).Before(later))
}

// countingStore counts commits, and fails one of them.
type countingStore struct {
	store.Store
	store.Watcher
	commits, failAt atomic.Int64
	failWith        error
	last            atomic.Pointer[store.Change]
}

func newCountingStore() *countingStore {
	memory := store.Memory()
	return &countingStore{Store: memory, Watcher: memory.(store.Watcher), failWith: errNoSpace}
}

func (s *countingStore) Commit(ctx context.Context, c store.Change) error {
	if s.last.Store(&c); s.commits.Add(1) == s.failAt.Load() {
		return s.failWith
	}
	return s.Store.Commit(ctx, c)
}

// schedulingCounter is a countingStore whose debates workers drive.
type schedulingCounter struct{ *countingStore }

func (schedulingCounter) Schedules() bool { return true }

// Where workers drive, a second Start asks for a job again, although the debate does not change. Other repeated controls
// commit nothing.
func TestRepeatedControlsCommitNothing(t *testing.T) {
	s := newCountingStore()
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store = schedulingCounter{s} })
	require.NoError(t, d.Start(t.Context()))
	before := s.commits.Load()
	require.NoError(t, d.Start(t.Context()))
	require.Equal(t, before+1, s.commits.Load())
	require.Empty(t, s.last.Load().Entries)

	s = newCountingStore()
	d = newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store = s })
	runUntilTurn(t, d, transcript.Speech)
	for _, act := range []func(*debate.Debate, context.Context) error{(*debate.Debate).Pause, (*debate.Debate).Resume, (*debate.Debate).Stop} {
		require.NoError(t, act(d, t.Context()))
		before := s.commits.Load()
		require.NoError(t, act(d, t.Context()))
		require.Equal(t, before, s.commits.Load())
	}
}

func TestRemarksWithoutAnIDAreDifferent(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	for range 2 {
		require.NoError(t, d.Inject(t.Context(), debate.Remark{From: "Mo", Text: "Think of buses."}))
	}
	require.Len(t, debatetest.Result(t, d).Turns, 2)
}

func TestEditKeepsTheID(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	c := debatetest.PairConfig(nil)
	c.ID = "another"
	require.NoError(t, d.Edit(t.Context(), c))
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		if ev, ok := m.Event.(debate.ConfigChanged); ok {
			require.Contains(t, string(ev.Config), `"id":"d"`)
		}
	}
}

// slowChecker is a model whose check takes long and refuses the model.
type slowChecker struct{ providers.Provider }

func (slowChecker) Check(ctx context.Context, _ string) error {
	if err := sleepContext(ctx, 10*time.Second); err != nil {
		return err
	}
	return &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("no such model")}
}

// A commit that does not end the check of a configuration does not disturb it.
func TestACheckGoesOnWhenSomethingElseIsCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = slowChecker{talkingModel()} })
		began, ran := time.Now(), make(chan error, 1)
		go func() {
			_, err := debatetest.Run(t, d)
			ran <- err
		}()
		time.Sleep(time.Second)
		require.NoError(t, d.Annotate(t.Context(), "rating", 5))
		require.NoError(t, d.OpenWithProvider(t, talkingModel()).Annotate(t.Context(), "rating", 6))
		require.ErrorAs(t, <-ran, new(*debate.Problems))
		require.Equal(t, 10*time.Second, time.Since(began), "the check was not repeated")
	})
}

// A viewer that comes after Run has ended in the middle of a call sees nothing of that call.
func TestABrokenCallIsNotShownLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, nil)
		runUntilTurn(t, d, transcript.Speech)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		watcher := make(chan struct{})
		go func() { // keeps the live events
			defer close(watcher)
			for _, err := range d.Watch(t.Context(), 0) {
				assert.NoError(t, err)
			}
		}()
		synctest.Wait()
		runUntilTurn(t, d, transcript.Speech)
		for ev, err := range d.Watch(ctx, 0) {
			if err == nil { // the last one is the end of ctx
				assert.NotEqual(t, "turn_started", typeOf(ev))
			}
		}
		require.NoError(t, d.Cancel(t.Context()))
		<-watcher
	})
}

func typeOf(ev debate.Event) string {
	if ev == nil {
		return ""
	}
	return ev.Meta().Type
}

// After a commit that failed, the driver still notices the commits of other processes.
func TestACallIsCutAfterACommitThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCountingStore()
		calls := 0
		m := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
			if calls++; calls == 1 {
				s.failAt.Store(s.commits.Load() + 1)
				return providers.Response{Text: "lost", FinishReason: providers.Stop}, nil
			}
			<-ctx.Done()
			return providers.Response{}, providers.ContextError(ctx, providers.Response{})
		})
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store, o.Providers["m"] = s, m })
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(time.Minute) // the second call is in flight
		elsewhere := debatetest.Engine(t, debate.Options{Store: s})
		other := debatetest.Open(t, elsewhere, d.ID())
		began := time.Now()
		require.NoError(t, other.Cancel(t.Context()))
		watchAll(t, d, 0)
		synctest.Wait()
		require.Equal(t, 2, calls)
		require.Zero(t, time.Since(began), "the call is cut at once")
		require.Empty(t, debatetest.Result(t, d).Annotations, "an error of the store is no rate limit")
	})
}

// silentStore is a store whose announcements are lost.
type silentStore struct{ store.Store }

func (silentStore) Watch(string, func(int64)) (stop func()) { return func() {} }

// A call is not made if the handle that drives the debate has canceled it, although the store announces nothing.
func TestTheDriversOwnCancelNeedsNoNotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := slowModel()
		d := newPanelDebate(t, 5, func(c *debate.Config, o *debate.Options) {
			c.Limits.RoundDelay, o.Store, o.Providers["m"] = time.Minute, silentStore{store.Memory()}, m
		})
		for ev, err := range d.Run(t.Context()) {
			require.NoError(t, err)
			if p, ok := ev.(debate.PhaseStarted); ok && p.Round == 2 { // after the delay, the plan begins the phase
				require.NoError(t, d.Cancel(t.Context()))
			}
		}
		require.Len(t, m.Calls(), 2, "those of the first round")
	})
}

// If a turn cannot be committed because another process has ended the debate, the other calls of the phase are canceled
// at once, although the store announces nothing.
func TestAConflictCancelsTheOtherCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := store.Memory()
		var calls atomic.Int64
		m := debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
			if calls.Add(1) == 1 {
				time.Sleep(10200 * time.Millisecond)
				return providers.Response{Text: "Late.", FinishReason: providers.Stop}, nil
			}
			<-ctx.Done()
			return providers.Response{}, providers.ContextError(ctx, providers.Response{})
		})
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol, o.Store, o.Providers["m"] = panel.Protocol{Mode: panel.Simultaneous}, struct{ store.Store }{memory}, m
		})
		elsewhere := debatetest.Engine(t, debate.Options{Store: memory})
		other := debatetest.Open(t, elsewhere, d.ID())
		began := time.Now()
		time.AfterFunc(10100*time.Millisecond, func() { assert.NoError(t, other.Cancel(t.Context())) })
		debatetest.Finish(t, d)
		require.Equal(t, 10200*time.Millisecond, time.Since(began))
	})
}

// A conflict makes a control try again, also without a driver.
func TestAControlTriesAgainAfterAConflict(t *testing.T) {
	s := newCountingStore()
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store = s })
	s.failWith = &store.Conflict{}
	s.failAt.Store(s.commits.Load() + 1)
	require.NoError(t, d.Annotate(t.Context(), "rating", 5))
	require.Len(t, debatetest.Result(t, d).Annotations, 1)
}

// The viewer's time counts for the turn that waited for it, not for the next one.
func TestTheViewersTimeCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		m := debatetest.ProviderFunc(func(_ context.Context, _ providers.Request) (providers.Response, error) {
			time.Sleep(time.Duration(calls.Add(1)) * 10 * time.Second)
			return providers.Response{Text: "Well.", FinishReason: providers.Stop}, nil
		})
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol, o.Providers["m"] = panel.Protocol{Mode: panel.Simultaneous}, m
		})
		waited := false
		for ev, err := range d.Run(t.Context()) {
			require.NoError(t, err)
			if _, ok := ev.(debate.TurnStarted); ok && !waited {
				waited = true
				time.Sleep(3 * time.Second)
			}
		}
		var viewed []time.Duration
		for _, turn := range debatetest.Result(t, d).Turns {
			if turn.Kind == transcript.Speech {
				viewed = append(viewed, turn.ViewerTime)
			}
		}
		require.ElementsMatch(t, []time.Duration{3 * time.Second, 0}, viewed)
	})
}

// A damaged entry that arrives during a call ends the driving with an error.
func TestADamagedEntryDuringACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, deaf := store.Memory(), newDeafModel()
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store, o.Providers["m"] = s, deaf })
		ran := make(chan error, 1)
		go func() {
			_, err := debatetest.Run(t, d)
			ran <- err
		}()
		<-deaf.called
		status, _, err := s.Load(t.Context(), "d", 0)
		require.NoError(t, err)
		after := status.Seq
		status.Seq++
		require.NoError(t, s.Commit(t.Context(), store.Change{ID: "d", After: after, Status: status, Entries: []store.Entry{
			{Seq: status.Seq, Type: "state", At: time.Now(), Data: json.RawMessage(`{"type":"nonsense"}`)},
		}}))
		synctest.Wait()
		close(deaf.release)
		require.ErrorContains(t, <-ran, "entry 7")
	})
}

// hookedStore calls a function after it has read a debate, or fails to read.
type hookedStore struct {
	store.Store
	store.Watcher
	loads, failAt atomic.Int64
	afterLoad     atomic.Pointer[func()]
}

func newHookedStore() *hookedStore {
	memory := store.Memory()
	return &hookedStore{Store: memory, Watcher: memory.(store.Watcher)}
}

func (s *hookedStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	if s.loads.Add(1) == s.failAt.Load() {
		return store.Status{}, nil, errNoSpace
	}
	status, entries, err := s.Store.Load(ctx, id, after)
	if f := s.afterLoad.Swap(nil); f != nil {
		(*f)()
	}
	return status, entries, err
}

// If the driver commits a turn and starts the next call after a viewer has read the journal and before it reads the live
// events, the viewer reads the turn too, and sees it first.
func TestAViewerSeesATurnBeforeTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := newHookedStore(), make(chan struct{})
		var calls atomic.Int64
		m := debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
			if calls.Add(1) == 1 {
				<-gate
				return providers.Response{Text: "First.", FinishReason: providers.Stop}, nil
			}
			<-ctx.Done()
			return providers.Response{}, providers.ContextError(ctx, providers.Response{})
		})
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store, o.Providers["m"] = s, m })
		require.NoError(t, d.Start(t.Context()))
		synctest.Wait()
		annotate := func() { require.NoError(t, d.OpenWithProvider(t, m).Annotate(t.Context(), "rating", 5)) }
		commit := func() {
			close(gate)
			synctest.Wait()
			s.afterLoad.Store(&annotate) // when the viewer has read the turn
		}
		s.afterLoad.Store(&commit)
		var seen []string
		for ev, err := range d.Watch(t.Context(), 0) {
			require.NoError(t, err)
			switch ev := ev.(type) {
			case debate.TurnStarted:
				seen = append(seen, "call of "+ev.Key.Actor)
			case debate.TurnDone:
				seen = append(seen, "turn of "+ev.Turn.Actor)
			case debate.Annotated:
				seen = append(seen, "note")
			}
			if len(seen) == 4 {
				break
			}
		}
		require.Equal(t, []string{"call of A", "turn of A", "call of B", "note"}, seen)
		require.NoError(t, d.Cancel(t.Context()))
		synctest.Wait()
	})
}

// The end comes after everything that its result has.
func TestTheEndComesLast(t *testing.T) {
	s := newHookedStore()
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store = s })
	debatetest.Finish(t, d)
	seq := debatetest.Status(t, d).Seq
	annotate := func() { require.NoError(t, d.OpenWithProvider(t, talkingModel()).Annotate(t.Context(), "rating", 5)) }
	s.afterLoad.Store(&annotate)
	events := watchAll(t, d, seq)
	require.Len(t, events, 2)
	require.IsType(t, debate.Annotated{}, events[0])
	require.Equal(t, seq+1, events[1].(debate.Ended).Seq)
}

func TestAViewerGetsTheErrorsOfTheStore(t *testing.T) {
	s := newHookedStore()
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Store = s })
	debatetest.Finish(t, d)
	for _, after := range []int64{debatetest.Status(t, d).Seq, 1 << 40} {
		for n := range int64(2) {
			s.failAt.Store(s.loads.Load() + n + 1)
			yielded := 0
			for ev, err := range d.Watch(t.Context(), after) {
				require.ErrorIs(t, err, errNoSpace)
				require.Nil(t, ev)
				yielded++
			}
			require.Equal(t, 1, yielded)
		}
	}
}
