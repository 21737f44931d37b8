package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/fault"
)

// A watch cancels a call if the service sends nothing for too long. It runs only while the call waits for the service,
// so that the time that the caller's OnChunk takes does not count.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	limit  time.Duration // 0 if there is no limit
	left   time.Duration // the time that the call may still take in all
	since  time.Time
	timer  *time.Timer
	broken bool // no reply came, or it broke off
}

// errExpired is the cause of a call that the watch canceled.
var errExpired = errors.New("the service sent nothing")

// totalLimit limits the time of a whole call, as a multiple of the time in which the service may send nothing.
const totalLimit = 10

func newWatch(ctx context.Context, limit time.Duration) *watch {
	run, cancel := context.WithCancelCause(ctx)
	w := &watch{ctx: run, cancel: cancel}
	if limit > 0 {
		w.limit, w.left = limit, totalLimit*limit
	}
	return w
}

// lost returns the error of a connection that was not made or broke off. Other errors stay as they are.
func (w *watch) lost(err error, secrets []string) error {
	_, known := errors.AsType[*providers.Error](err)
	w.broken = !known
	return fault.Connection(err, secrets)
}

// start begins to wait for the service.
func (w *watch) start() {
	if w.limit == 0 {
		return
	}
	d := max(0, min(w.limit, w.left))
	w.since = time.Now()
	if w.timer == nil {
		w.timer = time.AfterFunc(d, func() { w.cancel(errExpired) })
		return
	}
	w.timer.Reset(d)
}

// connectLimit limits the time until the service accepts the connection. Three retransmissions fit into it.
const connectLimit = 10 * time.Second

// limitConnecting returns the request with a limit on the time until it has a connection, and a function that removes the
// limit. Without it, nobody knows for a long time whether the service is slow or cannot be reached.
func (w *watch) limitConnecting(r *http.Request) (limited *http.Request, connected func()) {
	timer := time.AfterFunc(connectLimit, func() {
		failed := &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("%s does not answer within %v", r.URL.Host, connectLimit)}
		w.cancel(&providers.Error{Kind: providers.Network, Err: fmt.Errorf("call model: %w", failed)})
	})
	connected = func() { timer.Stop() }
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected() }}
	return r.WithContext(httptrace.WithClientTrace(r.Context(), trace)), connected
}

// pause ends waiting.
func (w *watch) pause() {
	if w.timer != nil && w.timer.Stop() {
		w.left -= time.Since(w.since)
	}
}

// limitRest limits the time that the call may still wait in all, also if it had no limit.
func (w *watch) limitRest(d time.Duration) {
	if w.limit == 0 {
		w.limit, w.left = d, d
	}
	w.left = min(w.left, d)
}

// stop ends the call.
func (w *watch) stop() {
	w.pause()
	w.cancel(nil)
}

// asError returns the error of a failed call with the part of the reply that arrived. If it came from no service, the user's
// rules decide its kind here.
func (c *Client) asError(w *watch, err error, partial providers.Response) *providers.Error {
	e := *providers.AsError(err)
	if unconnected, ok := errors.AsType[*providers.Error](context.Cause(w.ctx)); ok && fault.NotConnected(unconnected) {
		e = *unconnected
	}
	if errors.Is(context.Cause(w.ctx), errExpired) {
		e = providers.Error{Kind: providers.Timeout, Err: fmt.Errorf("call model: %w for %v", errExpired, w.limit)}
		if w.left < w.limit {
			e.Err = fmt.Errorf("call model: the reply took longer than %v", totalLimit*w.limit)
		}
	}
	if w.broken && c.own != nil {
		e.Kind = cmp.Or(c.own(0, []byte(e.Err.Error())), e.Kind)
	}
	e.Partial = partial
	return &e
}
