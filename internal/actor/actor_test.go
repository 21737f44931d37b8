package actor_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/actor"
)

func TestSettingsThatAnActorCannotHave(t *testing.T) {
	hot, seed := 2.5, int64(1)
	for _, tt := range []struct {
		field string
		is    actor.Settings
		want  []string
	}{
		{"participants[0]", actor.Settings{TopP: 1, Stop: []string{"END"}, Reasoning: "100", MaxTokens: 101, Window: 200, Tools: []string{"search"}}, nil},
		{"judges[0]", actor.Settings{Temperature: &hot}, []string{"judges[0].temperature: 2.5 is out of range, use 0 to 2"}},
		{"judges[0]", actor.Settings{TopP: -1}, []string{"judges[0].top_p: -1 is out of range, use more than 0, at most 1"}},
		{"summarizer", actor.Settings{Stop: []string{""}}, []string{`summarizer.stop: [""] is not valid, use up to 16 texts that are not empty`}},
		{"summarizer", actor.Settings{Stop: strings.Split(strings.Repeat("x", 17), "")}, []string{`summarizer.stop: ["x" "x" "x" "x" "x" "x" "x" "x" "x" "x" "x" "x" "x" "x" "x" "x" "x"] is not valid, use up to 16 texts that are not empty`}},
		{"judges[0]", actor.Settings{Reasoning: "100", MaxTokens: 100}, []string{"judges[0].reasoning: 100 tokens leave no room for the reply, max_tokens is 100"}},
		{"judges[0]", actor.Settings{MaxTokens: -1}, []string{"judges[0].max_tokens: -1 is not valid, use 1 to 2000000000"}},
		{"judges[0]", actor.Settings{Window: 2_000_000_001}, []string{"judges[0].window: 2000000001 is not valid, use 1 to 2000000000"}},
		{"judges[0]", actor.Settings{MaxTokens: 300, Window: 256}, []string{"judges[0].window: 256 is too small for a prompt and a reply"}},

		{"judges[0]", actor.Settings{Human: true, Blind: true, Provider: actor.Human}, nil},
		{"participants[0]", actor.Settings{Human: true, Blind: true, Provider: actor.Human}, []string{"participants[0].blind: only a human judge can choose it"}},
		{"judges[0]", actor.Settings{Blind: true}, []string{"judges[0].blind: only a human judge can choose it"}},
		{"summarizer", actor.Settings{Human: true, Provider: "acme", Model: "m", Temperature: &hot, TopP: 0.5, Window: 10, Seed: &seed, Stop: []string{"END"}}, []string{
			"summarizer.human: only a participant or a judge can be a person", `summarizer.provider: a person has no provider, but it is "acme"`,
			"summarizer.model: a person has no model", "summarizer.temperature: a person has no temperature", "summarizer.window: a person has no window",
			"summarizer.top_p: a person has no top_p", "summarizer.seed: a person has no seed", "summarizer.stop: a person has no stop",
			"summarizer.temperature: 2.5 is out of range, use 0 to 2",
		}},

		{"judges[0]", actor.Settings{Human: true, Provider: actor.Human, Tools: []string{"search"}}, []string{"judges[0].tools: a person has no tools"}},
		{"substitutes[0]", actor.Settings{Tools: []string{"search"}}, []string{"substitutes[0].tools: a substitute has the tools of the judge, remove them"}},
		{"summarizer", actor.Settings{Tools: []string{"search"}}, []string{"summarizer.tools: only a participant or a judge can have tools"}},
		{"judges[0]", actor.Settings{Tools: []string{"search", "search"}}, []string{`judges[0].tools: "search" is there twice`}},
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
	require.Equal(t, actor.Settings{Temperature: &cool, MaxTokens: 100, Window: 32_000}, actor.Settings{}.WithDefaults(0.2, 100, known))
	require.Equal(t, actor.Settings{Provider: "windowed", TopP: 0.5, MaxTokens: 100}, actor.Settings{Provider: "windowed", TopP: 0.5}.WithDefaults(0.2, 100, known))
	require.Equal(t, actor.Settings{Reasoning: "50", MaxTokens: 150, Window: 9}, actor.Settings{Reasoning: "50", Window: 9}.WithDefaults(0.2, 100, known), "a model that reasons has no temperature")
	require.Equal(t, actor.Settings{Human: true, Provider: actor.Human, MaxTokens: 100}, actor.Settings{Human: true}.WithDefaults(0.2, 100, known))
}

func TestNamesOfActors(t *testing.T) {
	for name, want := range map[string]string{
		"Ada Lovelace": "", "": `"" is not valid, use a name without leading or trailing blanks`, " Ada": `" Ada" is not valid, use a name without leading or trailing blanks`,
		"a/b": `"a/b" is not valid, remove '/', ':' and control characters`, "a\tb": `"a\tb" is not valid, remove '/', ':' and control characters`,
		strings.Repeat("x", 65): "65 bytes is too long, use at most 64",
	} {
		require.Equal(t, want, actor.CheckName(name))
	}
}
