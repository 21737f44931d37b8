package middleware_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/providers/scripted"
)

// pauses is a model that sends a word after each pause, and ends after the last pause.
func pauses(pauses ...time.Duration) providers.Provider {
	return model(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		said := providers.Response{Model: "gpt-x"}
		for i, pause := range pauses {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return providers.Response{}, providers.ContextError(ctx, said)
			}
			if i < len(pauses)-1 && r.OnChunk != nil {
				if err := r.OnChunk("word "); err != nil {
					return providers.Response{}, err
				}
			}
			said.Text += "word "
		}
		return said, nil
	})
}

func TestACallThatTakesTooLongEnds(t *testing.T) {
	const s = time.Second
	for name, test := range map[string]struct {
		bounds  middleware.Timeouts
		pauses  []time.Duration
		handles time.Duration // the time that OnChunk takes
		after   time.Duration
		partial string
		wrong   string // empty if the call succeeds
	}{
		"in time":                               {middleware.Timeouts{}, []time.Duration{60 * s, 59 * s}, 0, 119 * s, "", ""},
		"call limit, default":                   {middleware.Timeouts{}, []time.Duration{121 * s}, 0, 120 * s, "", "timeout: the call took longer than 2m0s"},
		"chunk limit, default":                  {middleware.Timeouts{}, []time.Duration{50 * s, 61 * s}, 0, 110 * s, "word ", "timeout: no chunk arrived for 1m0s"},
		"call limit":                            {middleware.Timeouts{Call: 3 * s}, []time.Duration{s, s, 2 * s}, 0, 3 * s, "word word ", "timeout: the call took longer than 3s"},
		"chunk limit":                           {middleware.Timeouts{Chunk: 3 * s}, []time.Duration{s, 2 * s, 4 * s}, 0, 6 * s, "word word ", "timeout: no chunk arrived for 3s"},
		"chunk limit, after an immediate chunk": {middleware.Timeouts{Chunk: 3 * s}, []time.Duration{0, 4 * s}, 0, 3 * s, "word ", "timeout: no chunk arrived for 3s"},
		"no chunk limit before the first chunk": {middleware.Timeouts{Chunk: s}, []time.Duration{100 * s, s / 2}, 0, 100*s + s/2, "", ""},
		"no call limit":                         {middleware.Timeouts{Call: -1}, []time.Duration{1e6 * s, 59 * s}, 0, (1e6 + 59) * s, "", ""},
		"no chunk limit":                        {middleware.Timeouts{Chunk: -1}, []time.Duration{s, 118 * s}, 0, 119 * s, "", ""},
		"caller time does not count":            {middleware.Timeouts{Call: 3 * s, Chunk: 2 * s}, []time.Duration{s, s, s / 2}, time.Hour, 2*time.Hour + 5*s/2, "", ""},
		"call limit counts model time only":     {middleware.Timeouts{Call: 3 * s}, []time.Duration{s, s, 2 * s}, time.Hour, 2*time.Hour + 3*s, "word word ", "timeout: the call took longer than 3s"},
		"call limit, slow caller":               {middleware.Timeouts{Call: 2 * s}, []time.Duration{s, s / 2, s}, 10 * s, 22 * s, "word word ", "timeout: the call took longer than 2s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := ask("Why?")
				r.OnChunk = func(string) error {
					time.Sleep(test.handles)
					return nil
				}
				began := time.Now()
				res, err := middleware.Timeout(test.bounds)(pauses(test.pauses...)).Generate(t.Context(), r)
				require.Equal(t, test.after, time.Since(began))
				if test.wrong == "" {
					require.NoError(t, err)
					require.NotEmpty(t, res.Text)
					return
				}
				require.EqualError(t, err, test.wrong)
				require.Equal(t, providers.Timeout, providers.AsError(err).Kind)
				require.Equal(t, providers.Response{Text: test.partial, Model: "gpt-x"}, providers.AsError(err).Partial)
				require.Zero(t, res)
			})
		})
	}
}

func TestOnlyTheWholeCallIsBoundedWhereItDoesNotStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := middleware.Timeout(middleware.Timeouts{Call: time.Minute, Chunk: time.Second})(pauses(30*time.Second, 20*time.Second))
		calltest.Generate(t, p, ask("Why?"))
	})
}

func TestTheEndOfTheCallersContextIsNoTimeoutOfTheCall(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(context.Context) (context.Context, context.CancelFunc)
		kind providers.ErrorKind
		is   error
	}{
		"cancelled": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(errEnough) })
			return ctx, func() {}
		}, providers.ServerError, errEnough},
		"expired": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, providers.Timeout, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := test.end(t.Context())
				defer cancel()
				_, err := middleware.Timeout(middleware.Timeouts{})(pauses(time.Minute)).Generate(ctx, ask("Why?"))
				require.ErrorIs(t, err, test.is)
				require.Equal(t, test.kind, providers.AsError(err).Kind)
				require.NotContains(t, err.Error(), "took longer")
			})
		})
	}
}

func TestTheOuterOfTwoTimeoutsIsNotTakenForTheInner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := middleware.Wrap(pauses(time.Hour),
			middleware.Timeout(middleware.Timeouts{Call: time.Second}), middleware.Timeout(middleware.Timeouts{Call: time.Minute}))
		_, err := p.Generate(t.Context(), ask("Why?"))
		require.EqualError(t, err, "timeout: the call took longer than 1s")
	})
}

func TestAReplyThatIsCompleteInSpiteOfTheTimeoutCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stubborn := model(func(context.Context, providers.Request) (providers.Response, error) {
			time.Sleep(time.Hour)
			return providers.Response{Text: "Because."}, nil
		})
		res := calltest.Generate(t, middleware.Timeout(middleware.Timeouts{})(stubborn), ask("Why?"))
		require.Equal(t, "Because.", res.Text)
	})
}

func TestAFailureInTimeIsReturnedAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := &providers.Error{Kind: providers.Authentication}
		p := middleware.Timeout(middleware.Timeouts{})(&scripted.Provider{Replies: []scripted.Reply{{Latency: time.Minute, Err: failed}}})
		_, err := p.Generate(t.Context(), ask("Why?"))
		require.Equal(t, failed, err)
	})
}
