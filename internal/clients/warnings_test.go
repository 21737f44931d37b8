package clients_test

import (
	"testing"

	"github.com/elenchus-go/debate/journal"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/judge/measured"
)

// all yields two participants, a judge, a substitute and the summarizer.
func all(yield func(string, journal.Participant) bool) {
	_ = yield("participants[0]", journal.Participant{Name: "Ann", Provider: "p", Model: "m", MaxTokens: 500, Window: 4000}) &&
		yield("participants[1]", journal.Participant{Name: "Bob", Model: "m", MaxTokens: 500, Window: 4000}) &&
		yield("judges[0]", journal.Participant{Name: "Jo", Provider: "p", Model: "m", Persona: "strict", MaxTokens: 500, Window: 4000}) &&
		yield("substitutes[0]", journal.Participant{Provider: "p", Model: "other", MaxTokens: 500, Window: 4000}) &&
		yield("summarizer", journal.Participant{Provider: "p", Model: "m", MaxTokens: 500, Window: 4000})
}

func TestRepliesAndWindowsThatAreSmaller(t *testing.T) {
	require.Empty(t, clients.WarnOfReplyLimits(all, nil))
	require.Equal(t, []clients.Warning{
		{"Bob", "participants[1]", "replies of Bob are limited to 300 tokens instead of 500, because the prompt and some history must fit into the window of 4000"},
		{"", "summarizer", "replies of summarizer are limited to 400 tokens instead of 500, because the prompt and some history must fit into the window of 4000"},
	}, clients.WarnOfReplyLimits(all, map[string]int{"participants[1]": 300, "summarizer": 400}))

	require.Empty(t, clients.WarnOfWindows(all, nil))
	require.Empty(t, clients.WarnOfWindows(all, map[string]int{"participants[0]": 4000, "judges[0]": 8000}))
	list := clients.WarnOfWindows(all, map[string]int{"participants[0]": 2000, "summarizer": 2000})
	require.Len(t, list, 1, "the summarizer has the model of another actor, which the first warning names")
	require.Equal(t, "participants[0]", list[0].Field)
	require.Contains(t, list[0].Text, "the window of Ann is 4000 tokens, but its provider has only 2000")
	require.Len(t, clients.WarnOfWindows(all, map[string]int{"summarizer": 2000}), 1)
}

func TestJudgesWhoUseAParticipantsModel(t *testing.T) {
	named := func(name string) (string, bool) {
		if name == "" {
			return "p", false
		}
		return name, false
	}
	require.Equal(t, []clients.Warning{{"Jo", "judges[0]", "judge Jo uses the same model as Ann and Bob and may favor them"}},
		clients.WarnOfPreferences(all, named))
	require.Empty(t, clients.WarnOfPreferences(all, func(name string) (string, bool) { return name, true }), "people")
	require.Empty(t, clients.WarnOfPreferences(all, func(name string) (string, bool) { return name + "!", name == "p" }))
}

func TestJudgesWhoseModelIsBiased(t *testing.T) {
	require.Empty(t, clients.WarnOfBiases(all, "v1", nil))
	require.Empty(t, clients.WarnOfBiases(all, "v1", []measured.Record{{Model: "m"}}), "no bias was found")

	found := []measured.Bias{{Name: "position", Interval: statistics.Interval{Value: 0.2, Low: 0.1, High: 0.3, Method: statistics.WilsonScore}, P: 0.01}}
	audits := []measured.Record{
		{Model: "m", Prompts: measured.PromptsHash("v1", "strict", ""), Biases: found},
		{Model: "other", Prompts: measured.PromptsHash("v2", "", ""), Biases: found},
		{Model: "another", Biases: found},
	}
	require.Equal(t, []clients.Warning{
		{"Jo", "judges[0].model", "judge Jo: an audit found its model m biased: position +0.200 [+0.100, +0.300]"},
		{"", "substitutes[0].model", "substitutes[0]: an audit found its model other biased: position +0.200 [+0.100, +0.300]; it was measured with other prompts"},
	}, clients.WarnOfBiases(all, "v1", audits))
}
