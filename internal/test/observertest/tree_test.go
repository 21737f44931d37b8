package observertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// span is a drive, a step or an attempt that an observer was told of.
type span struct {
	debate.Step
	parent  *span
	outcome debate.Outcome
	ended   int
}

// level returns "drive", "step" or "attempt".
func (s *span) level() string {
	switch {
	case s.Number > 0:
		return "attempt"
	case s.Key.Actor != "":
		return "step"
	}
	return "drive"
}

// tree is an observer that keeps all spans.
type tree struct {
	mu    sync.Mutex
	spans []*span
	hook  func(s debate.Step) // called by Begin
}

type spanKey struct{}

func (p *tree) begin(ctx context.Context, s debate.Step) (context.Context, func(debate.Outcome)) {
	if p.hook != nil {
		p.hook(s)
	}
	parent, _ := ctx.Value(spanKey{}).(*span)
	n := &span{Step: s, parent: parent}
	p.mu.Lock()
	p.spans = append(p.spans, n)
	p.mu.Unlock()
	return context.WithValue(ctx, spanKey{}, n), func(o debate.Outcome) {
		p.mu.Lock()
		defer p.mu.Unlock()
		n.outcome = o
		n.ended++
	}
}

// of returns the spans of a level.
func (p *tree) of(level string) (list []*span) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.spans {
		if s.level() == level {
			list = append(list, s)
		}
	}
	return list
}

// check requires that the spans nest, and that each has ended once, with an error or with what it gives.
func (p *tree) check(t *testing.T) {
	t.Helper()
	above := map[string]string{"step": "drive", "attempt": "step"}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.spans {
		require.Equal(t, 1, s.ended, "%s %s", s.level(), s.Key)
		if s.level() == "drive" {
			require.Nil(t, s.parent)
			continue
		}
		gives := s.outcome.Turn != nil || s.outcome.Attempt != nil && s.outcome.Attempt.ErrorKind == ""
		require.Equal(t, s.outcome.Err == nil, gives, "%s %s: %v", s.level(), s.Key, s.outcome.Err)
		require.NotNil(t, s.parent, s.Key)
		require.Equal(t, above[s.level()], s.parent.level(), s.Key)
		require.Equal(t, s.Debate, s.parent.Debate)
		if s.level() == "attempt" {
			require.Equal(t, s.Key, s.parent.Key)
			require.Nil(t, s.outcome.Request.OnChunk)
		}
	}
}

// model is a provider that plays all actors of a preset, and keeps the contexts of its calls.
type model struct {
	cfg   debate.Config
	mu    sync.Mutex
	steps []debate.Step
	spans []*span
	act   func(ctx context.Context, s debate.Step) error // before a reply; may be nil
}

func (m *model) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	s, ok := debate.StepFrom(ctx)
	if !ok {
		return providers.Response{}, errors.New("the context has no step")
	}
	m.mu.Lock()
	m.steps = append(m.steps, s)
	if n, ok := ctx.Value(spanKey{}).(*span); ok {
		m.spans = append(m.spans, n)
	}
	m.mu.Unlock()
	if m.act != nil {
		if err := m.act(ctx, s); err != nil {
			return providers.Response{}, err
		}
	}
	return (&scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: enginetest.PresetReply(m.cfg, r), Latency: 3 * time.Second}
	}}).Generate(ctx, r)
}

// start creates a debate that m plays and p observes.
func start(t *testing.T, m *model, o debate.Observer, change func(*debate.Config, *debate.Options)) (*debate.Engine, *debate.Debate) {
	t.Helper()
	opts := debate.Options{Providers: map[string]providers.Provider{"m": m}, Observer: o, Store: store.Memory()}
	if change != nil {
		change(&m.cfg, &opts)
	}
	e := debatetest.Engine(t, opts)
	d := debatetest.Create(t, e, m.cfg)
	return e, d
}

