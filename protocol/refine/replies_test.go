package refine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/transcript"
)

var names = []string{"Ada", "Bo"}

func TestCritiques(t *testing.T) {
	for _, tt := range []struct{ name, json, text, err string }{
		{
			"a whole one",
			`{"author":"Bo","strengths":["S1","S2"],"weaknesses":[{"issue":"I","severity":"critical","suggestion":"X"},{"issue":"K","severity":"minor"}],"overall":"O"}`,
			"On the proposal of Bo:\nO\n\nStrengths:\n1. S1\n2. S2\n\nWeaknesses:\n1. critical: I Suggestion: X\n2. minor: K", "",
		},
		{"the least", `{"author":"Bo","weaknesses":[],"overall":"O"}`, "On the proposal of Bo:\nO", ""},
		{"of nobody's proposal", `{"author":"","weaknesses":[],"overall":"O"}`, "", `/author: "" is not a participant`},
		{"without an author", `{"weaknesses":[],"overall":"O"}`, "", "author"},
		{"a name in another spelling", `{"author":" bo ","weaknesses":[],"overall":"O"}`, "On the proposal of Bo:\nO", ""},
		{"a stranger", `{"author":"Zoe","weaknesses":[],"overall":"O"}`, "", `/author: "Zoe" is not a participant; the participants are ["Ada" "Bo"]`},
		{"an unknown severity", `{"author":"Bo","weaknesses":[{"issue":"I","severity":"bad"}],"overall":"O"}`, "", "/weaknesses/0/severity"},
		{"nothing said", `{"author":"Bo","weaknesses":[],"overall":""}`, "", "/overall"},
		{"no JSON", "Nice work.", "", "no JSON object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := refine.CritiqueContract.Parse(tt.json, names)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.text, got.Text)
		})
	}
}

func TestSolutions(t *testing.T) {
	for _, tt := range []struct{ name, json, text, err string }{
		{
			"a whole one",
			`{"description":"D","implementation":["I1","I2"],"trade_offs":["T"],"recommendations":["R"],"confidence":72.5}`,
			"D\n\nImplementation:\n1. I1\n2. I2\n\nTrade-offs:\n1. T\n\nRecommendations:\n1. R\n\nConfidence: 72.5 of 100", "",
		},
		{"no steps", `{"description":"D","implementation":[],"trade_offs":[],"recommendations":[],"confidence":50}`, "", "/implementation"},
		{"confidence as a share", `{"description":"D","implementation":["I"],"trade_offs":[],"recommendations":[],"confidence":0.8}`, "", "/confidence: 0.8 looks like a share of 1"},
		{"certain, as a share", `{"description":"D","implementation":["I"],"trade_offs":[],"recommendations":[],"confidence":1}`, "", "/confidence: 1 looks like a share of 1"},
		{"too sure", `{"description":"D","implementation":["I"],"trade_offs":[],"recommendations":[],"confidence":101}`, "", "/confidence"},
		{"less than unsure", `{"description":"D","implementation":["I"],"trade_offs":[],"recommendations":[],"confidence":-1}`, "", "/confidence"},
		{"no trade-offs named", `{"description":"D","implementation":["I"],"recommendations":[],"confidence":50}`, "", "trade_offs"},
		{"no description", `{"description":"","implementation":["I"],"trade_offs":[],"recommendations":[],"confidence":50}`, "", "/description"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := refine.SolutionContract.Parse(tt.json, names)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.text, got.Text)
		})
	}
}

func TestWhatStandsForAReplySaysSo(t *testing.T) {
	for name, want := range map[string]string{
		"peer-critique/1":  "The agent gave no valid critique.",
		"refine-summary/1": "There is no valid summary.",
		"solution/1":       "The judge gave no valid solution. See the last refinement of each agent.\n\nImplementation:\n1. Choose among the last refinements of the agents.\n\nConfidence: 0 of 100",
	} {
		got, ok := contracts[name].Default(names)
		require.True(t, ok, name)
		require.Equal(t, want, got.Text)
		require.Equal(t, name, contracts[name].Name())
	}
}

func TestTheAnswerHoldsSolutionSizesAndRoles(t *testing.T) {
	p := refine.Protocol{Roles: map[string]refine.RolePrompt{
		"poet": {System: "You rhyme.", Source: "roles/poet.md"}, "testing": {Critique: "Break it."},
	}}
	x := sit(t, p, "A", "B", "C", "D")
	for i, role := range []string{"poet", "testing", "security", ""} {
		x.r.Participants[i].Role = role
	}
	require.Zero(t, x.p.Answer(x.r), "nothing was said")

	x.size = map[string]int{"propose": 3000, "critique": 1000, "refine": 2000, "summarize": 700}
	x.play(transcript.Speech, 1)
	text, res := x.answer()
	require.Empty(t, text)
	require.Nil(t, res.Solution)
	require.Empty(t, res.Summaries)

	x.play(transcript.Speech, 2).play(transcript.Speech, 3)
	x.size["digest"] = 900
	x.play(transcript.Conclusion, 3)
	text, res = x.answer()
	require.True(t, strings.HasPrefix(text, "D\n"))
	require.Equal(t, &refine.Solution{Description: "D", Implementation: []string{"I"}, TradeOffs: []string{"T"}, Recommendations: []string{"R"}, Confidence: 80}, res.Solution)
	round := 3000 + 3*1000 + 2000
	var want []refine.SummarySize
	for _, agent := range []string{"A", "B", "C", "D"} {
		want = append(want, refine.SummarySize{Agent: agent, Round: 2, Before: round, After: 700})
	}
	for _, agent := range []string{"A", "B", "C", "D"} {
		want = append(want, refine.SummarySize{Agent: agent, Round: 3, Before: 700 + round, After: 700})
	}
	want = append(want, refine.SummarySize{Round: 3, Before: 4*3000 + 12*1000 + 4*2000, After: 900})
	require.Equal(t, want, res.Summaries)
	require.Equal(t, []refine.RoleAssignment{
		{Agent: "A", Role: "poet", Source: "roles/poet.md"},
		{Agent: "B", Role: "testing", Source: "configuration"},
		{Agent: "C", Role: "security", Source: "built-in"},
		{Agent: "D", Role: "generalist", Source: "built-in"},
	}, res.Roles)
}

func TestWhatStandsForASolutionIsNone(t *testing.T) {
	x := sit(t, refine.Protocol{}, "A", "B")
	x.fail["synthesize"] = true
	x.play(transcript.Speech, 1).play(transcript.Conclusion, 1)
	text, res := x.answer()
	require.Contains(t, text, "no valid solution")
	require.Nil(t, res.Solution)
}

func FuzzCritique(f *testing.F) {
	for _, seed := range []string{
		`{"author":"Bo","weaknesses":[{"issue":"I","severity":"major"}],"overall":"O"}`, `{"author":"bo","weaknesses":[],"overall":"O"}`,
		"```json\n{\"weaknesses\":[],\"overall\":\"O\"}\n```", `{"author":"Zoe"}`, `{`, "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := refine.CritiqueContract.Parse(text, names)
		if err != nil {
			return
		}
		c, err := transcript.Decode[refine.Critique](transcript.Turn{Contract: refine.CritiqueContract.Name(), Data: got.Data})
		require.NoError(t, err)
		require.Contains(t, append(names, ""), c.Author)
		require.NotEmpty(t, c.Overall)
		for _, w := range c.Weaknesses {
			require.Contains(t, []string{"critical", "major", "minor"}, w.Severity)
		}
	})
}
