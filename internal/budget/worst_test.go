package budget

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// calls are those of actors whose replies have at most 100 tokens, at a price of 1 for each token.
type calls struct {
	conclusion func() []protocol.Phase
	window     int
	people     bool
}

func (c *calls) Actor(name string) (Actor, bool) {
	return Actor{Seat: transcript.Profile{Name: name}, Free: c.people, NoText: name == protocol.Embedder, Reply: 100}, name != "Nobody"
}

func (c *calls) Phases() []protocol.Phase {
	if c.conclusion == nil {
		return nil
	}
	return c.conclusion()
}

func (c *calls) Cost(_ string, prompt, reply int) float64 { return float64(prompt + reply) }

func (c *calls) Embedded(int, int) int { return 77 }

func (c *calls) ModelOf(string) (prompting.Model, bool) {
	return prompting.Model{Name: "m", Window: c.window, MaxTokens: 100}, true
}

func (c *calls) ToolsOf(string) []string { return nil }

func (c *calls) DocumentsOf(string) []evidence.Document { return nil }

func (c *calls) AttachmentsOf(string) []*providers.Attachment { return nil }

func newCase(t *testing.T, c *calls, spends bool) *Case {
	t.Helper()
	set, err := prompts.Load(nil)
	require.NoError(t, err)
	d := &prompting.Debate{
		Settings: prompting.Settings{Templates: set, Actors: c},
		Env:      &prompting.Environment{Count: func(_, text string) int { return window.Estimate(text) }},
	}
	d.Seed, d.Cursor = "seed", transcript.Cursor{Run: 1, Round: 1}
	d.SetProfiles([]transcript.Profile{{Name: "Ada"}, {Name: "Bo"}})
	return &Case{Debate: d, Calls: c, Spends: spends}
}

func phase(name string, actors ...string) protocol.Phase {
	p := protocol.Phase{Name: name}
	for _, a := range actors {
		p.Steps = append(p.Steps, protocol.Step{Key: transcript.Key{Actor: a}, Prompt: "opening"})
	}
	return p
}

func TestOnlyOutputsCount(t *testing.T) {
	w := newCase(t, &calls{}, false)
	p := phase("speech", "Ada", "Bo", "Nobody")
	p.Steps[0].Doubt = func(any) []string { return nil }
	w.Add(transcript.Speech, p)
	require.Equal(t, transcript.Usage{Output: 400}, w.Conclude([]protocol.Phase{phase("closing", "Ada")}), "a doubtful reply counts twice")
	people := newCase(t, &calls{people: true}, true)
	people.Add(transcript.Speech, p)
	require.Zero(t, people.Conclude(nil))
}

func TestEachPromptShowsTheTurnsBeforeIt(t *testing.T) {
	input := func(parallel bool, window int) int {
		w := newCase(t, &calls{window: window}, true)
		p := phase("speech", "Ada", "Bo")
		p.Parallel = parallel
		w.Add(transcript.Speech, p)
		used := w.Conclude(nil)
		require.Equal(t, 200, used.Output)
		require.InDelta(t, float64(used.Input+used.Output), used.Cost, 0)
		return used.Input
	}
	require.Greater(t, input(false, 0), input(true, 0)+100, "Bo hears Ada unless they speak at once")
	small := input(true, 100)
	require.Equal(t, input(true, 0), small, "a prompt without history is never cut")
	require.Less(t, input(false, 100), input(false, 0), "no history exceeds the window")
}

func TestVectorsCostTheirTexts(t *testing.T) {
	w := newCase(t, &calls{}, true)
	w.Add(transcript.Speech, phase("vectors", protocol.Embedder))
	require.Equal(t, transcript.Usage{Input: 77, Cost: 77}, w.Conclude(nil))
}

func TestTheConclusionFollowsFromTheSupposedTurns(t *testing.T) {
	declared := []protocol.Phase{phase("closing", "Ada")}
	for name, tt := range map[string]struct {
		conclusion func(w **Case) []protocol.Phase
		output     int
	}{
		"asked for after them": {func(w **Case) []protocol.Phase {
			if (*w).Seq == 0 {
				return nil
			}
			return []protocol.Phase{phase("closing", "Ada", "Bo"), phase("verdict", "Cy")}
		}, 100 + 300},
		"none":    {func(**Case) []protocol.Phase { return nil }, 100 + 100},
		"a panic": {func(**Case) []protocol.Phase { panic("no data") }, 100 + 100},
	} {
		t.Run(name, func(t *testing.T) {
			var w *Case
			w = newCase(t, &calls{conclusion: func() []protocol.Phase { return tt.conclusion(&w) }}, false)
			w.Add(transcript.Speech, phase("speech", "Ada"))
			require.Equal(t, tt.output, w.Conclude(declared).Output)
		})
	}
}
