package panel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// selection returns one whose jury decides from a margin on.
func selection(margin, decisions int, jury ...string) agreement.Selection {
	return agreement.Selection{Senior: "Eve", Calibration: agreement.Calibration{
		Judges: jury, Target: .8, Decisions: decisions, Margin: margin, Items: 60, Decided: 40, Wrong: 1, Bound: .114,
	}}
}

// says returns a model that names a winner under the name that it reads, in the prompts with a text.
func says(winner func(r providers.Request) string) *scripted.Provider {
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		switch r.SchemaName {
		case judge.VerdictContract.Name():
			name := winner(r)
			return scripted.Reply{Text: fmt.Sprintf(`{"summary": "It was %s.", "winner": %q, "winner_reasoning": "%[1]s was better.", "quality": 70}`, name, name)}
		case "":
			return scripted.Reply{Text: "I say so."}
		}
		return scripted.Reply{} // there is no valid assessment
	}}
}

// speaker returns the pseudonym of the first or the second of those who have said something in a prompt.
func speaker(r providers.Request, nth int) string {
	var names []string
	for _, m := range r.Messages {
		if _, after, found := strings.Cut(m.Text, "begin: Debater "); found && m.Role == providers.User {
			name, _, _ := strings.Cut(after, ",")
			names = append(names, "Debater "+name)
		}
	}
	return names[nth]
}

func never(providers.Request) string { return "" }

// drive drives a debate until it waits or ends, and returns its result.
func drive(t *testing.T, d *debate.Debate) *debate.Result {
	t.Helper()
	return debatetest.RunResult(t, d)
}

// A person can be the senior judge, also of a jury that judges in both orders: the person judges once, under pseudonyms.
func TestAPersonConcludesWhereTheJuryMayNot(t *testing.T) {
	first := says(func(r providers.Request) string { return speaker(r, 0) }) // whoever speaks first under its order
	e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"first": first, "never": says(never)}})
	d := debatetest.Create(t, e, debate.Config{
		ID: "d", Topic: "Ban cars?", Limits: debate.Limits{MaxRounds: 1}, Retries: map[providers.ErrorKind]int{providers.InvalidResponse: 0},
		Protocol:     panel.Protocol{Format: panel.RoundLimited, Jury: judge.Jury{Swap: true}, Selection: selection(4, 4, "Cy", "Di")},
		Participants: []debate.Participant{{Name: "Ada", Provider: "never"}, {Name: "Bo", Provider: "never"}},
		Judges:       []debate.Participant{{Name: "Cy", Provider: "first"}, {Name: "Di", Provider: "never"}, {Name: "Eve", Human: true, Blind: true}},
	})
	r := drive(t, d)
	require.Equal(t, fsm.Paused, r.State)
	asked := debatetest.Waiting(t, d)
	require.Len(t, asked, 1)
	require.Equal(t, "senior", asked[0].Key.Phase)
	for _, said := range asked[0].Said {
		require.Contains(t, said.Actor, "Debater ", "neither names nor what the jury says")
	}
	require.NoError(t, d.Answer(t.Context(), asked[0].Key, fmt.Sprintf(`{"summary": "Close.", "winner": %q, "quality": 60}`, asked[0].Said[1].Actor), ""))
	r = drive(t, d)
	require.Equal(t, fsm.Completed, r.State)
	verdict, err := panel.DecodeAnswer(r.Answer)
	require.NoError(t, err)
	require.Contains(t, []string{"Ada", "Bo"}, verdict.Value.Winner)
	require.Equal(t, "Close.", verdict.Value.Summary)
	require.Contains(t, r.Answer.Warnings, "The jury must not decide here: its margin is 2, and its calibration asks for 4 of 4. Eve decides.")
}

