package debate_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// generate is a model that is a function.
type generate func(ctx context.Context, r providers.Request) (providers.Response, error)

func (f generate) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return f(ctx, r)
}

// costing is a model whose replies use as many output tokens as each may have.
func costing(p providers.Provider) providers.Provider {
	return generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		resp, err := p.Generate(ctx, r)
		resp.Usage = transcript.Usage{Input: 1, Output: r.MaxTokens}
		return resp, err
	})
}

// faulty is a model whose first calls fail, with an error that is not tried again and that has cost something.
func faulty(times int, kind providers.Kind, cost transcript.Usage) *scripted.Provider {
	p := chatter()
	for range times {
		err := &providers.Error{Kind: kind, Err: errors.New("cut"), Partial: providers.Response{Text: "cut", Usage: cost}}
		p.Replies = append(p.Replies, scripted.Reply{Err: err, Usage: cost})
	}
	return p
}

// named is a panel under another name, which engines do not know unless they are told.
type named struct{ panel.Protocol }

func (named) Name() string { return "named/1" }

func head(t testing.TB, d *debate.Debate) store.Head {
	t.Helper()
	h, err := d.Head(t.Context())
	require.NoError(t, err)
	return h
}

// A call that is cut off and made anew begins anew for those who watch, whatever its number and its length.
func TestWatchersSeeACallThatIsMadeAnew(t *testing.T) {
	for name, said := range map[string][2]string{
		"shorter": {strings.Repeat("long ", 20), "short"},
		"longer":  {"short", strings.Repeat("long ", 20)},
		"alike":   {"the same", "the same"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				model := generate(func(_ context.Context, r providers.Request) (providers.Response, error) {
					text := said[min(calls, 1)]
					calls++
					if err := r.OnChunk(text); err != nil {
						return providers.Response{}, err
					}
					time.Sleep(time.Second) // until the watcher has seen it
					return providers.Response{Text: text}, nil
				})
				d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = model })
				shown := make(chan []debate.Event, 1)
				go func() { shown <- watch(t, d, 0) }()
				for ev, err := range d.Run(t.Context()) {
					require.NoError(t, err)
					if _, ok := ev.(debate.Chunk); ok {
						time.Sleep(time.Second)
						break
					}
				}
				_, err := run(t, d)
				require.NoError(t, err)
				require.Equal(t, []string{said[0], said[1]}, attemptsOf(t, <-shown, "1/1/respond/A/"))
			})
		})
	}
}

// attemptsOf is the text of each attempt at a step, as its chunks make it up.
func attemptsOf(t *testing.T, events []debate.Event, key string) (texts []string) {
	t.Helper()
	for _, ev := range events {
		switch ev := ev.(type) {
		case debate.TurnStarted:
			if ev.Key.String() == key {
				texts = append(texts, "")
			}
		case debate.Chunk:
			if ev.Key.String() == key {
				require.NotEmpty(t, texts)
				require.Len(t, texts[len(texts)-1], ev.Offset)
				texts[len(texts)-1] += ev.Text
			}
		}
	}
	return texts
}

