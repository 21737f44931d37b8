package debatetest

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// PairConfig returns the configuration of the usual debate: provider "m" plays the participants A and B, and provider
// "j" the judge J.
func PairConfig(p protocol.Protocol) debate.Config {
	return debate.Config{
		ID: "d", Topic: "Ban cars?", Protocol: p,
		Participants: []debate.Participant{{Name: "A", Side: "for", Provider: "m"}, {Name: "B", Side: "against", Provider: "m"}},
		Judges:       []debate.Participant{{Name: "J", Provider: "j"}},
	}
}

// ShortPanel returns the configuration of a debate without a topic: Ada and Bo speak in each round, and a judge decides.
func ShortPanel(rounds int) debate.Config {
	return debate.Config{
		Protocol:     panel.Protocol{Format: panel.RoundLimited},
		Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
		Limits:       debate.Limits{MaxRounds: rounds},
	}
}

// Run runs d until it ends, stops or fails, and returns its events.
func Run(t testing.TB, d *debate.Debate) (events []debate.Event, err error) {
	t.Helper()
	for ev, err := range d.Run(t.Context()) {
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
	return events, nil
}

// Finish runs d until it ends or stops, requires that it does not fail, and returns its events.
func Finish(t testing.TB, d *debate.Debate) []debate.Event {
	t.Helper()
	events, err := Run(t, d)
	require.NoError(t, err)
	return events
}

// Call returns the result of f, such as the method Run of an evaluation.
func Call[In, Out any](t testing.TB, f func(context.Context, In) (Out, error), in In) Out {
	t.Helper()
	out, err := f(t.Context(), in)
	require.NoError(t, err)
	return out
}

// Engine returns a new engine.
func Engine(t testing.TB, o debate.Options) *debate.Engine {
	t.Helper()
	e, err := debate.NewEngine(o)
	require.NoError(t, err)
	return e
}

// Kill closes e without waiting for calls.
func Kill(e *debate.Engine) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = e.Close(ctx)
}

// New returns a new debate on an engine of its own.
func New(t testing.TB, c debate.Config, o debate.Options) *debate.Debate {
	t.Helper()
	d, err := debate.New(t.Context(), c, o)
	require.NoError(t, err)
	return d
}

// Create returns a new debate of e.
func Create(t testing.TB, e *debate.Engine, c debate.Config) *debate.Debate {
	t.Helper()
	d, err := e.Create(t.Context(), c)
	require.NoError(t, err)
	return d
}

// Open returns a stored debate of e.
func Open(t testing.TB, e *debate.Engine, id string) *debate.Debate {
	t.Helper()
	d, err := e.Open(t.Context(), id)
	require.NoError(t, err)
	return d
}

// Fork returns a fork of a stored debate of e.
func Fork(t testing.TB, e *debate.Engine, id string, seq int64, edits debate.Edits) *debate.Debate {
	t.Helper()
	d, err := e.Fork(t.Context(), id, seq, edits)
	require.NoError(t, err)
	return d
}

// Status returns the status of d.
func Status(t testing.TB, d *debate.Debate) store.Status {
	t.Helper()
	s, err := d.Status(t.Context())
	require.NoError(t, err)
	return s
}

// List returns the statuses of the debates that match a query, as an engine, a store or a client lists them.
func List(t testing.TB, from lister, q store.Query) (list []store.Status) {
	t.Helper()
	for s, err := range from.List(t.Context(), q) {
		require.NoError(t, err)
		list = append(list, s)
	}
	return list
}

type lister interface {
	List(ctx context.Context, q store.Query) iter.Seq2[store.Status, error]
}

// Waiting returns what people are asked in d.
func Waiting(t testing.TB, d *debate.Debate) []debate.Asked {
	t.Helper()
	list, err := d.Waiting(t.Context())
	require.NoError(t, err)
	return list
}

// PromptOf returns the prompt of a step of d.
func PromptOf(t testing.TB, d *debate.Debate, key transcript.Key) *debate.Prompt {
	t.Helper()
	p, err := d.PromptOf(t.Context(), key)
	require.NoError(t, err)
	return p
}

// Result returns the result of d so far.
func Result(t testing.TB, d *debate.Debate) *debate.Result {
	t.Helper()
	r, err := d.Result(t.Context())
	require.NoError(t, err)
	return r
}

// Text returns the turns and the ending of a debate as text.
func Text(r *debate.Result) string {
	var b strings.Builder
	for _, turn := range r.Turns {
		fmt.Fprintln(&b, turn.Key, turn.Kind, turn.Order, turn.Text)
	}
	fmt.Fprintln(&b, r.State, r.Ending)
	return b.String()
}

// RunResult runs d until it ends or stops, requires that it does not fail, and returns its result.
func RunResult(t testing.TB, d *debate.Debate) *debate.Result {
	t.Helper()
	Finish(t, d)
	return Result(t, d)
}

// TurnKeys returns the keys of all turns, in order.
func TurnKeys(r *debate.Result) (list []string) {
	for _, turn := range r.Turns {
		list = append(list, turn.Key.String())
	}
	return list
}
