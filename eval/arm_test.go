package eval_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/vote"
)

func TestTemplate(t *testing.T) {
	task := eval.Task{ID: "7", Topic: "Which {{choices}}?", Choices: []string{"red", "{{topic}}"}, Gold: []string{"red"}, Background: "A text."}
	c := debate.Config{
		Background:   "Rules.",
		Participants: []debate.Participant{{Name: "Ann", Instructions: "Think about: {{topic}}"}},
		Protocol:     panel.Protocol{Decision: decision.Task{Options: []string{"{{choices}}", "neither"}}},
		Labels:       map[string]string{"team": "{{red}}"},
	}
	f, err := eval.Template(c)
	require.NoError(t, err)
	for range 2 { // the template does not change
		got := f(task)
		require.Equal(t, "Which {{choices}}?\n\nA. red\nB. {{topic}}", got.Topic)
		require.Equal(t, "Rules.\n\nA text.", got.Background)
		require.Equal(t, "Think about: Which {{choices}}?", got.Participants[0].Instructions)
		require.Equal(t, []string{"red", "{{topic}}", "neither"}, got.Protocol.(panel.Protocol).Decision.Options)
		require.Equal(t, map[string]string{"team": "{{red}}"}, got.Labels)
		got.Participants[0].Name = "changed"
		got.Labels["team"] = "changed"
	}
	require.Equal(t, "{{red}}", c.Labels["team"])
	require.Equal(t, []string{"{{choices}}", "neither"}, c.Protocol.(panel.Protocol).Decision.Options)

	f, err = eval.Template(debate.Config{Topic: "{{topic}} Choose of\n{{choices}}", Participants: []debate.Participant{{Persona: "reader of: {{background}}"}}, Protocol: vote.Protocol{Extract: "{{extract}}"}})
	require.NoError(t, err)
	got := f(task)
	require.Equal(t, "Which {{choices}}? Choose of\nA. red\nB. {{topic}}", got.Topic)
	require.Equal(t, []string{"", "reader of: A text.", "letter"}, []string{got.Background, got.Participants[0].Persona, got.Protocol.(vote.Protocol).Extract})
	for gold, extract := range map[string]string{"1,200": "number", "-3/4": "number", "twelve": "text", "room 12": "text"} {
		require.Equal(t, extract, f(eval.Task{Gold: []string{gold}}).Protocol.(vote.Protocol).Extract, gold)
	}

	_, err = eval.Template(debate.Config{Participants: []debate.Participant{{Persona: "a {{person}}"}}})
	require.EqualError(t, err, "read template: placeholder {{person}} is unknown, use {{topic}}, {{question}}, {{choices}}, {{a}}, {{b}}, {{background}} or {{extract}}, and {{gold}} in the reference only")
	_, err = eval.Template(debate.Config{Protocol: vote.Protocol{Convincing: map[string][]string{"a": {"{{x}}"}}}})
	require.ErrorContains(t, err, "{{x}}")
}

// A task's text is never a placeholder, and a function of a protocol stays.
func TestTemplatesKeepFunctions(t *testing.T) {
	own := vote.Protocol{Samples: 1, Extract: "mine", Extractor: vote.Protocol{}.Extractor}
	f, err := eval.Template(debate.Config{Protocol: own})
	require.NoError(t, err)
	got := f(eval.Task{Topic: "{{extract}}", Background: strings.Repeat("{{topic}}", 2)})
	require.Equal(t, "{{extract}}", got.Topic)
	require.Equal(t, "{{topic}}{{topic}}", got.Background)
	require.Equal(t, "mine", got.Protocol.(vote.Protocol).Extract)
}
