package debatehttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/elenchus-go/debate"
)

// answerTime limits how long a service that ends waits for requests whose debates have ended.
const answerTime = 5 * time.Second

// Serve serves a handler on a listener until ctx ends or the listener fails. Then it starts no new steps, waits at most
// grace for calls in flight, and ends the streams of all viewers. It cuts requests that take 5 more seconds. It closes the
// engine and the listener. Another engine can continue the debates, if the store keeps them. Serve returns nil if ctx ended
// and no call in flight was canceled.
func Serve(ctx context.Context, l net.Listener, e *debate.Engine, h http.Handler, grace time.Duration) error {
	web := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	closeUnused(web)
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

// closeUnused makes a server that ends close the connections that have sent no request. Browsers and HTTP clients open some
// in advance, and Shutdown waits for them.
func closeUnused(s *http.Server) {
	var mu sync.Mutex
	unused, ended := map[net.Conn]bool{}, false
	s.ConnState = func(c net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case state != http.StateNew:
			delete(unused, c)
		case ended:
			_ = c.Close()
		default:
			unused[c] = true
		}
	}
	s.RegisterOnShutdown(func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
		for c := range unused {
			_ = c.Close()
		}
	})
}
