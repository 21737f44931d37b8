package debateotel

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// mortal is a store that a process can no longer use once it was killed.
type mortal struct {
	store.Store
	store.Watcher
	killed atomic.Bool
}

var errKilled = errors.New("the process was killed")

func (m *mortal) Commit(ctx context.Context, c store.Change) error {
	if m.killed.Load() {
		return errKilled
	}
	return m.Store.Commit(ctx, c)
}

// checkTrees requires that no span is open, that spans are nested, and that each step of the journal is an agent that did
// not fail.
func checkTrees(t *testing.T, r *recorder, d *debate.Debate) {
	t.Helper()
	roots := r.trees(t)
	agents := map[string]int{}
	for _, n := range find(roots, "") {
		require.Equal(t, d.ID(), n.attr(keyConversation), n.Name())
	}
	for _, n := range roots {
		require.Contains(t, n.Name(), operationWorkflow)
	}
	for _, n := range find(roots, operationAgent) {
		if n.attr(keyError) == "" {
			agents[n.attr(keyStep)]++
		}
	}
	for _, u := range debatetest.Result(t, d).Turns {
		require.NotZero(t, agents[u.Key.String()], u.Key)
	}
}

// Random controls, viewers who leave, failing calls and kills of the process leave no span open. A replay of what they leave
// has all steps of the journal too.
func TestNoSpanStaysOpen(t *testing.T) {
	presets := enginetest.PresetConfigs()
	for _, name := range []string{"panel", "skeptic", "panel with summaries in its window"} {
		for seed := range uint64(100) {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { playRandomly(t, presets[name], rand.New(rand.NewPCG(seed, 17))) }) //nolint:gosec // not for secrets
			})
		}
	}
}

// FuzzNoSpanStaysOpen does the same for other random numbers.
func FuzzNoSpanStaysOpen(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		synctest.Test(t, func(t *testing.T) { playRandomly(t, pair(), rand.New(rand.NewPCG(a, b))) }) //nolint:gosec // not for secrets
	})
}

// playRandomly lets up to four processes drive a debate, one after another, until each ends in a random way.
func playRandomly(t *testing.T, cfg debate.Config, random *rand.Rand) {
	r := newRecorder(Options{})
	memory := store.Memory()
	seed := random.Uint64()
	var calls atomic.Uint64
	m := &model{cfg: cfg, act: func(context.Context, debate.Step) error {
		switch rand.New(rand.NewPCG(seed, calls.Add(1))).IntN(30) { //nolint:gosec // not for secrets
		case 0:
			panic("boom")
		case 1:
			runtime.Goexit()
		case 2, 3, 4:
			return &providers.Error{Kind: providers.ServerError}
		case 5:
			return &providers.Error{Kind: providers.ContentFiltered}
		}
		return nil
	}}
	var d *debate.Debate
	for process := range 4 {
		life := &mortal{Store: memory, Watcher: memory.(store.Watcher)}
		e, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"m": m}, Observer: r.Observer(), Store: life})
		require.NoError(t, err)
		if process == 0 {
			d, err = e.Create(t.Context(), cfg)
		} else {
			d, err = e.Open(t.Context(), cfg.ID)
		}
		require.NoError(t, err)
		live(t, d, random)
		life.killed.Store(random.IntN(2) == 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(3))*time.Second)
		_ = e.Close(ctx)
		cancel()
		time.Sleep(time.Minute) // calls in flight notice that they were canceled
		synctest.Wait()
		checkTrees(t, r, d)
	}
	again := newRecorder(Options{})
	require.NoError(t, again.Replay(t.Context(), d))
	checkTrees(t, again, d)
}

// live drives a debate in one of the possible ways, with random controls meanwhile.
func live(t *testing.T, d *debate.Debate, random *rand.Rand) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	nap := func() { time.Sleep(time.Duration(random.IntN(9000)) * time.Millisecond) }
	done := make(chan struct{})
	switch way, limit := random.IntN(3), random.IntN(60); way {
	case 0:
		_ = d.Start(ctx) // the state may not allow it
		close(done)
	case 1:
		go func() {
			defer close(done)
			for _, err := range d.Run(ctx) {
				limit--
				if err != nil || limit < 0 {
					return
				}
			}
		}()
	default:
		go func() {
			defer close(done)
			for more := true; more && limit > 0; limit -= 10 {
				more, _ = d.RunOnce(ctx)
			}
		}()
	}
	controls := []func(context.Context) error{d.Pause, d.Resume, d.Retry, d.Start, d.Stop, d.Reset, func(context.Context) error { return nil }}
	for range random.IntN(6) {
		nap()
		_ = controls[random.IntN(len(controls))](t.Context())
	}
	nap()
	cancel()
	<-done
}

// A drive that a viewer's panic or the end of a goroutine cuts off has ended spans.
func TestWhateverEndsADrive(t *testing.T) {
	for name, act := range map[string]func(*testing.T, *debate.Debate, *model){
		"a viewer who leaves": func(t *testing.T, d *debate.Debate, _ *model) {
			for ev, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				if _, ok := ev.(debate.Chunk); ok {
					break
				}
			}
		},
		"a viewer who panics": func(t *testing.T, d *debate.Debate, _ *model) {
			require.Panics(t, func() {
				for ev, err := range d.Run(t.Context()) {
					require.NoError(t, err)
					if _, ok := ev.(debate.Chunk); ok {
						panic("oh")
					}
				}
			})
		},
		"a canceled context": func(t *testing.T, d *debate.Debate, m *model) {
			ctx, cancel := context.WithCancel(t.Context())
			m.act = func(context.Context, debate.Step) error { cancel(); return nil }
			for ev, err := range d.Run(ctx) {
				if ev == nil {
					require.ErrorIs(t, err, context.Canceled)
				}
			}
		},
		"a cancel": func(t *testing.T, d *debate.Debate, m *model) {
			m.act = func(context.Context, debate.Step) error { return d.Cancel(context.Background()) }
			runToStop(t, d)
			require.Equal(t, fsm.Canceled, debatetest.Result(t, d).State)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, m := newRecorder(Options{}), &model{cfg: pair()}
				_, d := start(t, r, m, nil)
				act(t, d, m)
				synctest.Wait()
				checkTrees(t, r, d)
				calls := find(r.trees(t), operationChat)
				require.NotEmpty(t, calls)
				require.Equal(t, canceled, calls[0].attr(keyError))
			})
		})
	}
}
