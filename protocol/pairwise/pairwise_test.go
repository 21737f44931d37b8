package pairwise_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/protocol/pairwise"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// prompt returns the texts of a request.
func prompt(r providers.Request) string {
	var texts []string
	for _, m := range r.Messages {
		texts = append(texts, m.Text)
	}
	return strings.Join(texts, "\n")
}

// prefers returns a judge that prefers the answer with a text, and answer 1 if none has it.
func prefers(text string) *scripted.Provider {
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		p := prompt(r)
		winner := pairwise.First
		if strings.Index(p, text) > strings.Index(p, "begin: answer 2") {
			winner = pairwise.Second
		}
		return scripted.Reply{Text: fmt.Sprintf(`{"reason": "It says %s.", "winner": %q, "margin": 2}`, text, winner)}
	}}
}

func judged(t *testing.T, c debate.Config, models map[string]providers.Provider) (*debate.Result, pairwise.Result) {
	t.Helper()
	c.ID, c.Topic = "d", "Name a planet with rings."
	d := debatetest.New(t, c, debate.Options{Providers: models})
	r := debatetest.RunResult(t, d)
	require.Equal(t, fsm.Completed, r.State)
	x, err := pairwise.DecodeAnswer(r.Answer)
	require.NoError(t, err)
	return r, x
}

func TestAJudgeSeesThePairInBothOrders(t *testing.T) {
	model := prefers("Saturn")
	r, x := judged(t, debate.Config{
		Protocol: pairwise.Protocol{A: "Mars.", B: "Saturn."}, Judges: []debate.Participant{{Name: "Cy"}},
	}, map[string]providers.Provider{"m": model})
	require.Equal(t, agreement.B, x.Winner)
	require.InDelta(t, -2, x.Margin, 0)
	require.Equal(t, map[string][]agreement.Decision{"Cy": {agreement.B, agreement.B}}, x.Decisions)
	require.Equal(t, "Answer B is better.\nCy: It says Saturn.\nCy: It says Saturn.", r.Answer.Text)
	require.Len(t, model.Calls(), 2)
	first, second := prompt(model.Calls()[0]), prompt(model.Calls()[1])
	require.Contains(t, first+second, "begin: the question>>>\nName a planet with rings.")
	before := func(text string) bool { return strings.Index(text, "Mars.") < strings.Index(text, "Saturn.") }
	require.NotEqual(t, before(first), before(second), "in both orders")
}

func TestAJudgeMayBeAskedOnce(t *testing.T) {
	model := prefers("Saturn")
	_, x := judged(t, debate.Config{
		Protocol: pairwise.Protocol{A: "Mars.", B: "Saturn.", Once: true}, Judges: []debate.Participant{{Name: "Cy"}, {Name: "Di"}},
	}, map[string]providers.Provider{"m": model})
	require.Equal(t, map[string][]agreement.Decision{"Cy": {agreement.B}, "Di": {agreement.B}}, x.Decisions)
	require.Len(t, model.Calls(), 2)
}

// A judge that follows the position decides for each answer once: nobody wins. A challenge turns it.
func TestAChallenge(t *testing.T) {
	model := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if strings.Contains(prompt(r), "I disagree: I think that answer 2 is better.") {
			require.Contains(t, prompt(r), "begin: answer 1>>>", "it still sees the answers")
			require.Contains(t, prompt(r), "Answer 1 is better, by 3 of 3. First.", "and its decision")
			return scripted.Reply{Text: `{"reason": "You are right.", "winner": "second", "margin": 1}`}
		}
		return scripted.Reply{Text: `{"reason": "First.", "winner": "first", "margin": 3}`}
	}}
	r, x := judged(t, debate.Config{
		Protocol: pairwise.Protocol{A: "Mars.", B: "Saturn.", Challenge: true}, Judges: []debate.Participant{{Name: "Cy"}},
	}, map[string]providers.Provider{"m": model})
	require.Equal(t, agreement.Tie, x.Winner)
	require.InDelta(t, 0, x.Margin, 0)
	require.Equal(t, map[string][]agreement.Decision{"Cy": {agreement.A, agreement.B}}, x.Decisions)
	require.Equal(t, map[string][]agreement.Decision{"Cy": {agreement.B, agreement.A}}, x.Challenged)
	require.Contains(t, r.Answer.Text, "Neither answer is better.\nCy: First.")
	require.Len(t, model.Calls(), 4)
}