func TestAnEngineWithoutTheProtocolDrivesNothing(t *testing.T) {
	awaiting := func(t *testing.T, d *debate.Debate) { breakAt(t, d, transcript.Assessment) }
	paused := func(t *testing.T, d *debate.Debate) {
		awaiting(t, d)
		require.NoError(t, d.Pause(t.Context()))
	}
	ready := func(t *testing.T, d *debate.Debate) {
		_, err := run(t, d)
		require.ErrorAs(t, err, new(*debate.Failure))
		require.NoError(t, d.Retry(t.Context()))
	}
	drives := func(d *debate.Debate, ctx context.Context) error {
		_, err := seen(d.Run(ctx))
		return err
	}
	for name, tt := range map[string]struct {
		fails int // how many calls, on the way there
		reach func(*testing.T, *debate.Debate)
		verb  func(*debate.Debate, context.Context) error
	}{
		"resume":                 {0, paused, (*debate.Debate).Resume},
		"stop when paused":       {0, paused, (*debate.Debate).Stop},
		"stop":                   {0, awaiting, (*debate.Debate).Stop},
		"start":                  {1, ready, (*debate.Debate).Start},
		"run":                    {0, awaiting, drives},
		"run from the beginning": {0, func(*testing.T, *debate.Debate) {}, drives},
		"do": {1, ready, func(d *debate.Debate, ctx context.Context) (err error) {
			_, err = d.Do(ctx)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			opts := debate.Options{
				Store: store.Memory(), Providers: models(faulty(tt.fails, providers.Authentication, transcript.Usage{}), court(t, 3)),
			}
			d, err := debate.New(t.Context(), pair(named{}), opts)
			require.NoError(t, err)
			tt.reach(t, d)
			before := head(t, d)

			strange, err := debate.NewEngine(opts)
			require.NoError(t, err)
			other, err := strange.Open(t.Context(), "d")
			require.NoError(t, err)
			require.ErrorIs(t, tt.verb(other, t.Context()), debate.ErrUnsupported)
			require.Equal(t, before, head(t, d), "nothing has changed")
			require.Equal(t, before, head(t, other))
		})
	}
}

// gate is a log handler that holds up who logs.
type gate struct {
	slog.Handler
	in, out chan struct{}
}

func (g gate) Enabled(context.Context, slog.Level) bool { return true }

func (g gate) Handle(context.Context, slog.Record) error {
	g.in <- struct{}{}
	<-g.out
	return nil
}

func TestAStartWhileTheLastDriverLeavesIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate{slog.DiscardHandler, make(chan struct{}), make(chan struct{})}
		d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) {
			o.Providers["m"], o.Logger = faulty(1, providers.Authentication, transcript.Usage{}), slog.New(g)
		})
		require.NoError(t, d.Start(t.Context()))
		<-g.in // the debate is in error, and its driver is still there
		require.NoError(t, d.Retry(t.Context()))
		require.NoError(t, d.Start(t.Context()))
		close(g.out)
		synctest.Wait()
		require.Equal(t, fsm.Completed, result(t, d).State)
	})
}

func TestATokenBudgetHoldsForAllStepsOfAPhase(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			d := panelOf(t, 9, func(c *debate.Config, o *debate.Options) {
				c.Protocol = panel.Protocol{Mode: mode}
				c.Limits = debate.Limits{StepTokens: 100, JudgeTokens: 100, OutputTokens: 550}
				o.Providers = models(costing(chatter()), costing(court(t, 9)))
			})
			_, err := run(t, d)
			require.NoError(t, err)
			res := result(t, d)
			require.Equal(t, transcript.TokenBudget, res.Ending.Outcome)
			require.Equal(t, 400, res.Total.Usage.Output, "a round of 300 and the verdict: a second round could take 700")
			require.NotNil(t, res.Verdict)
		})
	}
}

func TestWhatFailedCallsUseIsCountedOnce(t *testing.T) {
	cost := transcript.Usage{Input: 1000, Output: 900}
	decide := func(actions ...string) func(*testing.T, *debate.Debate) {
		return func(t *testing.T, d *debate.Debate) {
			for _, action := range actions {
				checkSpent(t, d, cost)
				require.NoError(t, d.Decide(t.Context(), action))
				_, err := run(t, d)
				require.NoError(t, err)
			}
		}
	}
	for name, tt := range map[string]struct {
		policy debate.FailurePolicy
		kind   providers.Kind
		fails  int // how many calls
		then   func(*testing.T, *debate.Debate)
	}{
		"dropped":                 {debate.Degrade, providers.ContextOverflow, 1, nil},
		"asked, then dropped":     {debate.Ask, providers.ContextOverflow, 1, decide("drop")},
		"asked, then tried again": {debate.Ask, providers.ContextOverflow, 1, decide("retry")},
		"asked, then ended":       {debate.Ask, providers.ContextOverflow, 1, decide("end")},
		"in error": {debate.Degrade, providers.Authentication, 1, func(t *testing.T, d *debate.Debate) {
			checkSpent(t, d, cost)
			require.NoError(t, d.Retry(t.Context()))
			_, err := run(t, d)
			require.NoError(t, err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
				c.Participants = append(c.Participants, debate.Participant{Name: "C", Side: "third", Provider: "c"})
				c.OnFailure, c.OnOverflow = tt.policy, debate.Degrade
				o.Providers["c"] = faulty(tt.fails, tt.kind, cost)
				o.Providers["j"] = &echo{names: []string{"A", "B"}}
				c.Limits.MaxRounds = 1
			})
			_, _ = run(t, d)
			if tt.then != nil {
				tt.then(t, d)
			}
			require.Equal(t, fsm.Completed, result(t, d).State)
			checkSpent(t, d, cost)
		})
	}
}

