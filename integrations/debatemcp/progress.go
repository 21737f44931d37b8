package debatemcp

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A notifier notifies a client of the progress of a call.
type notifier struct {
	session *mcp.ServerSession
	token   any // nil if the client does not listen
	every   time.Duration

	mu     sync.Mutex
	ticker *time.Ticker
	n      float64
	text   string
}

// listen repeats the last notification after each silence, until the function that it returns is called.
func (n *notifier) listen(ctx context.Context) (stop func()) {
	if n.token == nil {
		return func() {}
	}
	n.ticker = time.NewTicker(n.every)
	done, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		for {
			select {
			case <-n.ticker.C:
				n.tell(ctx, "")
			case <-done:
				return
			}
		}
	}()
	return func() { n.ticker.Stop(); close(done); <-left }
}

// tell sends a notification. An empty text repeats the last one.
func (n *notifier) tell(ctx context.Context, text string) {
	if n.token == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if text != "" {
		n.text = text
		n.ticker.Reset(n.every)
	}
	n.n++
	_ = n.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: n.token, Progress: n.n, Message: n.text}) // a client that has gone misses nothing
}
