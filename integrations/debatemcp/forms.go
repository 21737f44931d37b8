package debatemcp

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate/debatetool"
)

// forms are the forms that clients show to people. A form outlives the call that has opened it: the person may type for
// longer than the client waits for the call, and the reply counts all the same.
type forms struct {
	mu   sync.Mutex
	open map[formKey]*form
}

// formKey identifies a form: a client shows it once, however many calls wait for it.
type formKey struct {
	session *mcp.ServerSession
	id, key string
}

// A form waits for what a person enters.
type form struct {
	close    context.CancelFunc // takes the form from the client
	done     chan struct{}      // closed when the form is
	answered bool               // whether the person has replied or declined
	err      error
}

// show shows forms to people at the same time, and waits until all are closed. It reports whether all were answered, by
// this client or in another way.
func (f *forms) show(ctx context.Context, s *server, session *mcp.ServerSession, id string, asked mcp.InputRequestMap) (answered bool, err error) {
	list := map[string]*form{}
	for key, params := range asked {
		list[key] = f.start(ctx, s, formKey{session, id, key}, params.(*mcp.ElicitParams))
	}
	tick := time.NewTicker(s.heartbeat)
	defer tick.Stop()
	answered = true
	for key, one := range list {
		for open := true; open; {
			select {
			case <-one.done:
				open, answered, err = false, answered && one.answered, one.err
			case <-ctx.Done():
				err = context.Cause(ctx)
			case <-tick.C:
				var isAsked bool
				if isAsked, err = s.isAsked(ctx, id, strings.TrimPrefix(key, structured)); err == nil && !isAsked {
					one.close()
					open = false
				}
			}
			if err != nil {
				return false, err
			}
		}
	}
	return answered, nil
}

// start shows a form, unless the client shows it already.
func (f *forms) start(ctx context.Context, s *server, k formKey, params *mcp.ElicitParams) *form {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.open[k]; one != nil {
		return one
	}
	if f.open == nil {
		f.open = map[formKey]*form{}
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	one := &form{close: stop, done: make(chan struct{})}
	f.open[k] = one
	go func() {
		defer stop()
		entered, err := k.session.Elicit(ctx, params) // returns when the session ends
		if err == nil {
			one.answered, one.err = s.take(ctx, k.id, k.key, entered)
		}
		f.mu.Lock()
		delete(f.open, k)
		f.mu.Unlock()
		close(one.done)
	}()
	return one
}

// isAsked reports whether a debate still asks for a step, so that nobody has replied in another way.
func (s *server) isAsked(ctx context.Context, id, step string) (bool, error) {
	out, err := s.tools.Result(ctx, id)
	return slices.ContainsFunc(out.Waiting, func(a debatetool.Ask) bool { return a.Step == step }), err
}