// checkSpent checks that a debate whose participant C failed in round 1 has used what its turns did, and so much more.
func checkSpent(t *testing.T, d *debate.Debate, more transcript.Usage) {
	t.Helper()
	all, third := more, more
	res := result(t, d)
	for _, turn := range res.Turns {
		all = all.Add(turn.Usage)
		if turn.Actor == "C" {
			third = third.Add(turn.Usage)
		}
	}
	require.Equal(t, all, res.Total.Usage)
	require.Equal(t, all, res.Rounds[1].Usage)
	require.Equal(t, third, res.Sides["third"].Usage)
	require.Equal(t, all, head(t, d).Usage)
}

func TestTryingAgainEndsWithTheBudget(t *testing.T) {
	model := faulty(99, providers.ContextOverflow, transcript.Usage{Output: 900})
	d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
		c.OnFailure, o.Providers["m"] = debate.Ask, model
		c.Limits = debate.Limits{OutputTokens: 3000, StepTokens: 900, JudgeTokens: 900}
	})
	for range 10 {
		_, err := run(t, d)
		require.NoError(t, err)
		if result(t, d).Question == nil {
			break
		}
		require.NoError(t, d.Decide(t.Context(), "retry"))
	}
	res := result(t, d)
	require.Equal(t, fsm.Completed, res.State)
	require.Equal(t, transcript.TokenBudget, res.Ending.Outcome)
	require.Equal(t, 1800, res.Total.Usage.Output)
	require.Len(t, model.Calls(), 2, "a third call of 900 would leave no room for a verdict of 900")
}

func TestAllThatADroppedParticipantTriedIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "c"})
			o.Providers["c"] = scripted.Text("  ", "\n")
		})
		_, err := run(t, d)
		require.NoError(t, err)
		require.Equal(t, debate.Status{
			Name: "C", State: "dropped", Attempts: 2,
			Errors: []string{"invalid_response: the reply is empty", "invalid_response: the reply is empty"},
		}, result(t, d).Participants[2])
	})
}

// The race detector sees what this is about: the call reads its model's name while the record is given another.
func TestTheModelOfACallInFlightMayBeEdited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := pair(panel.Protocol{Personas: panel.Binary})
		model := generate(func(context.Context, providers.Request) (providers.Response, error) {
			time.Sleep(time.Minute) // it does not notice that it is wanted no more
			return providers.Response{Text: "x"}, nil
		})
		d, err := debate.New(t.Context(), cfg, debate.Options{Providers: models(model, model)})
		require.NoError(t, err)
		left := make(chan struct{})
		go func() {
			defer close(left)
			_, _ = seen(d.Run(t.Context()))
		}()
		time.Sleep(time.Second)
		breakKey(t, d)
		other := d.In(t, model)
		require.NoError(t, other.Retry(t.Context()))
		for i := range 3 {
			cfg.Casting.Model = fmt.Sprint("model-", i)
			require.NoError(t, other.Edit(t.Context(), cfg))
			require.Equal(t, fsm.Configuring, head(t, d).State)
		}
		<-left
	})
}

func TestAConclusionHasItsTimeAfterABreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jury := court(t, 1)
		slowly := generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
			if asked(r, "verdict") && wait(ctx, time.Minute) != nil {
				return providers.Response{}, context.Cause(ctx)
			}
			return jury.Generate(ctx, r)
		})
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits = debate.Limits{Time: 10 * time.Minute, StepTimeout: 10 * time.Minute}
			o.Providers["j"] = slowly
		})
		breakAt(t, d, transcript.Conclusion)
		time.Sleep(time.Hour)
		_, err := run(t, d)
		require.NoError(t, err)
		require.NotNil(t, result(t, d).Verdict)
	})
}

// wait sleeps, or ends with ctx.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestASlowViewerUsesUpNoTimeBudget(t *testing.T) {
	for name, looks := range map[string]func(debate.Event) bool{
		"at phases": func(ev debate.Event) bool { _, ok := ev.(debate.PhaseStarted); return ok },
		"at turns":  func(ev debate.Event) bool { _, ok := ev.(debate.TurnDone); return ok },
		"at chunks": func(ev debate.Event) bool { _, ok := ev.(debate.Chunk); return ok },
		"at all":    func(debate.Event) bool { return true },
	} {
		for mode, speaking := range map[panel.Mode]time.Duration{panel.Sequential: time.Minute, panel.Simultaneous: 30 * time.Second} {
			slowly(t, name+", "+string(mode), mode, looks, speaking)
		}
	}
}

// slowly watches a debate of three rounds, and takes two minutes for what it looks at.
func slowly(t *testing.T, name string, mode panel.Mode, looks func(debate.Event) bool, speaking time.Duration) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := panelOf(t, 9, func(c *debate.Config, o *debate.Options) {
				c.Protocol = panel.Protocol{Format: panel.RoundLimited, Mode: mode}
				c.Limits = debate.Limits{Time: 10 * time.Minute, MaxRounds: 3}
				o.Providers["m"] = slow()
			})
			for ev, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				if looks(ev) {
					time.Sleep(2 * time.Minute)
				}
			}
			res := result(t, d)
			require.Equal(t, transcript.RoundLimit, res.Ending.Outcome, res.Ending.Evidence)
			require.NotNil(t, res.Verdict)
			require.InDelta(t, speaking, res.Running, float64(30*time.Second), "speeches of 10 seconds")
		})
	})
}

func TestAResetBeginsWithFreshBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		model := generate(func(context.Context, providers.Request) (providers.Response, error) {
			time.Sleep(3 * time.Minute)
			resp := providers.Response{Text: "x", Usage: transcript.Usage{Output: 100}}
			if calls++; calls == 2 {
				return providers.Response{}, &providers.Error{Kind: providers.Authentication, Partial: resp}
			}
			return resp, nil
		})
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits = debate.Limits{StepTokens: 100, JudgeTokens: 100, OutputTokens: 400, Time: 10 * time.Minute}
			o.Providers["m"] = model
		})
		_, err := run(t, d)
		require.Error(t, err)
		require.Equal(t, 200, head(t, d).Usage.Output)
		require.Equal(t, 6*time.Minute, result(t, d).Running)

		require.NoError(t, d.Reset(t.Context()))
		require.Zero(t, head(t, d).Usage)
		require.Zero(t, head(t, d).Running)
		require.Zero(t, result(t, d).Total)
		require.Zero(t, result(t, d).Running)

		_, err = run(t, d)
		require.NoError(t, err)
		res := result(t, d)
		require.Equal(t, transcript.JudgeDecided, res.Ending.Outcome, res.Ending.Evidence)
		require.Equal(t, 6*time.Minute, res.Running)
	})
}

func TestCloseReturnsWithItsContextThoughAViewerIsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := debate.NewEngine(debate.Options{Providers: models(chatter(), court(t, 1))})
		require.NoError(t, err)
		d, err := e.Create(t.Context(), pair(nil))
		require.NoError(t, err)
		work, left := make(chan struct{}), make(chan error)
		go func() {
			var last error
			for _, last = range d.Run(t.Context()) {
				<-work
			}
			left <- last
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		closed := make(chan error, 1)
		go func() { closed <- e.Close(ctx) }()
		time.Sleep(time.Minute)
		require.Len(t, closed, 1, "it waits no longer than its context")
		require.ErrorIs(t, <-closed, context.DeadlineExceeded)
		close(work)
		require.ErrorIs(t, <-left, debate.ErrClosed)
	})
}

