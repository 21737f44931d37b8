package prompting

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

type table map[string]Model

func (t table) ModelOf(actor string) (Model, bool) {
	m, ok := t[actor]
	return m, ok
}

var two = table{"Ada": {"m", "small", 32_000, 4_096}, "Bo": {"m", "small", 32_000, 4_096}, "Cy": {"m", "large", 32_000, 4_096}}

// counted is an attempt whose prompt was estimated at 10,000 tokens.
func counted(tokens int) transcript.Attempt {
	return transcript.Attempt{PromptTokens: 10_000, Usage: transcript.Usage{Input: tokens}}
}

func TestActorsWithTheSameModelFollowOneAnother(t *testing.T) {
	var s Scales
	require.InDelta(t, 1, s.Of("Ada", "", two).Factor(), 0)
	s.Learn("Ada", "", two, []transcript.Attempt{counted(15_000)})
	require.InDelta(t, 1.5, s.Of("Ada", "", two).Factor(), 0.01)
	require.InDelta(t, 1.5, s.Of("Bo", "", two).Factor(), 0.01, "the same model")
	require.InDelta(t, 1, s.Of("Cy", "", two).Factor(), 0, "another model")
	s.Learn("Bo", "", two, []transcript.Attempt{{ErrorKind: string(providers.Network)}})
	require.NotContains(t, s.now, "Bo", "the attempt has no count")
	s.Learn("nobody", "", two, []transcript.Attempt{counted(15_000)})
	require.Len(t, s.now, 1)
}

func TestAParallelPhaseKeepsItsCalibrations(t *testing.T) {
	var s Scales
	s.Learn("Cy", "", two, []transcript.Attempt{counted(12_000)})
	s.Freeze("speeches")
	s.Learn("Ada", "speeches", two, []transcript.Attempt{counted(15_000)})
	require.InDelta(t, 1, s.Of("Ada", "speeches", two).Factor(), 0)
	require.InDelta(t, 1.5, s.Of("Ada", "", two).Factor(), 0.01, "from the next phase on")
	s.Freeze("speeches")
	require.InDelta(t, 1, s.Of("Ada", "speeches", two).Factor(), 0, "it continues after an interruption")
	s.Learn("Bo", "speeches", two, []transcript.Attempt{{PromptTokens: 10_000, ErrorKind: string(providers.ContextOverflow)}})
	s.Refreeze("Bo", "speeches")
	require.Greater(t, s.Of("Bo", "speeches", two).Factor(), 2.0, "the retry needs it")
	s.NextRound()
	require.InDelta(t, 1.5, s.Of("Ada", "speeches", two).Factor(), 0.01)
}

func TestAnotherModelHasAnotherCalibration(t *testing.T) {
	for name, tt := range map[string]struct {
		is     Model
		forgot bool
	}{
		"the same":          {Model{"m", "small", 32_000, 1}, false},
		"another model":     {Model{"m", "large", 32_000, 4_096}, true},
		"another provider":  {Model{"n", "small", 32_000, 4_096}, true},
		"another window":    {Model{"m", "small", 8_000, 4_096}, true},
		"no window for now": {Model{"m", "small", 0, 4_096}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var s Scales
			s.Learn("Ada", "", two, []transcript.Attempt{counted(15_000)})
			s.Reconfigure(two, table{"Ada": tt.is})
			require.Equal(t, tt.forgot, len(s.now) == 0)
		})
	}
}