// A judge that decides for neither answer is not challenged, and neither is one without a valid reply.
func TestNothingToChallenge(t *testing.T) {
	for reply, want := range map[string]agreement.Decision{
		`{"reason": "Same.", "winner": "neither", "margin": 0}`: agreement.Tie,
		`{"reason": "Same.", "winner": "neither", "margin": 2}`: agreement.None,
		`{"reason": "Better.", "winner": "first", "margin": 0}`: agreement.None,
		`{"reason": "Better.", "winner": "third", "margin": 1}`: agreement.None,
		`{"reason": "Better.", "winner": "first", "margin": 4}`: agreement.None,
		`{"reason": "", "winner": "first", "margin": 1}`:        agreement.None,
		`{"winner": "first", "margin": 1}`:                      agreement.None,
		"I cannot say.":                                         agreement.None,
	} {
		model := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: reply} }}
		_, x := judged(t, debate.Config{
			Protocol: pairwise.Protocol{A: "Mars.", B: "Saturn.", Challenge: true, Once: true}, Judges: []debate.Participant{{Name: "Cy"}},
		}, map[string]providers.Provider{"m": model})
		require.Equal(t, []agreement.Decision{want}, x.Decisions["Cy"], reply)
		require.Equal(t, []agreement.Decision{agreement.None}, x.Challenged["Cy"], reply)
		require.Equal(t, agreement.Tie, x.Winner)
	}
}

// calibration returns one of a jury, with evidence.
func calibration(margin, decisions int, judges ...string) agreement.Calibration {
	return agreement.Calibration{Judges: judges, Target: .8, Decisions: decisions, Margin: margin, Items: 60, Decided: 40, Wrong: 1, Bound: .114}
}

func TestTheSeniorJudgeDecidesWhereTheJuryMayNot(t *testing.T) {
	seats := []debate.Participant{{Name: "Cy", Provider: "saturn"}, {Name: "Di", Provider: "second"}, {Name: "Senior", Provider: "senior"}}
	for _, tt := range []struct {
		name   string
		other  string // what the second judge prefers
		winner agreement.Decision
		asked  int
	}{
		{"unanimous", "Saturn", agreement.B, 0},
		{"divided", "Mars", agreement.A, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			senior := prefers("Mars")
			r, x := judged(t, debate.Config{
				Protocol: pairwise.Protocol{A: "Mars.", B: "Saturn.", Selection: agreement.Selection{Calibration: calibration(4, 4, "Cy", "Di"), Senior: "Senior"}}, Judges: seats,
			}, map[string]providers.Provider{"saturn": prefers("Saturn"), "second": prefers(tt.other), "senior": senior})
			require.Equal(t, tt.winner, x.Winner)
			require.Len(t, senior.Calls(), tt.asked)
			if tt.asked == 0 {
				require.Empty(t, x.Senior)
				require.Empty(t, r.Answer.Warnings)
				require.InDelta(t, -2, x.Margin, 0)
				return
			}
			require.Equal(t, "Senior", x.Senior)
			require.InDelta(t, 2, x.Margin, 0, "of the senior judge")
			require.Equal(t, []string{"The jury must not decide here: its margin is 0, and its calibration asks for 4 of 4. Senior decides."}, r.Answer.Warnings)
			require.NotContains(t, prompt(senior.Calls()[0]), "It says Saturn.", "it does not hear the jury")
		})
	}
}

// The senior judge can be a person: the debate waits, and the answer concludes it. Of a jury that sees both orders, too, the
// person sees one.
func TestAPersonDecidesWhereTheJuryMayNot(t *testing.T) {
	for _, once := range []bool{true, false} {
		t.Run(fmt.Sprint("once ", once), func(t *testing.T) { personDecides(t, once) })
	}
}