// In each protocol, an attempt is within its step and a step within its drive, the calls have the context of their
// attempt, and the outcomes are what the debate stores.
func TestSpansNestInEachProtocol(t *testing.T) {
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, m := &tree{}, &model{cfg: cfg}
				_, d := start(t, m, debate.Observer{Begin: p.begin}, nil)
				debatetest.Finish(t, d)
				p.check(t)
				r := debatetest.Result(t, d)
				require.Equal(t, fsm.Completed, r.State)
				require.Len(t, p.of("drive"), 1)
				drive := p.of("drive")[0]
				require.Equal(t, d.ID(), drive.Debate)
				require.NoError(t, drive.outcome.Err)
				require.Equal(t, r.Ending, drive.outcome.Status.Ending)
				byKey := map[transcript.Key]*transcript.Turn{}
				attempts := 0
				for i := range r.Turns {
					byKey[r.Turns[i].Key] = &r.Turns[i]
					attempts += len(r.Turns[i].Attempts)
				}
				require.Len(t, p.of("step"), len(r.Turns))
				for _, s := range p.of("step") {
					turn := byKey[s.Key]
					require.NotNil(t, turn, s.Key)
					require.Equal(t, turn.Kind, s.Kind)
					require.NotNil(t, s.outcome.Turn)
					require.Equal(t, turn.Text, s.outcome.Turn.Text)
				}
				require.Len(t, p.of("attempt"), attempts)
				for _, s := range p.of("attempt") {
					require.Contains(t, byKey[s.Key].Attempts, *s.outcome.Attempt)
					require.NotEmpty(t, s.outcome.Request.Messages)
					require.NotEmpty(t, s.outcome.Response.Text)
					require.Equal(t, "m", s.Provider)
					require.Equal(t, s.outcome.Request.Model, s.Model)
				}
				require.ElementsMatch(t, p.of("attempt"), m.spans)
				for i, n := range m.spans {
					require.Equal(t, n.Step, m.steps[i], "StepFrom tells what Begin was told")
				}
			})
		})
	}
}

// pair returns a debate of two participants and a judge.
func pair() debate.Config {
	return enginetest.PresetConfigs()["panel"]
}

// Whatever ends a drive, nothing stays open.
func TestNothingStaysOpen(t *testing.T) {
	var calls atomic.Int32
	fourth := func(f func() error) func(context.Context, debate.Step) error {
		return func(context.Context, debate.Step) error {
			if calls.Add(1) == 4 {
				return f()
			}
			return nil
		}
	}
	sequential := func(c *debate.Config, _ *debate.Options) { c.Protocol = panel.Protocol{} }
	for name, act := range map[string]func(t *testing.T, d *debate.Debate, m *model){
		"a failure": func(t *testing.T, d *debate.Debate, m *model) {
			m.act = fourth(func() error { return &providers.Error{Kind: providers.Authentication, Err: errors.New("bad key")} })
			_, err := debatetest.Run(t, d)
			require.Error(t, err)
		},
		"a retry": func(t *testing.T, d *debate.Debate, m *model) {
			m.act = fourth(func() error { return &providers.Error{Kind: providers.ServerError, Err: errors.New("down")} })
			debatetest.Finish(t, d)
		},
		"a panic of a provider": func(t *testing.T, d *debate.Debate, m *model) {
			m.act = fourth(func() error { panic("boom") })
			_, err := debatetest.Run(t, d)
			require.Error(t, err)
		},
		"the end of a provider's goroutine": func(t *testing.T, d *debate.Debate, m *model) {
			m.act = fourth(func() error { runtime.Goexit(); return nil })
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = debatetest.Run(t, d)
			}()
			<-done
		},
		"a viewer who leaves": func(t *testing.T, d *debate.Debate, _ *model) {
			for ev, err := range d.Run(context.Background()) {
				require.NoError(t, err)
				if _, ok := ev.(debate.Chunk); ok {
					break
				}
			}
		},
		"a viewer who panics": func(t *testing.T, d *debate.Debate, _ *model) {
			require.Panics(t, func() {
				for ev, err := range d.Run(context.Background()) {
					require.NoError(t, err)
					if _, ok := ev.(debate.Chunk); ok {
						panic("oh")
					}
				}
			})
		},
		"a canceled context": func(t *testing.T, d *debate.Debate, m *model) {
			ctx, cancel := context.WithCancel(t.Context())
			m.act = fourth(func() error { cancel(); return nil })
			var last error
			for _, err := range d.Run(ctx) {
				last = err
			}
			require.ErrorIs(t, last, context.Canceled)
		},
		"cancel": func(t *testing.T, d *debate.Debate, m *model) {
			m.act = fourth(func() error { return d.Cancel(context.Background()) })
			debatetest.Finish(t, d)
		},
		"stop": func(t *testing.T, d *debate.Debate, m *model) {
			m.act = fourth(func() error { return d.Stop(context.Background()) })
			debatetest.Finish(t, d)
		},
		"pause": func(t *testing.T, d *debate.Debate, m *model) {
			m.act = fourth(func() error { return d.Pause(context.Background()) })
			debatetest.Finish(t, d)
		},
	} {
		for mode, change := range map[string]func(*debate.Config, *debate.Options){"parallel": nil, "sequential": sequential} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					calls.Store(0)
					p, m := &tree{}, &model{cfg: pair()}
					_, d := start(t, m, debate.Observer{Begin: p.begin}, change)
					act(t, d, m)
					synctest.Wait()
					p.check(t)
					require.Len(t, p.of("drive"), 1)
					require.NotEmpty(t, p.of("attempt"))
				})
			})
		}
	}
}

