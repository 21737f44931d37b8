package journal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

func TestSettingsThatAnActorCannotHave(t *testing.T) {
	hot, seed := 2.5, int64(1)
	for _, tt := range []struct {
		field string
		is    journal.Participant
		want  []string
	}{
		{"participants[0]", journal.Participant{
			TopP: 1, Stop: []string{"END"}, Reasoning: "100", MaxTokens: 101, Window: 200,
			Tools: []string{"search"},
		}, nil},
		{"judges[0]", journal.Participant{Temperature: &hot}, []string{"judges[0].temperature: 2.5 is out of range, use 0 to 2"}},
		{"judges[0]", journal.Participant{TopP: -1}, []string{"judges[0].top_p: -1 is out of range, use more than 0, at most 1"}},
		{
			"summarizer",
			journal.Participant{Stop: []string{""}},
			[]string{`summarizer.stop: [""] is not valid, use up to 16 texts that are not empty`},
		},
		{
			"summarizer",
			journal.Participant{Stop: strings.Split(strings.Repeat("x", 17), "")},
			[]string{
				"summarizer.stop: [" + strings.Repeat(`"x" `, 16) + `"x"] is not valid, use up to 16 texts that are not empty`,
			},
		},
		{
			"judges[0]",
			journal.Participant{Reasoning: "100", MaxTokens: 100},
			[]string{"judges[0].reasoning: 100 tokens leave no room for the reply, max_tokens is 100"},
		},
		{"judges[0]", journal.Participant{MaxTokens: -1}, []string{"judges[0].max_tokens: -1 is not valid, use 1 to 2000000000"}},
		{
			"judges[0]",
			journal.Participant{Window: 2_000_000_001},
			[]string{"judges[0].window: 2000000001 is not valid, use 1 to 2000000000"},
		},
		{
			"judges[0]",
			journal.Participant{MaxTokens: 300, Window: 256},
			[]string{"judges[0].window: 256 is too small for a prompt and a reply"},
		},

		{"judges[0]", journal.Participant{Human: true, Blind: true, Provider: actor.Human}, nil},
		{
			"participants[0]",
			journal.Participant{Human: true, Blind: true, Provider: actor.Human},
			[]string{"participants[0].blind: only a human judge can choose it"},
		},
		{"judges[0]", journal.Participant{Blind: true}, []string{"judges[0].blind: only a human judge can choose it"}},
		{"summarizer", journal.Participant{
			Human: true, Provider: "acme", Model: "m", Temperature: &hot, TopP: 0.5, Window: 10,
			Seed: &seed, Stop: []string{"END"},
		}, []string{
			"summarizer.human: only a participant or a judge can be a person",
			`summarizer.provider: a person has no provider, but it is "acme"`,
			"summarizer.model: a person has no model", "summarizer.temperature: a person has no temperature",
			"summarizer.window: a person has no window",
			"summarizer.top_p: a person has no top_p", "summarizer.seed: a person has no seed", "summarizer.stop: a person has no stop",
			"summarizer.temperature: 2.5 is out of range, use 0 to 2",
		}},

		{
			"judges[0]",
			journal.Participant{Human: true, Provider: actor.Human, Tools: []string{"search"}},
			[]string{"judges[0].tools: a person has no tools"},
		},
		{
			"substitutes[0]",
			journal.Participant{Tools: []string{"search"}},
			[]string{"substitutes[0].tools: a substitute has the tools of the judge, remove them"},
		},
		{
			"summarizer",
			journal.Participant{Tools: []string{"search"}},
			[]string{"summarizer.tools: only a participant or a judge can have tools"},
		},
		{"judges[0]", journal.Participant{Tools: []string{"search", "search"}}, []string{`judges[0].tools: "search" is there twice`}},
	} {
		var texts []string
		for _, p := range tt.is.Check(tt.field) {
			texts = append(texts, p.String())
		}
		require.Equal(t, tt.want, texts)
	}
}

func TestDefaultSettings(t *testing.T) {
	known := func(provider string) bool { return provider == "windowed" }
	cool := 0.2
	require.Equal(t, journal.Participant{Temperature: &cool, MaxTokens: 100, Window: 32_000},
		journal.Participant{}.WithDefaults(0.2, 100, known))
	require.Equal(t, journal.Participant{Provider: "windowed", TopP: 0.5, MaxTokens: 100},
		journal.Participant{Provider: "windowed", TopP: 0.5}.WithDefaults(0.2, 100, known))
	require.Equal(t, journal.Participant{Reasoning: "50", MaxTokens: 150, Window: 9},
		journal.Participant{Reasoning: "50", Window: 9}.WithDefaults(0.2, 100, known), "a model that reasons has no temperature")
	require.Equal(t, journal.Participant{Human: true, Provider: actor.Human, MaxTokens: 100},
		journal.Participant{Human: true}.WithDefaults(0.2, 100, known))
}

func TestTheProfileOfAnActor(t *testing.T) {
	was := journal.Participant{Name: "Ann", Role: "economist", Persona: "calm", Instructions: "Be brief.", Model: "m", MaxTokens: 5}
	p := was.Profile()
	require.Equal(t, transcript.Profile{Name: "Ann", Role: "economist", Persona: "calm", Instructions: "Be brief."}, p)
	require.Equal(t, providers.Request{Model: "m", MaxTokens: 5}, was.Request())
}

func TestNamesOfActorsAreUnique(t *testing.T) {
	c := journal.Config{
		Participants: []journal.Participant{{Name: "Ann"}, {Name: " Bob"}},
		Judges:       []journal.Participant{{Name: "ann"}, {Name: protocol.Summarizer}},
		Summarizer:   journal.Participant{Name: "a/b"},
	}
	require.Equal(t, []protocol.Problem{
		{Field: "participants[1].name", Reason: `" Bob" is not valid, use a name without leading or trailing blanks`},
		{Field: "judges[0].name", Reason: `"ann" is taken by participants[0]`},
		{Field: "judges[1].name", Reason: `"summarizer" is taken by a system actor`},
	}, c.CheckNames())
}