// checker is a model that checks its key for as long as it may.
type checker struct {
	providers.Provider
	entered chan struct{}
}

func (c checker) Check(ctx context.Context, _ string) error {
	close(c.entered)
	<-ctx.Done()
	return ctx.Err()
}

func TestCancelCutsTheCheckOfAProvider(t *testing.T) {
	for name, handle := range map[string]func(*testing.T, *debate.Debate) *debate.Debate{
		"by the handle that runs": func(_ *testing.T, d *debate.Debate) *debate.Debate { return d },
		"by another engine":       func(t *testing.T, d *debate.Debate) *debate.Debate { return d.In(t, chatter()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := checker{chatter(), make(chan struct{})}
				d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = c })
				other, began, done := handle(t, d), time.Now(), make(chan error)
				go func() {
					_, err := seen(d.Run(t.Context()))
					done <- err
				}()
				<-c.entered
				require.NoError(t, other.Cancel(t.Context()))
				require.NoError(t, <-done)
				require.Zero(t, time.Since(began))
				require.Equal(t, fsm.Canceled, result(t, d).State)
			})
		})
	}
}

func TestTheDeletionOfADebateEndsWatchingIt(t *testing.T) {
	for name, reach := range map[string]func(*testing.T, *debate.Debate){
		"before its start": func(*testing.T, *debate.Debate) {},
		"in a call": func(t *testing.T, d *debate.Debate) {
			require.NoError(t, d.Start(t.Context()))
			time.Sleep(time.Second)
		},
		"while it is paused": pausedInTheBackground,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, err := debate.NewEngine(debate.Options{Providers: models(slow(), court(t, 1))})
				require.NoError(t, err)
				d, err := e.Create(t.Context(), pair(nil))
				require.NoError(t, err)
				last := make(chan error, 1)
				go func() {
					_, err := seen(d.Watch(t.Context(), 0))
					last <- err
				}()
				reach(t, d)
				synctest.Wait()
				require.NoError(t, e.Delete(t.Context(), "d"))
				synctest.Wait()
				require.Len(t, last, 1, "nobody waits for what never comes")
				require.ErrorIs(t, <-last, store.ErrNotFound)
				_, err = seen(d.Watch(t.Context(), 0))
				require.ErrorIs(t, err, store.ErrNotFound)
				require.NoError(t, e.Close(t.Context()), "its driver has left, or it would wait for ever")
			})
		})
	}
}

// pausedInTheBackground has the engine drive a debate, and pauses it.
func pausedInTheBackground(t *testing.T, d *debate.Debate) {
	require.NoError(t, d.Start(t.Context()))
	time.Sleep(time.Second)
	require.NoError(t, d.Pause(t.Context()))
	time.Sleep(time.Minute)
}

func TestADebateUnderTheIDOfADeletedOneRuns(t *testing.T) {
	for name, between := range map[string]func(){"at once": func() {}, "later": func() { time.Sleep(time.Minute) }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, err := debate.NewEngine(debate.Options{Providers: models(slow(), court(t, 1))})
				require.NoError(t, err)
				old, err := e.Create(t.Context(), pair(nil))
				require.NoError(t, err)
				pausedInTheBackground(t, old)
				require.NoError(t, e.Delete(t.Context(), "d"))
				between()
				cfg := pair(nil)
				cfg.Topic = "Ban bikes?"
				d, err := e.Create(t.Context(), cfg)
				require.NoError(t, err)
				require.Equal(t, result(t, d), result(t, old), "an old handle shows the debate that there is")
				require.NoError(t, d.Start(t.Context()))
				time.Sleep(time.Hour)
				require.Equal(t, fsm.Completed, result(t, d).State)
				require.Equal(t, "Ban bikes?", result(t, d).Topic)
				require.Len(t, result(t, d).Turns, 4)
			})
		})
	}
}