// The error of a call is that of its attempt, its step and its drive, unless the call is repeated.
func TestErrorsOfSpans(t *testing.T) {
	down, badKey := errors.New("down"), errors.New("bad key")
	for name, drive := range map[string]func(*testing.T, *debate.Debate) error{
		"Run": func(t *testing.T, d *debate.Debate) error {
			_, err := debatetest.Run(t, d)
			return err
		},
		"RunOnce": func(t *testing.T, d *debate.Debate) error {
			for {
				if _, err := d.RunOnce(t.Context()); err != nil {
					return err
				}
			}
		},
		"Start": func(t *testing.T, d *debate.Debate) error {
			if err := d.Start(t.Context()); err != nil {
				return err
			}
			time.Sleep(time.Hour)
			return debatetest.Result(t, d).Failure
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, m := &tree{}, &model{cfg: pair()}
				m.act = func(_ context.Context, s debate.Step) error {
					switch {
					case s.Key.Actor == "A" && s.Number == 1:
						return &providers.Error{Kind: providers.ServerError, Err: down}
					case s.Key.Actor == "J":
						return &providers.Error{Kind: providers.Authentication, Err: badKey}
					}
					return nil
				}
				_, d := start(t, m, debate.Observer{Begin: p.begin}, func(c *debate.Config, _ *debate.Options) { c.Judges = c.Judges[:1] })
				require.Error(t, drive(t, d))
				synctest.Wait()
				p.check(t)
				for _, a := range p.of("attempt") {
					var want error
					switch {
					case a.Key.Actor == "A" && a.Number == 1:
						want = down
					case a.Key.Actor == "J":
						want = badKey
					}
					require.ErrorIs(t, a.outcome.Err, want)
				}
				drives := p.of("drive")
				ends := append(p.of("step"), drives[len(drives)-1])
				for _, s := range ends {
					if failed := new(*debate.Failure); s.Key.Actor == "J" || s.level() == "drive" {
						require.ErrorAs(t, s.outcome.Err, failed)
						require.Equal(t, providers.Authentication, (*failed).Kind)
					} else {
						require.NoError(t, s.outcome.Err)
					}
				}
			})
		})
	}
}