func personDecides(t *testing.T, once bool) {
	decisions := map[bool]int{true: 2, false: 4}[once]
	e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"saturn": prefers("Saturn"), "mars": prefers("Mars")}})
	d := debatetest.Create(t, e, debate.Config{
		ID: "d", Topic: "Name a planet with rings.",
		Protocol: pairwise.Protocol{A: "Mars.", B: "Saturn.", Once: once, Selection: agreement.Selection{Calibration: calibration(2, decisions, "Cy", "Di"), Senior: "Eve"}},
		Judges:   []debate.Participant{{Name: "Cy", Provider: "saturn"}, {Name: "Di", Provider: "mars"}, {Name: "Eve", Human: true}},
	})
	drive := func() {
		debatetest.Finish(t, d)
	}
	drive()
	s := debatetest.Status(t, d)
	require.Equal(t, []string{"Eve"}, s.Waiting)
	asked := debatetest.Waiting(t, d)
	require.Len(t, asked, 1)
	require.Contains(t, asked[0].Briefing.Rules, "answer 1:\n> Mars.\n\nanswer 2:\n> Saturn.")
	require.Contains(t, asked[0].Briefing.Topic, "Name a planet with rings.")
	require.NotContains(t, asked[0].Task+asked[0].Briefing.Text(), "<<<")
	require.NoError(t, d.Answer(t.Context(), asked[0].Key, `{"reason": "It has rings.", "winner": "second", "margin": 3}`, ""))
	drive()
	r := debatetest.Result(t, d)
	x, err := pairwise.DecodeAnswer(r.Answer)
	require.NoError(t, err)
	require.Equal(t, agreement.B, x.Winner)
	require.Equal(t, "Eve", x.Senior)
}

func TestWhatIsWrongIsTold(t *testing.T) {
	good := pairwise.Protocol{A: "Mars.", B: "Saturn."}
	selected := func(change func(*agreement.Selection)) pairwise.Protocol {
		p := good
		p.Selection = agreement.Selection{Calibration: calibration(2, 2, "Cy"), Senior: "Di"}
		change(&p.Selection)
		return p
	}
	for name, tt := range map[string]struct {
		p      pairwise.Protocol
		seats  []debate.Participant
		says   string
		judges []string
	}{
		"a blank answer": {p: pairwise.Protocol{A: "x", B: " "}, says: "protocol.b: it is blank, set an answer"},
		"participants":   {p: good, seats: []debate.Participant{{Name: "Ada"}}, says: "participants: 1 enabled, pairwise takes none: the answers are given"},
		"no judge":       {p: good, judges: []string{}, says: "judges: none, pairwise needs one"},
		"no senior":      {p: selected(func(s *agreement.Selection) { s.Senior = "Eve" }), says: `senior: "Eve" is not a judge`},
		"another jury":   {p: selected(func(s *agreement.Selection) { s.Calibration.Judges = []string{"Bo"} }), says: `calibration.judges: it is of ["Bo"], and the jury is ["Cy"]: calibrate this jury`},
		"other orders":   {p: selected(func(s *agreement.Selection) { s.Calibration.Decisions = 1 }), says: "calibration.decisions: 1, and the jury makes 2"},
		"no target":      {p: selected(func(s *agreement.Selection) { s.Calibration.Target = 0 }), says: "calibration.target: 0, want a number between 0 and 1"},
		"no margin":      {p: selected(func(s *agreement.Selection) { s.Calibration.Margin = 0 }), says: "calibration.margin: 0, want 1 to 2"},
		"no counts":      {p: selected(func(s *agreement.Selection) { s.Calibration.Decided = 99 }), says: "these are no counts"},
		"no evidence":    {p: selected(func(s *agreement.Selection) { s.Calibration.Wrong = 20 }), says: "do not show the target 0.8 with the bound 0.114: make it with agreement.Calibrate"},
		"no gold at all": {p: selected(func(s *agreement.Selection) { s.Calibration = agreement.Calibration{} }), says: "calibrate this jury"},
	} {
		t.Run(name, func(t *testing.T) {
			c := debate.Config{Topic: "t", Protocol: tt.p, Participants: tt.seats}
			if tt.judges == nil {
				c.Judges = []debate.Participant{{Name: "Cy"}, {Name: "Di"}}
			}
			_, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"m": prefers("x")}})
			require.ErrorContains(t, err, tt.says)
		})
	}
}

func TestVerdictsInProse(t *testing.T) {
	for reply, want := range map[string]string{
		"Output (a)":            pairwise.First,
		" Output (b).\n":        pairwise.Second,
		"Output (a) is better.": pairwise.First,
		"It is long.\n\nTherefore, based on this, Output (b) is the better output.": pairwise.Second,
		"Output (b) is better at sums. Therefore, Output (a) is better.":            "",
		"Neither is good. Output (a) is better.":                                    "",
		"Therefore, neither Output (a) nor Output (b) is better.":                   "",
		"It is not true that Output (a) is better.":                                 "",
		"Output (a) is better, I think.":                                            "",
		"Output (c)":                                                                "",
		"":                                                                          "",
	} {
		got, ok := pairwise.ReadVerdict(reply, "Output (a)", "Output (b)")
		require.Equal(t, want, got, reply)
		require.Equal(t, want != "", ok, reply)
	}
}