func TestImpossibleLimitsAreNamed(t *testing.T) {
	caps := debate.Limits{StepTokens: 100, JudgeTokens: 50}
	with := func(change func(*debate.Limits)) debate.Limits {
		l := caps
		change(&l)
		return l
	}
	for name, tt := range map[string]struct {
		limits debate.Limits
		field  string // empty: they are possible
		reason string
	}{
		"a budget without room for a round": {with(func(l *debate.Limits) { l.OutputTokens = 249 }), "limits.output_tokens", "alone can take 250"},
		"a budget with room for one":        {with(func(l *debate.Limits) { l.OutputTokens = 250 }), "", ""},
		"the most rounds":                   {debate.Limits{MaxRounds: 10_000}, "", ""},
		"a round more":                      {debate.Limits{MaxRounds: 10_001}, "limits.max_rounds", "use at most 10000"},
		"very many rounds":                  {debate.Limits{MaxRounds: math.MaxInt}, "limits.max_rounds", "use at most 10000"},
		"very many rounds at least":         {debate.Limits{MinRounds: 1 << 60}, "limits.max_rounds", "use at most 10000"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := pair(nil)
			cfg.Limits = tt.limits
			_, created := debate.New(t.Context(), cfg, debate.Options{Providers: models(chatter(), court(t, 1))})
			edited := panelOf(t, 1, nil).Edit(t.Context(), cfg)
			if tt.field == "" {
				require.NoError(t, created)
				require.NoError(t, edited)
				return
			}
			for _, err := range []error{created, edited} {
				var problems *debate.Problems
				require.ErrorAs(t, err, &problems)
				require.Len(t, problems.List, 1)
				require.Equal(t, tt.field, problems.List[0].Field)
				require.Contains(t, problems.List[0].Reason, tt.reason)
			}
		})
	}
}

func TestARemarkBeforeTheStartBindsNobody(t *testing.T) {
	d := panelOf(t, 1, nil)
	require.NoError(t, d.Inject(t.Context(), debate.Remark{ID: "r", From: "Host", Text: "Be kind."}))
	cfg := pair(panel.Protocol{Mode: panel.Simultaneous})
	cfg.Topic, cfg.Participants[0].Persona = "Ban bikes?", "A Dane"
	cfg.Participants = append(cfg.Participants, debate.Participant{Name: "C", Provider: "m"})
	require.NoError(t, d.Edit(t.Context(), cfg))
	_, err := run(t, d)
	require.NoError(t, err)
	require.Equal(t, "Ban bikes?", result(t, d).Topic)
	require.Equal(t, []string{"1/0/remark/Host/r", "1/1/respond/A/", "1/1/respond/B/", "1/1/respond/C/"}, keys(result(t, d))[:4])
}

func TestAnEmptyReplyAfterAnInvalidOneIsReplaced(t *testing.T) {
	d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
		c.Limits.MaxRounds, o.Providers["j"] = 1, scripted.Text("I cannot say.", "", verdict)
	})
	_, err := run(t, d)
	require.NoError(t, err)
	res := result(t, d)
	require.Equal(t, fsm.Completed, res.State)
	require.Equal(t, []transcript.Flag{transcript.Reasked, transcript.Fallback}, res.Assessments[0].Flags)
	require.Len(t, res.Assessments[0].Attempts, 2)
	require.Contains(t, strings.Join(res.Warnings, "\n"), "safe defaults stand for it")
}

func TestAServiceThatWantsMoreTimeThanTheStepHasFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := &providers.Error{Kind: providers.RateLimit, RetryAfter: time.Hour, Err: errors.New("quota")}
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits.StepTimeout, o.Providers["m"] = time.Minute, fails{limited}
			c.Participants[1].Provider = "j" // whom the limit does not hit
		})
		began := time.Now()
		events, err := run(t, d)
		var failure *debate.Failure
		require.ErrorAs(t, err, &failure)
		require.Equal(t, providers.RateLimit, failure.Kind)
		require.Equal(t, 1, failure.Attempts)
		require.Zero(t, time.Since(began))
		for _, ev := range events {
			if f, ok := ev.(debate.TurnFailed); ok {
				require.Negative(t, f.Again, "no attempt follows")
			}
		}
	})
}

