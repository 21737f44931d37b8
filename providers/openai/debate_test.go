package openai_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/openai"
)

// The encrypted reasoning of a turn goes back in the later prompts of the same participant, and in no others.
func TestAParticipantKeepsItsReasoning(t *testing.T) {
	p, s := responder(t, openai.Config{}, fakellm.Reply{Reasoning: "The secret plan.", Chunks: []string{"So."}})
	d := debatetest.New(t, debate.Config{
		Topic: "Why?", Protocol: procon.Protocol{},
		Participants: []debate.Participant{{Name: "Pro", Model: "pro", Position: "Yes.", Reasoning: "low"}, {Name: "Con", Model: "con", Position: "No."}},
		Judges:       []debate.Participant{{Name: "Judge", Model: "judge"}},
		Limits:       debate.Limits{MaxRounds: 2},
	}, debate.Options{Providers: map[string]providers.Provider{"openai": p}})
	debatetest.Finish(t, d)
	sent := map[string]int{} // items of reasoning, by model
	for _, r := range s.Requests() {
		model, _ := r.Body["model"].(string)
		if model == "" { // the list of models
			continue
		}
		if model == "pro" {
			require.Equal(t, map[string]any{"effort": "low"}, r.Body["reasoning"])
		}
		raw := debatetest.Encode(t, r.Body["input"])
		items := strings.Count(raw, `"encrypted_content":"b3BhcXVl"`)
		require.Equal(t, items, strings.Count(raw, "The secret plan."), "only within the items")
		sent[model] += items
	}
	require.Equal(t, map[string]int{"pro": 1, "con": 1, "judge": 0}, sent)
	r := debatetest.Result(t, d)
	require.Len(t, r.Turns, 5)
	for _, turn := range r.Turns {
		require.NotContains(t, turn.Text, "plan")
	}
}
