package middleware

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/elenchus-go/debate/providers"
)

// Timeouts bound the time that a model takes. What the caller's OnChunk takes does not count.
type Timeouts struct {
	// Call bounds a whole call. Defaults to 120 s; below 0 there is no bound.
	Call time.Duration
	// Chunk bounds the silence after each chunk of a call that streams, until the next one or the end. Before the first
	// one only Call holds, since models think before they speak. Defaults to 60 s; below 0 there is no bound.
	Chunk time.Duration
}

// Timeout ends calls that take too long, by their context, with an error of kind [providers.Timeout] that has what had
// come until then. Where the caller ended the call, the error is the provider's own. A reply that comes all the same,
// from a provider that does not heed its context, counts.
func Timeout(t Timeouts) Middleware {
	t.Call, t.Chunk = durationOr(t.Call, 120*time.Second), durationOr(t.Chunk, 60*time.Second)
	return func(p providers.Provider) providers.Provider {
		return &wrapped{p, func(ctx context.Context, r providers.Request) (providers.Response, error) {
			run, cancel := context.WithCancelCause(ctx)
			w := &watchdog{left: t.Call, silence: t.Chunk, onChunk: r.OnChunk}
			w.timer = time.AfterFunc(t.Call, func() { cancel(errExpired) })
			defer cancel(nil)
			defer w.timer.Stop()
			w.began = time.Now()
			if r.OnChunk != nil {
				r.OnChunk = w.chunk
			}
			resp, err := p.Generate(run, r)
			if err == nil || w.callbackFailed || ctx.Err() != nil || !errors.Is(context.Cause(run), errExpired) {
				return resp, err
			}
			return providers.Response{}, w.expired(t, providers.AsError(err).Partial)
		}}
	}
}

func durationOr(d, byDefault time.Duration) time.Duration {
	switch {
	case d < 0:
		return math.MaxInt64
	case d == 0:
		return byDefault
	}
	return d
}

var errExpired = errors.New("the call took too long")

// watchdog has one timer, for whichever bound is reached first. It does not run while the caller handles a chunk.
type watchdog struct {
	onChunk        func(string) error
	receivedChunk  bool          // a chunk has come
	callbackFailed bool          // the caller wants no more
	silence        time.Duration // between chunks
	timer          *time.Timer
	began          time.Time     // when the timer began to run
	left           time.Duration // of the call's time, then
}

func (w *watchdog) chunk(text string) error {
	w.timer.Stop()
	w.receivedChunk = true
	w.left -= time.Since(w.began)
	if err := w.onChunk(text); err != nil {
		w.callbackFailed = true
		return err
	}
	w.began = time.Now()
	w.timer.Reset(min(w.left, w.silence))
	return nil
}

func (w *watchdog) expired(t Timeouts, partial providers.Response) error {
	cause := fmt.Errorf("the call took longer than %v", t.Call)
	if w.receivedChunk && w.silence < w.left {
		cause = fmt.Errorf("nothing more came for %v", t.Chunk)
	}
	return &providers.Error{Kind: providers.Timeout, Partial: partial, Err: cause}
}
