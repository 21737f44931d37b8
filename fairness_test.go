package debate_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// hearing is a debate of Quentin and Zelda, who name each other, before a judge who knows nobody's name.
func hearing(id string, p panel.Protocol) debate.Config {
	return debate.Config{
		ID: id, Topic: "Is Zelda right?", Background: "Quentin says no.", Protocol: p,
		Participants: []debate.Participant{
			{Name: "Quentin", Provider: "m", Position: "Zelda is wrong", Persona: "An old rival of Zelda's"},
			{Name: "Zelda", Provider: "m", Position: "Quentin is wrong"},
		},
		Judges: []debate.Participant{{Name: "J", Provider: "j", Instructions: "Be kind to Quentin."}},
		Limits: debate.Limits{MaxRounds: 2},
	}
}

var speakers = &scripted.Provider{Forget: true, Func: func(r providers.Request) scripted.Reply {
	if strings.Contains(r.Messages[0].Text, "You are Quentin") {
		return scripted.Reply{Text: "Zelda's case fails."}
	}
	return scripted.Reply{Text: "Quentin, you err."}
}}

// labelled answers by the labels that a judge's request has, in their order there; reasons name them too.
func labelled(t testing.TB, winner int) *scripted.Provider {
	t.Helper()
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		seen := labelsOf(r)
		if asked(r, "verdict") {
			return scripted.Reply{Text: encode(t, judge.Verdict{Summary: seen[winner] + " was better.", Winner: seen[winner], Quality: 70})}
		}
		a := assessment(true, seen...)
		a.Reasoning = seen[0] + " answers " + seen[1] + "."
		return scripted.Reply{Text: encode(t, a)}
	}}
}

var label = regexp.MustCompile(`Debater [A-Z]`)

// labelsOf are the labels in the order in which a request lists the participants.
func labelsOf(r providers.Request) (list []string) {
	for _, l := range label.FindAllString(r.Messages[0].Text[strings.Index(r.Messages[0].Text, "The participants:"):], -1) {
		if !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	return list
}

func TestAJudgeSeesNoNames(t *testing.T) {
	j := labelled(t, 0)
	d, err := debate.New(t.Context(), hearing("d", panel.Protocol{}), debate.Options{Providers: models(speakers, j)})
	require.NoError(t, err)
	_, err = run(t, d)
	require.NoError(t, err)

	calls := j.Calls()
	require.Len(t, calls, 3)
	for _, r := range calls {
		text := ""
		for _, m := range r.Messages {
			text += m.Text + "\n"
		}
		require.NotRegexp(t, "Quentin|Zelda", text)
		require.Regexp(t, "Is Debater [AB] right", text)
		require.Equal(t, labelsOf(calls[0]), labelsOf(r), "the order is the same throughout")
		require.Equal(t, calls[0].Messages[0], r.Messages[0], "and so is the system prompt")
	}

	res := result(t, d)
	require.Len(t, res.Assessments, 2)
	for _, turn := range append(res.Assessments, *res.Verdict) {
		require.NotRegexp(t, "Debater", turn.Text+string(turn.Data))
	}
	a, err := transcript.Decode[judge.Assessment](res.Assessments[0])
	require.NoError(t, err)
	require.Regexp(t, "^(Quentin answers Zelda|Zelda answers Quentin).$", a.Reasoning)
	v, err := transcript.Decode[judge.Verdict](*res.Verdict)
	require.NoError(t, err)
	require.Equal(t, v.Winner+" was better.", v.Summary)
	require.Contains(t, []string{"Quentin", "Zelda"}, v.Winner)
}

// Who comes first is drawn for each debate, and stays in another process.
func TestTheOrderOfLabelsIsTheDebates(t *testing.T) {
	first := map[string]int{}
	for i := range 40 {
		d, err := debate.New(t.Context(), hearing(fmt.Sprint("d", i), panel.Protocol{}), debate.Options{Providers: models(speakers, labelled(t, 0))})
		require.NoError(t, err)
		_, err = run(t, d)
		require.NoError(t, err)
		v, err := transcript.Decode[judge.Verdict](*result(t, d).Verdict)
		require.NoError(t, err)
		first[v.Winner]++
	}
	require.Greater(t, first["Quentin"], 8)
	require.Greater(t, first["Zelda"], 8)
}

// A judge that prefers whoever comes first contradicts itself when it judges in both orders: then nobody has won.
func TestASwappedJudgeShowsItsBias(t *testing.T) {
	j := labelled(t, 0)
	d, err := debate.New(t.Context(), hearing("d", panel.Protocol{Bench: judge.Bench{Swap: true}, Mode: panel.Simultaneous}), debate.Options{Providers: models(speakers, j)})
	require.NoError(t, err)
	_, err = run(t, d)
	require.NoError(t, err)
	res := result(t, d)

	var said []string
	for _, turn := range res.Turns {
		if turn.Kind == transcript.Conclusion {
			v, err := transcript.Decode[judge.Verdict](turn)
			require.NoError(t, err)
			said = append(said, v.Winner)
		}
	}
	require.ElementsMatch(t, []string{"Quentin", "Zelda"}, said)
	var joint judge.Opinion[judge.Verdict]
	decode(t, res.Answer.Data, &joint)
	require.Empty(t, joint.Value.Winner)
	require.NotEmpty(t, joint.Disagreement)
	require.Contains(t, res.Answer.Text, joint.Disagreement[0])

	var orders [][]string // who speaks first in the round, as the judge hears it
	for _, r := range j.Calls() {
		if asked(r, "assessment") {
			orders = append(orders, label.FindAllString(r.Messages[1].Text, 1))
			require.Equal(t, labelsOf(r)[:1], orders[len(orders)-1], "what was said at once is heard in the order of the labels")
		}
	}
	require.Len(t, orders, 4)
}

func TestABenchDecidesByMajority(t *testing.T) {
	c := hearing("d", panel.Protocol{})
	c.Judges = []debate.Participant{{Name: "J", Provider: "j"}, {Name: "K", Provider: "k"}, {Name: "L", Provider: "l"}}
	word := func(winner string) *scripted.Provider {
		return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
			if asked(r, "verdict") {
				return scripted.Reply{Text: encode(t, judge.Verdict{Summary: "Done.", Winner: winner, Quality: 70})}
			}
			return scripted.Reply{Text: assess(t, winner != "Zelda", "Quentin", "Zelda")}
		}}
	}
	d, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{
		"m": speakers, "j": word("Quentin"), "k": word("Zelda"), "l": word("Zelda"),
	}})
	require.NoError(t, err)
	_, err = run(t, d)
	require.NoError(t, err)
	res := result(t, d)
	require.Equal(t, transcript.JudgeDecided, res.Ending.Outcome)
	require.Equal(t, 1, res.Round)
	var joint judge.Opinion[judge.Verdict]
	decode(t, res.Answer.Data, &joint)
	require.Equal(t, "Zelda", joint.Value.Winner)
	require.Len(t, joint.Opinions, 3)
	require.Len(t, joint.Dissent, 1)
	require.Contains(t, joint.Dissent[0], "J")
}

