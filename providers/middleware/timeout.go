package middleware

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/elenchus-go/debate/providers"
)

// Timeouts limit the time that a model takes. Time spent in the caller's OnChunk does not count.
type Timeouts struct {
	// Call limits the duration of a whole call. Defaults to 120 s. A negative value disables the limit.
	Call time.Duration
	// Chunk limits the time between the chunks of a streaming call, and between the last chunk and the end. It does not
	// apply before the first chunk, because models may reason first. Defaults to 60 s. A negative value disables the
	// limit.
	Chunk time.Duration
}

// Timeout returns middleware that cancels the context of a call that exceeds a limit. The call then fails with an error
// of kind [providers.Timeout], which holds the part of the reply that arrived. If the caller ended the call, the
// provider's own error is returned. If the provider ignores its context and returns a reply, that reply is returned.
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

// watchdog uses one timer for the limit that expires first. The timer is stopped while the caller handles a chunk.
type watchdog struct {
	onChunk        func(string) error
	receivedChunk  bool          // a chunk has arrived
	callbackFailed bool          // onChunk returned an error
	silence        time.Duration // the limit between chunks
	timer          *time.Timer
	began          time.Time     // the time at which the timer was started
	left           time.Duration // the rest of the call's time when the timer was started
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
		cause = fmt.Errorf("no chunk arrived for %v", t.Chunk)
	}
	return &providers.Error{Kind: providers.Timeout, Partial: partial, Err: cause}
}
