// Package livetest tests a provider against a real service: an unknown model, a token limit, a canceled call and a
// debate. It records the calls of the debate without keys, and replays them.
package livetest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Provider is a provider that can be checked.
type Provider interface {
	providers.Provider
	providers.Checker
}

// Env returns the values of two environment variables. It skips the test if one of them is empty.
func Env(t *testing.T, first, second string) (a, b string) {
	t.Helper()
	a, b = os.Getenv(first), os.Getenv(second)
	if a == "" || b == "" {
		t.Skipf("set %s and %s to test against the service", first, second)
	}
	return a, b
}

// Run runs the tests as subtests of t, against providers that create returns. A provider must use the HTTP client. The
// recording of the debate is the file that DEBATE_LIVE_RECORDING names without its ending ".yaml", or a temporary file if that is
// not set.
func Run(t *testing.T, create func(t *testing.T, client *http.Client) Provider) {
	p := create(t, nil)
	t.Run("Check", func(t *testing.T) { require.NoError(t, p.Check(t.Context(), "")) })
	t.Run("UnknownModel", func(t *testing.T) { unknown(t, p) })
	t.Run("TokenLimit", func(t *testing.T) { capped(t, p) })
	t.Run("Cancel", func(t *testing.T) { canceled(t, p) })
	t.Run("Debate", func(t *testing.T) { recorded(t, create) })
}

// ask returns a request for a long reply.
func ask() providers.Request {
	return providers.Request{MaxTokens: 400, Messages: []providers.Message{
		{Role: providers.System, Text: "You are a historian."},
		{Role: providers.User, Text: "Tell the history of bridges in 300 words."},
	}}
}

func unknown(t *testing.T, p Provider) {
	r := ask()
	r.Model = "no-such-model-anywhere"
	_, err := p.Generate(t.Context(), r)
	if err == nil {
		t.Skip("the server accepts any model name")
	}
	require.Equal(t, providers.InvalidRequest, providers.AsError(err).Kind, err.Error())
}

func capped(t *testing.T, p Provider) {
	for _, onChunk := range []func(string) error{nil, func(string) error { return nil }} {
		r := ask()
		r.MaxTokens, r.OnChunk = 8, onChunk
		res, err := p.Generate(t.Context(), r)
		if failed := providers.AsError(err); failed != nil && failed.Kind == providers.InvalidResponse {
			t.Skip("the model uses up the token limit with reasoning: ", err)
		}
		require.NoError(t, err)
		require.Equal(t, providers.Length, res.FinishReason)
		require.NotEmpty(t, res.Text)
		require.Positive(t, res.Usage.Input)
		require.Positive(t, res.Usage.Output)
	}
}

var errEnough = errors.New("canceled by the test")

// prompt is the time that a canceled call may take to end.
const prompt = 2 * time.Second

func canceled(t *testing.T, p Provider) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var at time.Time
	r := ask()
	r.OnChunk = func(string) error {
		if at.IsZero() {
			at = time.Now()
			cancel(errEnough)
		}
		return nil
	}
	_, err := p.Generate(ctx, r)
	require.ErrorIs(t, err, errEnough)
	require.Less(t, time.Since(at), prompt)
	require.NotEmpty(t, providers.AsError(err).Partial.Text)
}

// recorded holds a debate and records its calls, then holds it again from the recording.
func recorded(t *testing.T, create func(*testing.T, *http.Client) Provider) {
	path := cmp.Or(os.Getenv("DEBATE_LIVE_RECORDING"), filepath.Join(t.TempDir(), "debate"))
	first := newRecording(t, path, recorder.ModeRecordOnly)
	live := held(t, create(t, &http.Client{Transport: first}))
	require.NoError(t, first.Stop())
	t.Log("recorded in ", path+".yaml")

	second := newRecording(t, path, recorder.ModeReplayOnly)
	replayed := held(t, create(t, &http.Client{Transport: second}))
	require.Equal(t, texts(live), texts(replayed), "the replayed debate is the recorded one")
	require.Equal(t, first.calls.Load(), second.calls.Load(), "each call is made again")
}

// texts returns the texts of the turns.
func texts(r *debate.Result) (list []string) {
	for _, turn := range r.Turns {
		list = append(list, turn.Text)
	}
	return list
}

// held holds a debate and checks its result.
func held(t *testing.T, p Provider) *debate.Result {
	d := debatetest.New(t, debate.Config{
		ID:           "live", // the prompts depend on it
		Topic:        "Should cities ban private cars?",
		Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
		Limits:       debate.Limits{MinRounds: 2, MaxRounds: 2, StepTokens: 1024, JudgeTokens: 2048},
	}, debate.Options{Providers: map[string]providers.Provider{"live": p}})
	result := debatetest.RunResult(t, d)
	require.Equal(t, fsm.Completed, result.State)
	require.NotNil(t, result.Verdict)
	for _, turn := range result.Turns {
		check(t, turn)
	}
	require.Len(t, result.Assessments, 2)
	for _, turn := range result.Assessments {
		a, err := transcript.Decode[judge.Assessment](turn)
		require.NoError(t, err)
		var names []string
		for _, score := range a.Participants {
			names = append(names, score.Name)
		}
		require.ElementsMatch(t, []string{"Ada", "Bo"}, names, turn.Key.String())
	}
	return result
}

// check requires the properties that every turn must have.
func check(t *testing.T, turn transcript.Turn) {
	t.Helper()
	assert.NotEmpty(t, turn.Text, turn.Key.String())
	assert.Positive(t, turn.Usage.Input, turn.Key.String())
	assert.Positive(t, turn.Usage.Output, turn.Key.String())
	assert.False(t, turn.Usage.Estimated, "%s: no usage was reported", turn.Key)
	assert.False(t, slices.Contains(turn.Flags, transcript.Defaulted), "%s: no valid reply arrived", turn.Key)
	if turn.Contract != "" {
		assert.True(t, json.Valid(turn.Data), turn.Key.String())
	}
}
