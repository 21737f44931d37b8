package forktest_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// recorder is a model whose replies depend on the whole prompt. It records its requests by step.
type recorder struct {
	config debate.Config
	alter  func(key transcript.Key, n int, reply *scripted.Reply) // alters the reply to the nth request of a step; may be nil

	mu    sync.Mutex
	calls map[transcript.Key][]providers.Request
}

func (m *recorder) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	step, _ := debate.StepFrom(ctx)
	m.mu.Lock()
	r.OnChunk = nil
	if m.calls == nil {
		m.calls = map[transcript.Key][]providers.Request{}
	}
	m.calls[step.Key] = append(m.calls[step.Key], r)
	n := len(m.calls[step.Key])
	m.mu.Unlock()
	reply := scripted.Reply{Text: enginetest.PresetReply(m.config, r)}
	if m.alter != nil {
		m.alter(step.Key, n, &reply)
	}
	return (&scripted.Provider{Replies: []scripted.Reply{reply}}).Generate(ctx, r)
}

// Unsupported reports that the model reads everything, as attachments require.
func (m *recorder) Unsupported(providers.Request) map[string]string { return nil }

// last returns the last request of a step.
func (m *recorder) last(k transcript.Key) providers.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.calls[k]
	return list[len(list)-1]
}

// take returns the requests since the last call of take, by step.
func (m *recorder) take() map[transcript.Key][]providers.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := m.calls
	m.calls = nil
	return calls
}

// newEngine returns an engine with a recorder.
func newEngine(t testing.TB, c debate.Config, change ...func(*debate.Options)) (*debate.Engine, *recorder) {
	t.Helper()
	m := &recorder{config: c}
	o := debate.Options{Providers: map[string]providers.Provider{"m": m}, Store: store.Memory(), KeepReplies: true}
	for _, f := range change {
		f(&o)
	}
	e := debatetest.Engine(t, o)
	options.Store(e, o)
	t.Cleanup(func() { require.NoError(t, e.Close(context.WithoutCancel(t.Context()))) })
	return e, m
}

// options holds the debate.Options with which newEngine made an engine, and those of the engine that created a debate.
var options sync.Map

// create creates a debate.
func create(t testing.TB, e *debate.Engine, c debate.Config) *debate.Debate {
	t.Helper()
	d := debatetest.Create(t, e, c)
	o, _ := options.Load(e)
	options.Store(d, o)
	t.Cleanup(func() { options.Delete(e); options.Delete(d) })
	return d
}

// run runs a debate as far as it goes.
func run(t testing.TB, d *debate.Debate) {
	t.Helper()
	debatetest.Finish(t, d)
	require.NoError(t, d.Verify(t.Context()))
	derivedtest.Require(t, d)
}

// fork returns a fork.
func fork(t testing.TB, e *debate.Engine, seq int64, edits debate.Edits) *debate.Debate {
	t.Helper()
	d := debatetest.Fork(t, e, "d", seq, edits)
	require.NoError(t, d.Verify(t.Context()))
	derivedtest.Require(t, d)
	return d
}

// outcome returns what a debate has come to as text, without anything that depends on time or on the seqs of entries.
func outcome(t testing.TB, d *debate.Debate) (text string) {
	t.Helper()
	r := debatetest.Result(t, d)
	for _, turn := range r.Turns {
		text += fmt.Sprintln(turn.Key, turn.Kind, turn.Order, turn.Flags, turn.Text, string(turn.Data), debatetest.Encode(t, turn.Window))
	}
	return text + fmt.Sprintln(r.State, r.Ending, r.Answer.Text, debatetest.Encode(t, r.Findings), r.Total.Usage)
}

// keys returns the keys of the turns that models have given, sorted.
func keys(turns []transcript.Turn) (list []string) {
	for _, turn := range turns {
		if len(turn.Attempts) > 0 {
			list = append(list, turn.Key.String())
		}
	}
	slices.Sort(list)
	return list
}
