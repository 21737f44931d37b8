package drivetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
)

// testTimeout ends waits that would never end. No test that passes takes as long, however slow the machine is.
const testTimeout = 5 * time.Minute

// config returns a debate of A and B over two rounds, judged by J.
func config() debate.Config {
	who := func(name string) debate.Participant {
		return debate.Participant{Name: name, Provider: "m", Model: name}
	}
	return debate.Config{
		Topic: "Is one enough?", Participants: []debate.Participant{who("A"), who("B")}, Judges: []debate.Participant{who("J")},
		Limits: debate.Limits{MaxRounds: 2},
	}
}

// model replies to each prompt with its digest, so that any difference in a prompt changes all later replies.
type model struct {
	hold func(context.Context, providers.Request) // called before each reply; may be nil

	mu       sync.Mutex
	calls    int
	refuses  string // the model that fails, with err
	err      error
	rejected bool
}

// Check implements providers.Checker.
func (m *model) Check(context.Context, string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rejected {
		return &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("the model is rejected")}
	}
	return nil
}

// Generate implements providers.Provider.
func (m *model) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	m.mu.Lock()
	m.calls++
	refuses, err := m.refuses, m.err
	m.mu.Unlock()
	if m.hold != nil {
		m.hold(ctx, r)
	}
	if ctx.Err() != nil {
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
	if r.Model == refuses {
		return providers.Response{}, err
	}
	return providers.Response{Text: replyTo(r)}, nil
}

func (m *model) callCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// refuse lets the calls of a speaker fail, or, with "", none.
func (m *model) refuse(who string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuses, m.err = who, err
}

// reject lets the checks of configurations fail.
func (m *model) reject(yes bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rejected = yes
}

func replyTo(r providers.Request) string {
	h := fnv.New64a()
	for _, m := range r.Messages {
		fmt.Fprintf(h, "%s|%s\n", m.Role, m.Text)
	}
	said := fmt.Sprintf("%016x", h.Sum64())
	var v any
	switch r.SchemaName {
	case "":
		return said
	case judge.AssessmentContract.Name():
		v = judge.Assessment{
			Participants: []judge.ParticipantAssessment{{Name: "A", Criteria: judge.Rubric(nil).UniformScores(6)}, {Name: "B", Criteria: judge.Rubric(nil).UniformScores(5)}},
			Reasoning:    said, Quality: 6, ShouldContinue: true,
		}
	default:
		v = judge.Verdict{Summary: said, Quality: 50}
	}
	b, _ := json.Marshal(v) // plain structs always encode
	return string(b)
}

// gate blocks the calls of one speaker until it is opened or the calls are canceled.
type gate struct {
	arrived, opened chan struct{}
}

// gated returns a model with a gate for one speaker.
func gated(who string) (*model, *gate) {
	g := &gate{arrived: make(chan struct{}, 100), opened: make(chan struct{})}
	return &model{hold: func(ctx context.Context, r providers.Request) {
		if r.Model != who {
			return
		}
		g.arrived <- struct{}{}
		select {
		case <-g.opened:
		case <-ctx.Done():
		}
	}}, g
}

// wait waits for a call of the speaker.
func (g *gate) wait(t testing.TB) {
	t.Helper()
	select {
	case <-g.arrived:
	case <-time.After(testTimeout):
		require.Fail(t, "the model was not called")
	}
}

func (g *gate) open() { close(g.opened) }

// undisturbed returns the text of a debate that runs in memory.
func undisturbed(t testing.TB, c debate.Config) string {
	t.Helper()
	d, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"m": &model{}}})
	require.NoError(t, err)
	for _, err := range d.Run(t.Context()) {
		require.NoError(t, err)
	}
	r, err := d.Result(t.Context())
	require.NoError(t, err)
	return textOf(r)
}

// textOf returns the turns and the ending of a debate.
func textOf(r *debate.Result) string {
	var b strings.Builder
	for _, turn := range r.Turns {
		fmt.Fprintln(&b, turn.Key, turn.Kind, turn.Order, turn.Text)
	}
	fmt.Fprintln(&b, r.State, r.Ending)
	return b.String()
}