// A debate in the background is driven until it pauses, and again after Resume.
func TestADriveDoesNotSpanAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := &tree{}, &model{cfg: pair()}
		e, d := start(t, m, debate.Observer{Begin: p.begin}, nil)
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(time.Second) // the first steps are under way
		require.NoError(t, d.Pause(t.Context()))
		synctest.Wait()
		time.Sleep(time.Hour)
		synctest.Wait()
		p.check(t)
		require.Len(t, p.of("drive"), 1)
		require.Equal(t, fsm.Paused, p.of("drive")[0].outcome.Status.State)
		require.NoError(t, d.Resume(t.Context()))
		time.Sleep(time.Hour)
		require.NoError(t, e.Close(t.Context()))
		p.check(t)
		require.Len(t, p.of("drive"), 2)
		require.Equal(t, fsm.Completed, p.of("drive")[1].outcome.Status.State)
	})
}

// Under RunOnce, each call is a drive.
func TestRunOnceIsADrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := &tree{}, &model{cfg: pair()}
		_, d := start(t, m, debate.Observer{Begin: p.begin}, nil)
		calls := 0
		for more := true; more; calls++ {
			var err error
			more, err = d.RunOnce(t.Context())
			require.NoError(t, err)
		}
		p.check(t)
		require.Len(t, p.of("drive"), calls)
		require.Greater(t, calls, 3)
	})
}

// A random control at a random time, in parallel with everything else, leaves nothing open.
func TestRandomControls(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // not for secrets
				p, m := &tree{}, &model{cfg: pair()}
				e, d := start(t, m, debate.Observer{Begin: p.begin}, nil)
				require.NoError(t, d.Start(t.Context()))
				controls := []func(context.Context) error{d.Pause, d.Resume, d.Stop, d.Cancel, d.Retry, d.Start, func(context.Context) error { return nil }}
				for range 6 {
					time.Sleep(time.Duration(random.IntN(5000)) * time.Millisecond)
					_ = controls[random.IntN(len(controls))](t.Context()) // the state may not allow it
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(3))*time.Second)
				defer cancel()
				_ = e.Close(ctx)
				time.Sleep(time.Minute) // calls in flight notice that they were canceled
				synctest.Wait()
				p.check(t)
			})
		})
	}
}

// An observer that panics does no harm.
func TestAnObserverThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		m := &model{cfg: pair()}
		_, d := start(t, m, debate.Observer{
			Begin: func(ctx context.Context, s debate.Step) (context.Context, func(debate.Outcome)) {
				if s.Number == 1 {
					panic("begin")
				}
				return nil, func(debate.Outcome) { panic("end") }
			},
			Commit: func(context.Context, string, debate.Event) { panic("commit") },
			Event:  func(string, debate.Event) { panic("event") },
		}, func(_ *debate.Config, o *debate.Options) { o.Logger = logger(&log) })
		debatetest.Finish(t, d)
		synctest.Wait()
		for _, what := range []string{"begin", "end", "commit", "event"} {
			require.Contains(t, log.String(), `msg="observer panicked" debate=d error=`+what+" ")
		}
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
	})
}

// StepFrom knows only calls that a debate makes.
func TestStepFromOutsideOfADebate(t *testing.T) {
	_, ok := debate.StepFrom(t.Context())
	require.False(t, ok)
}

