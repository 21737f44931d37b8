package turns_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

func TestStoredTurnsAreChecked(t *testing.T) {
	at := transcript.Cursor{Run: 2, Round: 3}
	tests := map[string]struct {
		change func(*transcript.Turn)
		wrong  string
	}{
		"valid":           {func(*transcript.Turn) {}, ""},
		"a later run":     {func(t *transcript.Turn) { t.Run = 3 }, "it belongs to run 3, but the debate is in run 2"},
		"an earlier run":  {func(t *transcript.Turn) { t.Run = 1 }, "it belongs to run 1, but the debate is in run 2"},
		"a later round":   {func(t *transcript.Turn) { t.Round = 4 }, "it belongs to round 4, but the debate is in round 3"},
		"an unknown kind": {func(t *transcript.Turn) { t.Kind = "song" }, `the kind of the turn is "song"`},
		"negative tokens": {func(t *transcript.Turn) { t.Tokens = -1 }, "tokens are -1"},
		"negative usage":  {func(t *transcript.Turn) { t.Usage.Cost = -1 }, "the usage is not valid"},
		"usage of an attempt": {
			func(t *transcript.Turn) {
				t.Attempts = []transcript.Attempt{{}, {Usage: transcript.Usage{Input: turns.MaxTokens + 1}}}
			},
			"the usage of attempt 2 is not valid",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			turn := transcript.Turn{Key: transcript.Key{Run: 2, Round: 3}, Kind: transcript.Speech}
			tt.change(&turn)
			if err := turns.Check(&turn, at); tt.wrong == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.wrong)
			}
		})
	}
}

func TestTheWaitForARateLimit(t *testing.T) {
	began := time.Now()
	ended := began.Add(time.Minute)
	require.Zero(t, turns.RateLimitWait([]transcript.Attempt{{ErrorKind: string(providers.Network)}, {}}, began, ended))
	require.Equal(t, time.Minute, turns.RateLimitWait([]transcript.Attempt{{ErrorKind: string(providers.RateLimit)}, {}}, began, ended))
}

func TestWarningsAboutATurn(t *testing.T) {
	turn := transcript.Turn{
		Window: &transcript.Window{Percent: 85}, Attempts: []transcript.Attempt{{Warnings: []string{"of the provider"}, FinishReason: string(providers.WindowFull)}},
		Flags: []transcript.Flag{
			transcript.Reasked, transcript.Truncated, transcript.Partial, transcript.Refused,
			transcript.SpokeForOthers,
		},
	}
	require.Equal(t, []string{
		"the history uses 85 % of its space in the window",
		"of the provider",
		"the reply was truncated because the model's context window was full, or at a limit of the service",
		"the model failed, the reply is incomplete",
		"the model declined to speak, the text is what it said instead",
		"the reply had lines for others, they are cut off",
	}, turns.Warnings(&turn))
	require.Empty(t, turns.Warnings(&transcript.Turn{}))
}

func TestTokensOfActors(t *testing.T) {
	require.NoError(t, turns.CheckTokens("window", map[string]int{"judges[0]": 1, "summarizer": turns.MaxTokens}))
	require.EqualError(t, turns.CheckTokens("reply", map[string]int{"participants[1]": -1, "judges[0]": 0}), "the reply of judges[0] has 0 tokens, want 1 to 2000000000")
}