// A judge that gives no valid verdict does not keep the others from giving one.
func TestAFailedJudgeDoesNotSinkTheBench(t *testing.T) {
	c := hearing("d", panel.Protocol{})
	c.Judges = []debate.Participant{{Name: "J", Provider: "j"}, {Name: "K", Provider: "k"}}
	j := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "No idea."} }}
	d, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"m": speakers, "j": j, "k": labelled(t, 1)}})
	require.NoError(t, err)
	_, err = run(t, d)
	require.NoError(t, err)
	var joint judge.Opinion[judge.Verdict]
	decode(t, result(t, d).Answer.Data, &joint)
	require.Contains(t, []string{"Quentin", "Zelda"}, joint.Value.Winner)
	require.True(t, joint.Opinions[0].Failed)
}

func TestAJudgeOfAParticipantsModelDrawsAWarning(t *testing.T) {
	const warning = "judge J is of one model with B, and may favour what it would say itself"
	for _, tt := range []struct {
		name  string
		model string
		want  []string
	}{
		{"one model", "big", []string{warning}},
		{"another one", "small", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := pair(nil)
			c.Participants[1].Provider, c.Participants[1].Model = "j", "big"
			c.Judges[0].Model = tt.model
			p := &echo{names: []string{"A", "B"}}
			d, err := debate.New(t.Context(), c, debate.Options{Providers: models(p, p)})
			require.NoError(t, err)
			events, err := run(t, d)
			require.NoError(t, err)
			var told []string
			for _, ev := range events {
				if w, ok := ev.(debate.Warning); ok {
					told = append(told, w.Text)
				}
			}
			require.Equal(t, tt.want, told)
			require.Equal(t, tt.want, result(t, d).Warnings)
		})
	}
}

func decode(t testing.TB, raw []byte, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(raw, v), "%s", raw)
}