// If the senior judge drops out where the jury may not decide, there is no answer, and the result says why.
func TestTheSeniorJudgeDropsOut(t *testing.T) {
	for name, p := range map[string]protocol.Protocol{
		"panel":  panel.Protocol{Format: panel.RoundLimited, Selection: selection(2, 2, "Cy", "Di")},
		"procon": procon.Protocol{Selection: selection(2, 2, "Cy", "Di")},
	} {
		t.Run(name, func(t *testing.T) {
			e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
				if r.Schema == nil {
					return scripted.Reply{Text: "Trams."}
				}
				return scripted.Values{}.Reply(r)
			}}}})
			d := debatetest.Create(t, e, debate.Config{
				ID: "d", Topic: "Ban cars?", Limits: debate.Limits{MaxRounds: 1}, Protocol: p, OnJudgeFailure: debate.DropJudge,
				Participants: []debate.Participant{{Name: "Ada", Provider: "m", Position: "For."}, {Name: "Bo", Provider: "m", Position: "Against."}},
				Judges:       []debate.Participant{{Name: "Cy", Provider: "m"}, {Name: "Di", Provider: "m"}, {Name: "Eve", Human: true}},
			})
			drive(t, d)
			asked := debatetest.Waiting(t, d)
			require.Len(t, asked, 1)
			require.NoError(t, d.Decline(t.Context(), asked[0].Key, "I know Bo.", ""))
			r := drive(t, d)
			require.Equal(t, fsm.Completed, r.State)
			require.Empty(t, r.Answer.Text)
			require.Contains(t, r.Warnings, "The jury must not decide here: its margin is 0, and its calibration asks for 2 of 2. Eve was to decide, but has dropped out. So there is no answer.")
		})
	}
}

// The margin of all decisions decides, as it was calibrated, also where the majority of judges says something else.
func TestTheMarginDecides(t *testing.T) {
	ada := func(r providers.Request) string { // in which order ever
		for _, m := range r.Messages {
			if m.Role == providers.User && strings.Contains(m.Text, "I am for it.") {
				_, after, _ := strings.Cut(m.Text, "begin: ")
				name, _, _ := strings.Cut(after, ",")
				return name
			}
		}
		return ""
	}
	for _, tt := range []struct {
		name   string
		margin int
		senior int // calls
		winner string
	}{{"where it may", 2, 0, "Ada"}, {"where it must not", 3, 2, ""}} {
		t.Run(tt.name, func(t *testing.T) {
			senior := says(never)
			speaks := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
				return scripted.Reply{Text: map[bool]string{true: "I am for it.", false: "I am not."}[strings.Contains(r.Messages[0].Text, "You are Ada")]}
			}}
			d := debatetest.New(t, debate.Config{
				ID: "d", Topic: "Ban cars?", Limits: debate.Limits{MaxRounds: 1}, Retries: map[providers.ErrorKind]int{providers.InvalidResponse: 0},
				Protocol:     panel.Protocol{Format: panel.RoundLimited, Jury: judge.Jury{Swap: true}, Selection: selection(tt.margin, 6, "Cy", "Di", "Ed")},
				Participants: []debate.Participant{{Name: "Ada", Provider: "speaks"}, {Name: "Bo", Provider: "speaks"}},
				Judges:       []debate.Participant{{Name: "Cy", Provider: "ada"}, {Name: "Di", Provider: "never"}, {Name: "Ed", Provider: "never"}, {Name: "Eve", Provider: "senior"}},
			}, debate.Options{Providers: map[string]providers.Provider{"speaks": speaks, "ada": says(ada), "never": says(never), "senior": senior}})
			r := drive(t, d)
			verdict, err := panel.DecodeAnswer(r.Answer)
			require.NoError(t, err)
			require.Equal(t, tt.winner, verdict.Value.Winner)
			require.Len(t, senior.Calls(), tt.senior)
			if tt.senior == 0 {
				require.Equal(t, "Ada was better.", strings.ReplaceAll(verdict.Value.WinnerReasoning, "It was ", ""))
				require.Len(t, verdict.Dissent, 2)
			}
		})
	}
}
