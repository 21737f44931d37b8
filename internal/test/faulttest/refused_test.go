package faulttest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// refusing is a model whose check fails until it is mended.
type refusing struct {
	providers.Provider
	err error
}

func (r *refusing) Check(context.Context, string) error { return r.err }

// A start that was refused can be seen from every side, in every process, until somebody edits the debate or starts it
// again.
func TestARefusedStartIsVisibleEverywhere(t *testing.T) {
	for name, tt := range map[string]struct {
		kind  providers.ErrorKind
		field string
	}{
		"a bad key":        {providers.Authentication, "participants[0].provider"},
		"an unknown model": {providers.InvalidRequest, "participants[0].model"},
	} {
		for verb, drive := range drivers {
			t.Run(name+"/"+verb, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					model := &refusing{&debatetest.DigestModel{Names: []string{"A", "B"}}, &providers.Error{Kind: tt.kind, Err: errors.New("no entry")}}
					o := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"m": model, "j": model}}
					e := newTestEngine(t, o)
					d := debatetest.Create(t, e, debatetest.PairConfig(nil))
					early := make(chan error, 1)
					go func() { early <- watchError(t, d) }()
					synctest.Wait()

					reason := tt.field + ": provider m: " + string(tt.kind) + ": no entry"
					if err := drive(t, d); verb == "RunOnce" || verb == "Run" {
						requireProblem(t, err, reason)
					}
					time.Sleep(time.Minute)
					requireProblem(t, <-early, reason)
					other := newTestEngine(t, debate.Options{Store: o.Store}) // has no providers
					for _, d := range []*debate.Debate{d, debatetest.Open(t, e, "d"), debatetest.Open(t, other, "d")} {
						requireProblem(t, watchError(t, d), reason)
						res := debatetest.Result(t, d)
						require.Equal(t, fsm.Configuring, res.State)
						require.Contains(t, res.Problems[0].String(), reason)
						require.Contains(t, debatetest.Status(t, d).Problems[0], reason)
						require.Contains(t, debatetest.Encode(t, res), `"problems":[{"field":"`+tt.field+`"`)
					}
					listed := 0
					for _, s := range debatetest.List(t, other, store.Query{FailureKinds: []string{"rejected"}}) {
						require.Contains(t, s.Problems[0], reason)
						require.Contains(t, s.FailureCause, reason)
						listed++
					}
					require.Equal(t, 1, listed)
					model.err = nil
					cfg := debatetest.PairConfig(nil)
					cfg.Topic = "Ban bicycles?"
					require.NoError(t, d.Edit(t.Context(), cfg))
					require.Empty(t, debatetest.Status(t, d).Problems)
					require.Empty(t, debatetest.Result(t, d).Problems)
					require.NoError(t, d.Start(t.Context()))
					require.NoError(t, watchError(t, d))
					require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
				})
			})
		}
	}
}

// A debate whose start was refused may be started again without an edit, for example with another key.
func TestARefusedStartIsForgottenWhenTheDebateStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &refusing{&debatetest.DigestModel{Names: []string{"A", "B"}}, &providers.Error{Kind: providers.Authentication, Err: errors.New("no entry")}}
		e := newTestEngine(t, debate.Options{Providers: map[string]providers.Provider{"m": model, "j": model}})
		d := debatetest.Create(t, e, debatetest.PairConfig(nil))
		_, err := debatetest.Run(t, d)
		requireProblem(t, err, "no entry")
		model.err = nil
		debatetest.Finish(t, d)
		require.Empty(t, debatetest.Status(t, d).Problems)
		require.Empty(t, debatetest.Result(t, d).Problems)
		require.NoError(t, watchError(t, d))
	})
}

// watchError follows a debate until Watch returns, and returns the error of Watch.
func watchError(t *testing.T, d *debate.Debate) error {
	var last debate.Event
	for ev, err := range d.Watch(t.Context(), 0) {
		if err != nil {
			if s, ok := last.(debate.StateChanged); !ok || len(s.Problems) == 0 {
				return fmt.Errorf("%T precedes the error %w", last, err)
			}
			return err
		}
		last = ev
	}
	if _, ok := last.(debate.Ended); !ok {
		return fmt.Errorf("the last event is %T", last)
	}
	return nil
}

func requireProblem(t *testing.T, err error, reason string) {
	t.Helper()
	require.ErrorAs(t, err, new(*debate.Problems))
	require.ErrorContains(t, err, reason)
	require.NotContains(t, err.Error(), "precedes")
}
