package debatemcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate/integrations/debatetool"
)

// forms are the forms that clients show to people. A form outlives the call that has opened it: the person may type for
// longer than the client waits for the call, and the reply counts all the same.
type forms struct {
	tools *debatetool.Toolset
	every time.Duration // between two looks at whether a reply is still needed

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
func (f *forms) show(ctx context.Context, session *mcp.ServerSession, id string, asked mcp.InputRequestMap) (answered bool, err error) {
	list := map[string]*form{}
	for key, params := range asked {
		list[key] = f.start(ctx, formKey{session, id, key}, params.(*mcp.ElicitParams))
	}
	answered = true
	for key, one := range list {
		replied, err := f.wait(ctx, id, strings.TrimPrefix(key, structured), one)
		if err != nil {
			return false, err
		}
		answered = answered && replied
	}
	return answered, nil
}

// wait waits until a form is closed, or its reply is no longer needed.
func (f *forms) wait(ctx context.Context, id, step string, one *form) (answered bool, err error) {
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	for {
		select {
		case <-one.done:
			return one.answered, one.err
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-tick.C:
			if isAsked, err := f.isAsked(ctx, id, step); err != nil {
				return false, err
			} else if !isAsked {
				one.close()
				return true, nil
			}
		}
	}
}

// start shows a form, unless the client shows it already.
func (f *forms) start(ctx context.Context, k formKey, params *mcp.ElicitParams) *form {
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
			one.answered, one.err = f.take(ctx, k.id, k.key, entered)
		}
		f.mu.Lock()
		delete(f.open, k)
		f.mu.Unlock()
		close(one.done)
	}()
	return one
}

// isAsked reports whether a debate still asks for a step, so that nobody has replied in another way.
func (f *forms) isAsked(ctx context.Context, id, step string) (bool, error) {
	out, err := f.tools.Result(ctx, id)
	return slices.ContainsFunc(out.Waiting, func(a debatetool.Ask) bool { return a.Step == step }), err
}

// take gives a debate what a person has entered in a form. It reports whether the person has replied or declined. A form
// that was dismissed stays open, and so does the decision about a question.
func (f *forms) take(ctx context.Context, id, key string, form *mcp.ElicitResult) (answered bool, err error) {
	step, isJSON := strings.CutPrefix(key, structured)
	reply := debatetool.Reply{}
	switch {
	case form.Action == "accept":
		b, err := json.Marshal(form.Content)
		if isJSON {
			reply.Text = string(b)
		} else if err == nil {
			err = json.Unmarshal(b, &reply)
		}
		if err != nil {
			return false, fmt.Errorf("read reply to %s: %w", step, err)
		}
	case form.Action == "decline" && isStep(step):
		reply.Action = "decline"
	default:
		return false, nil
	}
	reply.ID, reply.Step = id, step
	_, err = f.tools.Answer(ctx, reply)
	return err == nil, err
}

// isStep reports whether what is asked is the reply of a step, which a person can decline. The ids of questions have no
// slashes.
func isStep(step string) bool { return strings.Contains(step, "/") }
