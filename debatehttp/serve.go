package debatehttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/elenchus-go/debate"
)

// Serve serves a handler on a listener until ctx ends or the listener fails. Then it starts no new steps, waits at most
// grace for calls in flight, and ends the streams of all viewers. It closes the engine and the listener. Another engine can
// continue the debates, if the store keeps them.
func Serve(ctx context.Context, l net.Listener, e *debate.Engine, h http.Handler, grace time.Duration) error {
	web := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	end := func() error {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		err := e.Close(late)
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return errors.Join(err, web.Shutdown(end), web.Close())
	}
	closed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { closed <- end() })
	err := web.Serve(l)
	if stop() { // the listener has failed
		return errors.Join(err, end())
	}
	return <-closed
}
