package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"sync"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// model answers each prompt with its digest: what a prompt shows decides all that is said from then on, and no two steps
// of a debate get the same answer.
type model struct {
	hook  func(context.Context, providers.Request) error              // comes before each answer; nil: nothing does
	alter func(providers.Request, scripted.Reply, int) scripted.Reply // of the nth call; nil: nothing changes

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
	text, err := answer(r)
	if err != nil {
		return providers.Response{}, err
	}
	reply := scripted.Reply{Text: text, Chunks: 2}
	if m.alter != nil {
		reply = m.alter(r, reply, n)
	}
	p := scripted.Provider{Replies: []scripted.Reply{reply}}
	return p.Generate(ctx, r)
}

// requests are the requests until now.
func (m *model) requests() []providers.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.calls)
}

// requestDigests are the digests of the requests until now.
func (m *model) requestDigests() (list []string) {
	for _, r := range m.requests() {
		list = append(list, digest(r))
	}
	return list
}

func digest(r providers.Request) string {
	h := fnv.New64a()
	for _, m := range r.Messages {
		fmt.Fprintf(h, "%s|%s\n", m.Role, m.Text)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

var digests = regexp.MustCompile("[0-9a-f]{16}")

// turnDigests are the digests of the prompts that led to turns.
func turnDigests(turns []transcript.Turn) (list []string) {
	for _, t := range turns {
		list = append(list, digests.FindString(t.Text))
	}
	return list
}

func answer(r providers.Request) (string, error) {
	var v any
	switch r.SchemaName {
	case "":
		return digest(r), nil
	case judge.AssessmentContract.Name():
		v = judge.Assessment{
			Participants: []judge.ParticipantAssessment{{Name: "A", Criteria: judge.Rubric(nil).UniformScores(6)}, {Name: "B", Criteria: judge.Rubric(nil).UniformScores(5)}}, Reasoning: digest(r), Quality: 6, ShouldContinue: true,
		}
	default:
		v = judge.Verdict{Summary: digest(r), Quality: 50}
	}
	b, err := json.Marshal(v)
	return string(b), err
}

// failAuthenticationOfB holds a model whose key is refused when B is to speak.
func failAuthenticationOfB(_ context.Context, r providers.Request) error {
	if isCallOf("B", r) {
		return &providers.Error{Kind: providers.Authentication, Err: errors.New("the key has expired")}
	}
	return nil
}

// isCallOf says whose step a request is for.
func isCallOf(who string, r providers.Request) bool { return r.Model == "model-"+who }

// gate holds calls until it is opened or they are cut.
type gate struct {
	actor   string        // whose calls are held
	arrived chan struct{} // gets a word of each
	opened  chan struct{}
	cut     chan error // gets the cause of each that was cut
}

// newGate is a gate for one participant, or a panel's two where who is empty.
func newGate(who string) *gate {
	return &gate{actor: who, arrived: make(chan struct{}, 8), opened: make(chan struct{}), cut: make(chan error, 8)}
}

func (g *gate) release() { close(g.opened) }

// hold is a model's.
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
