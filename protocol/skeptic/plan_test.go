package skeptic_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

const critique = `It lacks a way back. {"score": 4, "ready": false, "issues": [
	{"severity": "critical", "text": "There is no way back."}, {"severity": "minor", "text": "The owner is missing."}]}`

// planDebate improves a plan in one round, and returns the result and the last prompt of the synthesizer. written are its replies.
func planDebate(t *testing.T, written ...string) (*debate.Result, string) {
	t.Helper()
	var mu sync.Mutex
	prompt := ""
	model := debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		text := "The plan of the proposer, with a way back."
		switch {
		case r.SchemaName == skeptic.PlanContract.Name():
			prompt = r.Messages[len(r.Messages)-1].Text
			text = written[0]
			written = written[min(1, len(written)-1):]
		case strings.HasPrefix(r.Messages[0].Text, "You are Skeptic"):
			text = critique
		}
		return providers.Response{Text: text, FinishReason: providers.Stop}, nil
	})
	d := debatetest.New(t, debate.Config{
		Topic: "# Migration\n\n1. Copy the data.", Protocol: skeptic.Protocol{Plan: true, Templates: -1},
		Limits:       debate.Limits{MinRounds: 1, MaxRounds: 1},
		Participants: []debate.Participant{{Name: "Proposer", Role: "proposer"}, {Name: "Skeptic", Role: "skeptic"}},
		Judges:       []debate.Participant{{Name: "Editor"}},
	}, debate.Options{Providers: map[string]providers.Provider{"m": model}})
	return debatetest.RunResult(t, d), prompt
}

const improved = `{"plan": "# Migration\n\n1. Copy the data.\n2. Keep the old store for a week.", "changes": [{"what": "A way back", "why": "It was missing"}],
	"objections": [{"number": 1, "reason": "The old store stays.", "met": true}, {"number": 2, "reason": "Nobody said who.", "met": false}]}`

// The answer of a plan has what changed and what is not met, and its text is the whole plan with both.
func TestAPlanSaysWhatChangedAndWhatIsNotMet(t *testing.T) {
	r, prompt := planDebate(t, improved)
	require.Contains(t, prompt, "1. critical: There is no way back.\n2. minor: The owner is missing.")
	data, err := skeptic.DecodeAnswer(r.Answer)
	require.NoError(t, err)
	require.Equal(t, []skeptic.Change{{What: "A way back", Why: "It was missing"}}, data.Plan.Changes)
	require.Equal(t, []skeptic.Objection{{Number: 2, Issue: "The owner is missing.", Reason: "Nobody said who."}}, data.Plan.Unmet())
	require.Equal(t, "There is no way back.", data.Plan.Objections[0].Issue)
	require.Equal(t, "# Migration\n\n1. Copy the data.\n2. Keep the old store for a week.\n\n## What changed\n\n- A way back (It was missing)\n\n"+
		"## Objections that are not met\n\n- The owner is missing. (Nobody said who.)", r.Answer.Text)
}

// A synthesizer that leaves out an issue, or names one that there is not, is asked once more.
func TestEachOpenIssueIsMetOrNot(t *testing.T) {
	for fault, reply := range map[string]string{
		"missing": strings.Replace(improved, `, {"number": 2, "reason": "Nobody said who.", "met": false}`, "", 1),
		"twice":   strings.Replace(improved, `"number": 2`, `"number": 1`, 1),
		"unknown": strings.Replace(improved, `"number": 2`, `"number": 3`, 1),
	} {
		t.Run(fault, func(t *testing.T) {
			r, _ := planDebate(t, reply, improved)
			require.Contains(t, r.Verdict.Flags, transcript.Reasked)
			require.Contains(t, r.Answer.Text, "The owner is missing.")

			r, _ = planDebate(t, reply)
			require.Contains(t, r.Verdict.Flags, transcript.Defaulted)
			require.Equal(t, "The plan of the proposer, with a way back.", r.Answer.Text, "the last version stands in")
			data, err := skeptic.DecodeAnswer(r.Answer)
			require.NoError(t, err)
			require.Nil(t, data.Plan)
		})
	}
}