// themed is a panel with another theme each round.
type themed struct{ panel.Protocol }

func (themed) Name() string { return "themed/1" }

func (p themed) Phases(r *protocol.Record) []protocol.Phase {
	phases := p.Protocol.Phases(r)
	if r.Cursor.Stage == transcript.Speech {
		for i := range phases[0].Steps {
			phases[0].Steps[i].Vars = map[string]string{"theme": fmt.Sprint("theme ", r.Cursor.Round)}
		}
	}
	return phases
}

func TestEachRoundsVarsReachThePrompt(t *testing.T) {
	model := chatter()
	d := panelOf(t, 3, func(c *debate.Config, o *debate.Options) {
		c.Protocol, o.Providers["m"] = themed{}, model
		o.Prompts = fstest.MapFS{"free-form.tmpl": {Data: []byte(`{{define "system"}}Debate.{{end}}Speak of {{.Vars.theme}}.`)}}
	})
	_, err := run(t, d)
	require.NoError(t, err)
	var last []string
	for _, r := range model.Calls() {
		last = append(last, r.Messages[len(r.Messages)-1].Text)
	}
	require.Equal(t, []string{
		"Speak of theme 1.", "Speak of theme 1.", "Speak of theme 2.", "Speak of theme 2.", "Speak of theme 3.", "Speak of theme 3.",
	}, last)
}

func TestAProviderThatLeavesItsGoroutineMakesNoTurn(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			leaves := true
			d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
				c.Protocol, c.Participants[0].Provider = panel.Protocol{Mode: mode}, "leaves"
				o.Providers["leaves"] = generate(func(context.Context, providers.Request) (providers.Response, error) {
					if leaves {
						runtime.Goexit()
					}
					return providers.Response{Text: "x"}, nil
				})
			})
			var last error
			var done sync.WaitGroup
			done.Go(func() { // which a call in sequence takes with it
				for _, last = range d.Run(t.Context()) {
				}
			})
			done.Wait()
			if mode == panel.Simultaneous {
				require.ErrorContains(t, last, "the call left its goroutine")
			}
			res := result(t, d)
			require.Equal(t, fsm.Awaiting, res.State)
			require.NotContains(t, keys(res), "1/1/respond/A/")

			leaves = false
			_, err := run(t, d)
			require.NoError(t, err)
			require.Len(t, result(t, d).Turns, 4)
		})
	}
}

func TestANilProviderIsRefused(t *testing.T) {
	_, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"m": nil}})
	require.EqualError(t, err, `make engine: provider "m" is nil`)
}

func TestEditToAProtocolOfOnesOwn(t *testing.T) {
	d := panelOf(t, 1, nil)
	require.NoError(t, d.Edit(t.Context(), pair(named{panel.Protocol{Mode: panel.Simultaneous}})))
	_, err := run(t, d)
	require.NoError(t, err)
	require.Equal(t, fsm.Completed, result(t, d).State)
	require.Equal(t, "named/1", head(t, d).Protocol)
}

func TestLabelsAreTheDebatesOwn(t *testing.T) {
	cfg := pair(nil)
	cfg.Labels = map[string]string{"team": "red"}
	d, err := debate.New(t.Context(), cfg, debate.Options{Providers: models(chatter(), court(t, 1))})
	require.NoError(t, err)
	cfg.Labels["team"] = "blue"
	require.Equal(t, map[string]string{"team": "red"}, head(t, d).Labels)
	require.NoError(t, d.Edit(t.Context(), cfg))
	cfg.Labels["team"] = "green"
	require.Equal(t, map[string]string{"team": "blue"}, head(t, d).Labels)
	head(t, d).Labels["team"] = "black"
	require.Equal(t, map[string]string{"team": "blue"}, head(t, d).Labels)
}

// bomb is a panel that panics when it has heard one speech, unless it was read from a store.
type bomb struct {
	panel.Protocol
	armed bool
}

func (bomb) Name() string { return "bomb/1" }

