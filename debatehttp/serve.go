package debatehttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/elenchus-go/debate"
)

// Serve serves a handler on a listener until ctx ends. Then it starts no new steps, waits at most grace for calls in
// flight, and ends the streams of all viewers. It closes the engine and the listener. Another engine can continue the
// debates, if the store keeps them.
func Serve(ctx context.Context, l net.Listener, e *debate.Engine, h http.Handler, grace time.Duration) error {
	web := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	closed := make(chan error, 1)
	defer context.AfterFunc(ctx, func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		err := e.Close(late)
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		closed <- errors.Join(err, web.Shutdown(end), web.Close())
	})()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-closed
}
