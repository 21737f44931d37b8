package debatemcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/adapter"
)

const (
	rejected         = -1    // the code of a client whose user refuses a request for a sample
	defaultMaxSample = 4_000 // tokens of a reply if a debate sets no limit
)

// Sampler is a provider whose model is that of the client: it asks the client that waits for a debate in a call of the tool debate,
// with a request for a sample. So debates need no key. The client decides, usually with its user, whether it replies.
//
// Give one Sampler to debate.Options.Providers and to Options.Sampler. While no client waits in a call, a request for a reply waits
// too, until the next call or the timeout of the reply. The model of an actor is a hint for the client.
//
// The protocol has deprecated samples in version 2026-07-28. A client that speaks only that version cannot be asked.
type Sampler struct {
	samples *adapter.Provider

	mu      sync.Mutex
	waiting map[string][]*caller // by debate
	changed chan struct{}        // closed when a caller comes
}

// NewSampler returns a sampler.
func NewSampler() *Sampler {
	s := &Sampler{waiting: map[string][]*caller{}, changed: make(chan struct{})}
	s.samples = &adapter.Provider{Stream: s.sample, Settings: settingsOfNoSample, Timeout: -1}
	return s
}

// settingsOfNoSample says of each setting that a request for a sample cannot carry what to do.
var settingsOfNoSample = map[string]string{
	"top_p":     "a request for a sample has no top_p, leave it out",
	"seed":      "a request for a sample has no seed, leave it out",
	"reasoning": "a request for a sample has no reasoning, leave it out",
}

// A caller is a client that waits for a debate in a call.
type caller struct {
	ctx     context.Context // of the call: the transport sends requests with the call's response
	session *mcp.ServerSession
	refusal string // why the client cannot be asked; empty if it can
}

// newCaller returns the caller of a request.
func newCaller(ctx context.Context, r *mcp.CallToolRequest) *caller {
	c := &caller{ctx: context.WithoutCancel(ctx), session: r.Session} // a reply may come after the call has returned
	offers := r.ClientCapabilities()
	switch {
	case r.ProtocolVersion() >= sinceRounds:
		c.refusal = fmt.Sprintf("protocol %s has no requests for samples during a call", r.ProtocolVersion())
	case offers == nil || offers.Sampling == nil:
		c.refusal = "the client does not offer sampling, use another model"
	}
	return c
}

// enter notes that a client waits for a debate, until leave is called. It does nothing without a sampler.
func (s *Sampler) enter(id string, c *caller) (leave func()) {
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[id] = append(s.waiting[id], c)
	close(s.changed)
	s.changed = make(chan struct{})
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waiting[id] = slices.DeleteFunc(s.waiting[id], func(other *caller) bool { return other == c })
		if len(s.waiting[id]) == 0 {
			delete(s.waiting, id)
		}
	}
}

// await returns the last client that has called for a debate and waits for it.
func (s *Sampler) await(ctx context.Context, id string) (*caller, error) {
	for {
		s.mu.Lock()
		list, changed := s.waiting[id], s.changed
		s.mu.Unlock()
		if len(list) > 0 {
			return list[len(list)-1], nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Generate implements providers.Provider.
func (s *Sampler) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return s.samples.Generate(ctx, r)
}

// Unsupported implements providers.Limited.
func (s *Sampler) Unsupported(r providers.Request) map[string]string { return s.samples.Unsupported(r) }

// sample asks the client that waits for the debate. The reply comes in one piece.
func (s *Sampler) sample(ctx context.Context, r providers.Request, add adapter.Add) error {
	step, ofDebate := debate.StepFrom(ctx)
	if !ofDebate {
		return fault(providers.InvalidRequest, errors.New("a sampler serves debates only"))
	}
	c, err := s.await(ctx, step.Debate)
	if err != nil {
		return err
	}
	if c.refusal != "" {
		return fault(providers.InvalidRequest, errors.New(c.refusal))
	}
	request, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	reply, err := c.session.CreateMessage(request, sampleParams(r)) //nolint:contextcheck // the context of the caller ends it too
	if err != nil {
		return sampleError(err)
	}
	text, isText := reply.Content.(*mcp.TextContent)
	if !isText {
		return fault(providers.InvalidResponse, fmt.Errorf("the client replies with %T, want a text", reply.Content))
	}
	return add(adapter.Chunk{Text: text.Text, Model: reply.Model, FinishReason: finishReasons[reply.StopReason]})
}

// finishReasons maps why a sample has ended to words that all providers know.
var finishReasons = map[string]string{"endTurn": "stop", "stopSequence": "stop", "maxTokens": "length"}

// sampleParams returns the request for a sample. The first message may be that of the system.
func sampleParams(r providers.Request) *mcp.CreateMessageParams {
	p := &mcp.CreateMessageParams{MaxTokens: int64(cmp.Or(r.MaxTokens, defaultMaxSample)), StopSequences: r.Stop}
	if r.Temperature != nil {
		p.Temperature = *r.Temperature
	}
	if r.Model != "" {
		p.ModelPreferences = &mcp.ModelPreferences{Hints: []*mcp.ModelHint{{Name: r.Model}}}
	}
	for _, m := range r.Messages {
		if m.Role == providers.System {
			p.SystemPrompt = m.Text
			continue
		}
		p.Messages = append(p.Messages, &mcp.SamplingMessage{Role: mcp.Role(m.Role), Content: &mcp.TextContent{Text: m.Text}})
	}
	return p
}

// sampleError returns the error of a request that a client has not answered with a sample.
func sampleError(err error) error {
	said, ok := errors.AsType[*jsonrpc.Error](err)
	switch {
	case ok && said.Code == rejected:
		return fault(providers.Declined, fmt.Errorf("the client refuses the request: %w", err))
	case ok && (said.Code == jsonrpc.CodeMethodNotFound || said.Code == jsonrpc.CodeInvalidParams):
		return fault(providers.InvalidRequest, err)
	case ok:
		return fault(providers.ServerError, err)
	}
	return fault(providers.Network, err) // the client has gone
}

func fault(kind providers.ErrorKind, err error) *providers.Error {
	return &providers.Error{Kind: kind, Err: fmt.Errorf("ask MCP client for a sample: %w", err)}
}