func (p bomb) Phases(r *protocol.Record) []protocol.Phase {
	if p.armed && len(r.Turns) == 1 {
		panic("a bug")
	}
	return p.Protocol.Phases(r)
}

func TestAProtocolThatPanicsLeavesWhatIsStored(t *testing.T) {
	opts := debate.Options{Store: store.Memory(), Providers: models(chatter(), court(t, 1))}
	e, err := debate.NewEngine(opts)
	require.NoError(t, err)
	d, err := e.Create(t.Context(), pair(bomb{armed: true}))
	require.NoError(t, err)
	require.PanicsWithValue(t, "a bug", func() { _, _ = run(t, d) })

	_, entries, err := opts.Store.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	again, err := e.Open(t.Context(), "d")
	require.NoError(t, err)
	for n := range 3 { // entries take the numbers that the turn would have had
		require.NoError(t, again.Annotate(t.Context(), "n", n))
	}
	require.Equal(t, head(t, again), head(t, d))
	require.Equal(t, result(t, again), result(t, d))
	require.EqualValues(t, len(entries)+3, head(t, d).Seq)
	require.Empty(t, result(t, d).Turns)

	_, err = run(t, d)
	require.NoError(t, err)
	require.Len(t, result(t, d).Turns, 4)
}

func TestAPauseDuringTheRoundDelayEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := panelOf(t, 3, func(c *debate.Config, _ *debate.Options) { c.Limits.RoundDelay = time.Hour })
		began := time.Now()
		time.AfterFunc(time.Minute, func() { _ = d.Pause(t.Context()) })
		_, err := run(t, d)
		require.NoError(t, err)
		require.Equal(t, fsm.Paused, result(t, d).State)
		require.Equal(t, time.Minute, time.Since(began))
	})
}

var errNoSpace = errors.New("no space left on device")

// failing is a store that fails a number of times to commit what has a turn of an actor, or where it is empty anything
// but what a debate begins with.
type failing struct {
	store.Store
	actor string
	times atomic.Int64
}

func (f *failing) Commit(ctx context.Context, c store.Change) error {
	hit := f.actor == "" && c.After > 1
	for _, e := range c.Entries {
		hit = hit || f.actor != "" && strings.Contains(e.Key, "/"+f.actor+"/")
	}
	if hit && f.times.Add(-1) >= 0 {
		return errNoSpace
	}
	return f.Store.Commit(ctx, c)
}

func (f *failing) Watch(id string, wake func(int64)) (stop func()) {
	return f.Store.(store.Watcher).Watch(id, wake)
}

func TestAStartedDebateOutlastsAFailureOfTheStore(t *testing.T) {
	for name, tt := range map[string]struct {
		actor string
		calls int
	}{"after the check": {"", 2}, "after a speech": {"B", 5}, "after an assessment": {"J", 2}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model, broken := chatter(), &failing{Store: store.Memory(), actor: tt.actor}
				broken.times.Store(3)
				d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Limits.MaxRounds, c.Protocol = 1, panel.Protocol{Format: panel.RoundLimited}
					o.Providers["m"], o.Store = model, broken
				})
				began := time.Now()
				require.NoError(t, d.Start(t.Context()))
				watch(t, d, 0)
				require.Equal(t, fsm.Completed, result(t, d).State)
				require.Equal(t, (1+2+4)*time.Second, time.Since(began))
				require.Len(t, model.Calls(), tt.calls)
			})
		})
	}
}

func TestParseConfigRefusesTextAfterTheObject(t *testing.T) {
	e, err := debate.NewEngine(debate.Options{})
	require.NoError(t, err)
	_, err = e.ParseConfig([]byte("{\"topic\": \"Ban cars?\"}\n"))
	require.NoError(t, err)
	for _, more := range []string{`{}`, `{"topic": "Ban bikes?"}`, `}`, `text`, `,`} {
		_, err := e.ParseConfig([]byte(`{"topic": "Ban cars?"} ` + more))
		require.ErrorContains(t, err, "parse configuration: ", more)
	}
}
