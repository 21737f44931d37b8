package debatetest

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// ProviderFunc is a function that implements providers.Provider.
type ProviderFunc func(ctx context.Context, r providers.Request) (providers.Response, error)

// Generate calls f.
func (f ProviderFunc) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return f(ctx, r)
}

// UsageMeter adds up what models use, including failed calls.
type UsageMeter struct {
	mu   sync.Mutex
	used transcript.Usage
}

// Wrap returns a provider that calls m and adds up what it uses.
func (p *UsageMeter) Wrap(m providers.Provider) providers.Provider {
	return ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		resp, err := m.Generate(ctx, r)
		used := resp.Usage
		if err != nil {
			used = providers.AsError(err).Partial.Usage
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.used = p.used.Add(used)
		return resp, err
	})
}

// Check requires that each handle on the debate reports exactly that usage.
func (p *UsageMeter) Check(t *testing.T, handles ...*debate.Debate) {
	t.Helper()
	for _, d := range handles {
		require.Equal(t, p.used, Result(t, d).Total.Usage)
		require.Equal(t, p.used, Status(t, d).Usage)
	}
}

// Digest returns a hash of the messages of a request.
func Digest(r providers.Request) uint64 {
	h := fnv.New64a()
	for _, m := range r.Messages {
		fmt.Fprintf(h, "%s|%s\n", m.Role, m.Text)
	}
	return h.Sum64()
}

// Answer returns the text, or an assessment of A and B or a verdict with it if the request asks for one.
func Answer(r providers.Request, text string) string {
	var v any
	switch r.SchemaName {
	case "":
		return text
	case judge.AssessmentContract.Name():
		a := Assessment(true, "A", "B")
		a.Reasoning, a.Participants[1].Criteria = text, judge.Rubric(nil).UniformScores(5)
		v = a
	default:
		v = judge.Verdict{Summary: text, Quality: 50}
	}
	b, _ := json.Marshal(v) // plain structs always encode
	return string(b)
}

// DigestModel answers each request with a digest of its messages, so any change in a prompt changes the reply and all
// later prompts. It answers requests for assessments, verdicts and personas with a valid reply that holds the digest.
type DigestModel struct {
	Names   []string             // names of the participants
	Latency func() time.Duration // delay of each reply; may be nil
	Fault   func() error         // returns the error of a call, or nil; may be nil
}

// Generate returns the reply in three chunks.
func (e *DigestModel) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	reply := scripted.Reply{Text: e.Say(Digest(r), r), Chunks: 3}
	if e.Latency != nil {
		reply.Latency = e.Latency()
	}
	if e.Fault != nil {
		reply.Err = e.Fault()
	}
	p := &scripted.Provider{Replies: []scripted.Reply{reply}}
	return p.Generate(ctx, r)
}

// Say returns the reply to r for the digest sum.
func (e *DigestModel) Say(sum uint64, r providers.Request) string {
	var v any
	switch {
	case AsksFor(r, "assessment"):
		a := Assessment(sum%4 != 0, e.Names...)
		a.Reasoning = fmt.Sprint(sum)
		a.Converged = sum%5 == 0
		a.DiminishingReturns = sum%7 == 0
		v = a
	case AsksFor(r, "verdict"):
		v = judge.Verdict{Summary: fmt.Sprint(sum), Quality: float64(sum % 101)}
	case AsksFor(r, "personas"):
		p := protocol.Personas{}
		for _, n := range e.Names {
			p.Personas = append(p.Personas, protocol.Persona{Name: n, Persona: fmt.Sprint(sum, n), Position: n, KeyArguments: []string{n}})
		}
		v = p
	default:
		return fmt.Sprintf("%016x", sum)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
