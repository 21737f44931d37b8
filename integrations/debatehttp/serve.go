package debatehttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/elenchus-go/debate"
)

// answerTime limits how long a service that ends waits for requests whose debates have ended.
const answerTime = 5 * time.Second

// Serve serves a handler on a listener until ctx ends or the listener fails. Then it starts no new steps, waits at most
// grace for calls in flight, and ends the streams of all viewers. It cuts requests that take 5 more seconds. It closes the
// engine and the listener. Another engine can continue the debates, if the store keeps them. Serve returns nil if ctx ended
// and no call in flight was canceled.
//
// Serve limits what clients can hold. It closes connections that send headers for more than 10 seconds, a body for more
// than 30 seconds, or nothing for a minute, and those that read less than 64 KiB of an answer in 30 seconds. Streams go on as
// long as the client reads them. A request that is answered before its body was read has one second to send the rest. At
// most 10,000 connections are open, or three quarters of the files that the process may open; beyond that, Serve closes idle
// connections, and new ones wait.
func Serve(ctx context.Context, l net.Listener, e *debate.Engine, h http.Handler, grace time.Duration) error {
	web := &http.Server{Handler: limited(h), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	limitConnections(web, maxConnections())
	end := func() error {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		err := e.Close(late)
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
		defer cancel()
		if cut := web.Shutdown(end); !errors.Is(cut, context.DeadlineExceeded) {
			err = errors.Join(err, cut)
		}
		return errors.Join(err, web.Close())
	}
	closed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { closed <- end() })
	err := web.Serve(l)
	if stop() { // the listener has failed
		return errors.Join(err, end())
	}
	return <-closed
}
