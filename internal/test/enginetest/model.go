package enginetest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// model answers each prompt with its digest, so that any difference in a prompt changes all later answers, and no two
// steps of a debate get the same answer.
type model struct {
	hook  func(context.Context, providers.Request) error              // called before each answer; may be nil
	alter func(providers.Request, scripted.Reply, int) scripted.Reply // alters the reply to the nth call; may be nil

	mu    sync.Mutex
	calls []providers.Request
}

// Generate implements providers.Provider.
func (m *model) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	m.mu.Lock()
	m.calls = append(m.calls, r)
	n := len(m.calls)
	m.mu.Unlock()
	if m.hook != nil {
		if err := m.hook(ctx, r); err != nil {
			return providers.Response{}, err
		}
	}
	reply := scripted.Reply{Text: debatetest.Answer(r, digest(r)), Chunks: 2}
	if m.alter != nil {
		reply = m.alter(r, reply, n)
	}
	p := scripted.Provider{Replies: []scripted.Reply{reply}}
	return p.Generate(ctx, r)
}

// requests returns the requests so far.
func (m *model) requests() []providers.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.calls)
}

// requestDigests returns the digests of the requests so far.
func (m *model) requestDigests() (list []string) {
	for _, r := range m.requests() {
		list = append(list, digest(r))
	}
	return list
}

func digest(r providers.Request) string { return fmt.Sprintf("%016x", debatetest.Digest(r)) }

var digests = regexp.MustCompile("[0-9a-f]{16}")

// turnDigests returns the digests of the prompts that led to turns.
func turnDigests(turns []transcript.Turn) (list []string) {
	for _, t := range turns {
		list = append(list, digests.FindString(t.Text))
	}
	return list
}

// failAuthenticationOfB rejects the key when B speaks. It is a hook.
func failAuthenticationOfB(_ context.Context, r providers.Request) error {
	if isCallOf("B", r) {
		return &providers.Error{Kind: providers.Authentication, Err: errors.New("the key has expired")}
	}
	return nil
}

// isCallOf reports whether a request is for a step of who.
func isCallOf(who string, r providers.Request) bool { return r.Model == "model-"+who }

// gate blocks calls until it is opened or they are canceled.
type gate struct {
	actor   string        // whose calls are blocked
	arrived chan struct{} // receives a value for each call
	opened  chan struct{}
	cut     chan error // receives the cause of each canceled call
}

// newGate returns a gate for one participant, or for both of a panel if who is empty.
func newGate(who string) *gate {
	return &gate{actor: who, arrived: make(chan struct{}, 8), opened: make(chan struct{}), cut: make(chan error, 8)}
}

func (g *gate) release() { close(g.opened) }

// hold blocks the calls of a model. It is a hook.
func (g *gate) hold(ctx context.Context, r providers.Request) error {
	if r.SchemaName != "" || g.actor != "" && !isCallOf(g.actor, r) {
		return nil
	}
	g.arrived <- struct{}{}
	select {
	case <-g.opened:
		return nil
	case <-ctx.Done():
		g.cut <- context.Cause(ctx)
		return providers.ContextError(ctx, providers.Response{})
	}
}