// Attempts have numbers and roles, and every kind of actor is told which step it is called for.
func TestWhoIsAsking(t *testing.T) {
	actors := map[string]bool{}
	for _, name := range []string{"panel", "skeptic", "panel with summaries in its window", "panel with vectors"} {
		synctest.Test(t, func(t *testing.T) {
			var failed atomic.Bool
			m := &model{cfg: enginetest.PresetConfigs()[name]}
			m.cfg.Participants[0].Role = "Economist"
			m.act = func(_ context.Context, s debate.Step) error {
				if s.Key.Actor == "A" && !failed.Swap(true) {
					return &providers.Error{Kind: providers.ServerError, Err: errors.New("down")}
				}
				return nil
			}
			_, d := start(t, m, debate.Observer{}, nil)
			debatetest.Finish(t, d)
			numbers := map[int]bool{}
			for _, s := range m.steps {
				require.Equal(t, d.ID(), s.Debate)
				require.Equal(t, s.Key.Actor == "A", s.Role == "Economist", s.Key)
				actors[s.Key.Actor], numbers[s.Number] = true, true
			}
			require.Equal(t, map[int]bool{1: true, 2: true}, numbers)
		})
	}
	require.Subset(t, actors, map[string]bool{
		"A": true, "B": true, "J": true, protocol.Retriever: true, protocol.PersonaAssigner: true, protocol.Summarizer: true, protocol.Embedder: true,
	})
}

// If a prompt is too long, the call of the summarizer is an attempt within the step that it is for.
func TestASummaryOfAPromptThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := &tree{}, &model{cfg: pair()}
		m.act = func(_ context.Context, s debate.Step) error {
			if s.Key.Round == 2 && s.Key.Actor == "A" && s.Number == 1 && s.Kind == transcript.Speech {
				return &providers.Error{Kind: providers.ContextOverflow, Err: errors.New("too long")}
			}
			return nil
		}
		_, d := start(t, m, debate.Observer{Begin: p.begin}, func(c *debate.Config, _ *debate.Options) {
			c.OnOverflow, c.Summarizer = debate.OverflowSummarize, debate.Participant{Provider: "m", Model: "short"}
		})
		debatetest.Finish(t, d)
		p.check(t)
		summaries := 0
		for i, s := range m.steps {
			require.Equal(t, m.spans[i].Step, s)
			if s.Kind == transcript.Summary {
				summaries++
				require.Equal(t, transcript.Key{Run: 1, Round: 2, Phase: "respond", Actor: "A"}, s.Key)
				require.Equal(t, "short", s.Model)
			}
		}
		require.Equal(t, 1, summaries)
	})
}

// An actor makes one call at a time. An attempt tells how long it has waited for the one before.
func TestCallsOfOneActorWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, d := start(t, &model{cfg: enginetest.PresetConfigs()["vote of samples"]}, debate.Observer{}, nil)
		debatetest.Finish(t, d)
		waits := map[string][]time.Duration{}
		for _, turn := range debatetest.Result(t, d).Turns {
			if turn.Key.Target != "" {
				waits[turn.Actor] = append(waits[turn.Actor], turn.Attempts[0].Waited)
			}
		}
		require.NotEmpty(t, waits)
		for _, list := range waits {
			require.ElementsMatch(t, []time.Duration{0, 3 * time.Second, 6 * time.Second}, list)
		}
	})
}

// An attempt names the model as requested if the service reports another name, and only then.
func TestTheRequestedModel(t *testing.T) {
	for reported, want := range map[string]transcript.Attempt{
		"":       {Model: "gpt"},
		"gpt":    {Model: "gpt"},
		"gpt-26": {Model: "gpt-26", Requested: "gpt"},
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := pair()
			cfg.Participants[0].Model = "gpt"
			var mu sync.Mutex
			asked := map[string]string{}
			_, d := start(t, &model{cfg: cfg}, debate.Observer{}, func(_ *debate.Config, o *debate.Options) {
				o.Providers["m"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
					s, _ := debate.StepFrom(ctx)
					mu.Lock()
					asked[s.Key.Actor] = s.Model
					mu.Unlock()
					return providers.Response{Text: enginetest.PresetReply(cfg, r), Model: reported}, nil
				})
			})
			debatetest.Finish(t, d)
			require.Equal(t, "gpt", asked["A"])
			require.Empty(t, asked["B"])
			for _, u := range debatetest.Result(t, d).Turns {
				if u.Actor == "A" {
					require.Equal(t, want.Model, u.Attempts[0].Model)
					require.Equal(t, want.Requested, u.Attempts[0].Requested)
				}
			}
		})
	}
}
