package eval_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// deciding returns a judge that is right on a share of the questions. Judges with the same seed err together.
func deciding(seed string, accuracy float64) *scripted.Provider {
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		right := debatetest.Chance(seed, questionOf(r)) < accuracy
		if r.SchemaName == decision.Contract.Name() {
			return scripted.Reply{Text: fmt.Sprintf(`{"summary": "x", "reasons": [{"text": "y"}], "option": %d, "confidence": 60}`, map[bool]int{true: 2, false: 1}[right])}
		}
		if strings.Contains(r.SchemaName, "judgment") {
			winner := "Debater A"
			if !right {
				winner = "Debater B"
			}
			if strings.Contains(r.Messages[len(r.Messages)-1].Text, "Name no winner") {
				winner = ""
			}
			return scripted.Reply{Text: fmt.Sprintf(`{"summary": "x", "no_new_arguments": true, "participants": [{"name": "Debater A", "score": 5}, {"name": "Debater B", "score": 5}], "winner": %q}`, winner)}
		}
		return scripted.Reply{Text: "I say so."}
	}}
}

// Judges who err together are worth fewer than judges who err alone, and agree more.
func TestTheReportSaysHowFarJudgesAgree(t *testing.T) {
	models := map[string]providers.Provider{"a": deciding("a", .7), "same": deciding("a", .7), "b": deciding("b", .7), "c": deciding("c", .7)}
	judgedBy := func(name string, p protocol.Protocol, seats ...string) eval.Arm {
		c := debate.Config{
			Protocol: p, Limits: debate.Limits{MaxRounds: 1},
			Participants: []debate.Participant{{Name: "Ada", Side: "pro", Provider: "a"}, {Name: "Bo", Side: "con", Provider: "a"}},
		}
		for i, s := range seats {
			c.Judges = append(c.Judges, debate.Participant{Name: fmt.Sprint("J", i+1), Provider: s})
		}
		f, err := eval.Template(c)
		require.NoError(t, err)
		return eval.Arm{Name: name, Config: f}
	}
	options := procon.Protocol{Decision: decision.Task{Options: []string{"0", "1"}}}
	e := eval.Evaluation{
		Name: "judges", Tasks: questions(60), Budget: eval.NoBudget,
		Arms: []eval.Arm{
			judgedBy("apart", options, "a", "b", "c"), judgedBy("together", options, "a", "same", "same"),
			judgedBy("winner", procon.Protocol{}, "a", "same"), judgedBy("alone", options, "a"),
		},
	}
	p := debatetest.Call(t, e.Run, debate.Options{Providers: models})
	apart := p.Arms[0].Agreement
	together := p.Arms[1].Agreement
	winner := p.Arms[2].Agreement
	require.Nil(t, p.Arms[3].Agreement, "one judge agrees with nobody")
	require.Equal(t, []string{"J1", "J2", "J3"}, apart.Judges)
	require.Equal(t, []int{60, 60, 60, 0}, []int{apart.Debates, apart.Gold, together.Gold, winner.Gold})
	require.True(t, apart.Effective.Low > 1.8 && apart.Effective.High > 2.9, "%v", apart.Effective)
	require.InDelta(t, 1, together.Effective.Value, 1e-9)
	require.InDelta(t, 1, together.AlphaDecisions.Value, 1e-9)
	require.True(t, apart.AlphaVotes.Low < 0 && apart.AlphaVotes.High > 0, "%v", apart.AlphaVotes)
	require.Positive(t, winner.Debates)
	require.Zero(t, winner.Effective.N)
	var page bytes.Buffer
	require.NoError(t, p.Markdown(&page))
	require.Contains(t, page.String(), "| together | J1, J2, J3 | 60 | 1.000")
	require.Contains(t, page.String(), "Effective number")

	e.Tasks, e.Name = questions(5), "few"
	p = debatetest.Call(t, e.Run, debate.Options{Providers: models})
	require.False(t, p.Arms[0].Agreement.AlphaDecisions.Known())
	page.Reset()
	require.NoError(t, p.Markdown(&page))
	require.Contains(t, page.String(), "too few")
}

// Right answers are for the judges' reference only.
func TestGoldIsForJudgesOnly(t *testing.T) {
	seats := debate.Config{Participants: []debate.Participant{{Name: "A"}, {Name: "B"}}, Judges: []debate.Participant{{Name: "J"}}}
	c := seats
	c.Reference = "One of:\n{{gold}}"
	f, err := eval.Template(c)
	require.NoError(t, err)
	require.Equal(t, "One of:\n4\nfour", f(eval.Task{ID: "1", Topic: "2+2?", Gold: []string{"4", "four"}}).Reference)
	for _, change := range []func(*debate.Config){
		func(c *debate.Config) { c.Background = "{{gold}}" },
		func(c *debate.Config) { c.Topic = "{{question}} {{gold}}" },
		func(c *debate.Config) {
			c.Protocol = panel.Protocol{Decision: decision.Task{Options: []string{"{{gold}}", "x"}}}
		},
	} {
		c := seats
		change(&c)
		_, err := eval.Template(c)
		require.ErrorContains(t, err, "placeholder {{gold}} is unknown, use {{topic}}, {{question}}, {{choices}}, {{a}}, {{b}}, {{background}} or {{extract}}, and {{gold}} in the reference only")
	}
}
