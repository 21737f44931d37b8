package faulttest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// blocked is a model whose connections fail after some time, until it is repaired. It answers calls with the model "up".
type blocked struct {
	after    time.Duration // 0 if connections are refused
	repaired atomic.Bool
}

// answering returns a model that is repaired.
func answering() *blocked {
	b := &blocked{}
	b.repaired.Store(true)
	return b
}

const blockedCause = `call model: Post "http://127.0.0.1:1/v1/chat/completions": dial tcp 127.0.0.1:1: connect: connection refused`

func (b *blocked) Generate(_ context.Context, r providers.Request) (providers.Response, error) {
	if !b.repaired.Load() && r.Model != "up" {
		time.Sleep(b.after)
		return providers.Response{}, &providers.Error{Kind: providers.Network, Err: errors.New(blockedCause)}
	}
	return providers.Response{Text: enginetest.Reply(r, []string{"A", "B"}, "So it is.", 0)}, nil
}

// engineOn returns an engine with the providers m and j.
func engineOn(t *testing.T, s store.Store, m, j providers.Provider) *debate.Engine {
	t.Helper()
	return debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": m, "j": j}})
}

// A first call that reaches no provider fails the debate soon, with its cause, if a person watches. Retry continues.
func TestTheFirstRunDoesNotWaitForAProviderThatNeverAnswered(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		for after, most := range map[time.Duration]time.Duration{
			0: 15 * time.Second, 10 * time.Millisecond: 15 * time.Second, // refused, or the host is unknown
			5 * time.Second: 30 * time.Second, 10 * time.Second: 30 * time.Second, 30 * time.Second: 30 * time.Second, // nothing answers
		} {
			t.Run(fmt.Sprint(mode, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m := &blocked{after: after}
					d, err := engineOn(t, store.Memory(), m, m).Create(t.Context(), debatetest.PairConfig(panel.Protocol{Mode: mode}))
					require.NoError(t, err)
					for range 2 { // Retry does not make it wait either
						began := time.Now()
						_, err = debatetest.Run(t, d)
						require.LessOrEqual(t, time.Since(began), most)
						var failed *debate.Failure
						require.ErrorAs(t, err, &failed)
						require.True(t, failed.Unreachable)
						require.Contains(t, failed.Message, blockedCause)
						require.Contains(t, failed.Hint(), "cannot be reached: start it, or check its address and the network, then Retry")
						require.Equal(t, fsm.Error, debatetest.Result(t, d).State)
						require.NoError(t, d.Retry(t.Context()))
					}
					m.repaired.Store(true)
					debatetest.Finish(t, d)
					require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
				})
			})
		}
	}
}

// All others wait: a service that recovers, a debate with turns, and a debate whose provider has answered another one.
func TestOthersWaitForAProviderThatNeverAnswered(t *testing.T) {
	type debates = func(t *testing.T, m *blocked) *debate.Debate
	alone := func(t *testing.T, m *blocked) *debate.Debate {
		t.Helper()
		return debatetest.Create(t, engineOn(t, store.Memory(), m, m), debatetest.PairConfig(nil))
	}
	afterOther := func(t *testing.T, m *blocked) *debate.Debate {
		t.Helper()
		e := engineOn(t, store.Memory(), m, m)
		cfg := debatetest.PairConfig(nil)
		cfg.ID, cfg.Limits.MaxRounds = "other", 1
		for i := range cfg.Participants {
			cfg.Participants[i].Model = "up"
		}
		cfg.Judges[0].Model = "up"
		other := debatetest.Create(t, e, cfg)
		debatetest.Finish(t, other)
		cfg = debatetest.PairConfig(nil)
		return debatetest.Create(t, e, cfg)
	}
	withTurns := func(t *testing.T, m *blocked) *debate.Debate {
		t.Helper()
		s := store.Memory()
		cfg := debatetest.PairConfig(nil)
		d, err := engineOn(t, s, answering(), m).Create(t.Context(), cfg) // only the judge is blocked
		require.NoError(t, err)
		return d
	}
	parallel := func(t *testing.T, m *blocked) *debate.Debate {
		t.Helper()
		cfg := debatetest.PairConfig(panel.Protocol{Mode: panel.Simultaneous})
		cfg.Participants[1].Provider = "j"
		d, err := engineOn(t, store.Memory(), answering(), m).Create(t.Context(), cfg) // A speaks while B is blocked
		require.NoError(t, err)
		return d
	}
	for name, test := range map[string]struct {
		create debates
		drive  string
	}{
		"start": {alone, "start"}, "jobs": {alone, "jobs"}, "an answer": {afterOther, "run"}, "a turn": {withTurns, "run"}, "a turn meanwhile": {parallel, "run"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &blocked{}
				d := test.create(t, m)
				began := time.Now()
				var failed *debate.Failure
				require.ErrorAs(t, outageDrivers[test.drive](t.Context(), d), &failed)
				require.True(t, failed.Unreachable)
				require.Greater(t, time.Since(began), 15*time.Minute)
				m.repaired.Store(true)
				require.NoError(t, d.Retry(t.Context()))
				require.NoError(t, outageDrivers[test.drive](t.Context(), d))
				require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
			})
		})
	}
}

// Recover, which continues after a restart, waits too.
func TestRecoverWaitsForAProviderThatNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := store.Memory(), &blocked{}
		first := debatetest.Create(t, engineOn(t, s, m, m), debatetest.PairConfig(nil))
		for _, err := range first.Run(t.Context()) { // the process dies when the debate has begun
			require.NoError(t, err)
			if st, err := first.Status(t.Context()); err == nil && st.State.Active() {
				break
			}
		}
		time.Sleep(time.Hour)
		e := engineOn(t, s, m, m)
		require.NoError(t, e.Recover(t.Context()))
		time.Sleep(10 * time.Minute)
		m.repaired.Store(true)
		time.Sleep(10 * time.Minute)
		d := debatetest.Open(t, e, first.ID())
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
		require.NoError(t, e.Close(t.Context()))
	})
}
