package peopletest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// question returns the open question of the debate.
func (b *table) question() *debate.Question {
	b.t.Helper()
	q := debatetest.Result(b.t, b.Debate).Question
	require.NotNil(b.t, q)
	return q
}

// Each gate asks once, before the round or the phase starts.
func TestGates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A B", func(c *debate.Config) {
			c.AskBeforeRounds = true
			c.AskBeforeVerdict = true
			c.AskAboveCost = 0.000001
			c.Prices = price.Prices{"m": {Input: 1, Output: 1}}
			for i := range c.Participants {
				c.Participants[i].Model = "m"
			}
			c.Judges[0].Model = "m"
		})
		var gates []string
		for b.run() == fsm.Paused {
			q := b.question()
			gates = append(gates, q.Gate)
			time.Sleep(24 * time.Hour)
			require.NoError(t, b.elsewhere().Decide(t.Context(), q.ID, "approve"))
			require.NoError(t, b.elsewhere().Decide(t.Context(), q.ID, "approve"), "again the same")
		}
		require.Equal(t, []string{"round 1", "cost", "round 2", "verdict"}, gates)
		require.Equal(t, fsm.Completed, b.status().State)
		require.Less(t, debatetest.Result(t, b.Debate).RunningTime, time.Minute)
	})
}

// A new run passes its gates anew.
func TestAResetClosesTheGates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", func(c *debate.Config) { c.AskBeforeRounds = true })
		for range 2 {
			require.Equal(t, fsm.Paused, b.run())
			require.Equal(t, "round 1", b.question().Gate)
			require.NoError(t, b.Decide(t.Context(), b.question().ID, "approve"))
			b.run()
			key := b.asked("B").Key
			require.NoError(t, b.Decline(t.Context(), key, "", ""))
			require.NoError(t, b.Reset(t.Context()))
			require.ErrorIs(t, b.Answer(t.Context(), key, "No.", ""), debate.ErrNotAsked)
		}
	})
}

// The action edit adds a remark that the next steps see.
func TestAGateTakesARemark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A B", func(c *debate.Config) { c.AskBeforeRounds = true })
		b.run()
		id, remark := b.question().ID, debate.Remark{ID: "1", From: "Host", Text: "Mention trams."}
		var problems *debate.Problems
		require.ErrorAs(t, b.Decide(t.Context(), id, "edit"), &problems, "no remark")
		require.ErrorAs(t, b.Decide(t.Context(), id, "approve", remark), &problems, "a remark without a use")
		require.ErrorAs(t, b.Decide(t.Context(), id, "edit", debate.Remark{From: "A", Text: "x"}), &problems, "the name of an actor")
		require.ErrorAs(t, b.Decide(t.Context(), id, ""), &problems, "no action")
		require.NoError(t, b.Decide(t.Context(), id, "edit", remark))
		require.Equal(t, "remark 0 Host", b.said()[0])
		require.Equal(t, fsm.Paused, b.run())
		require.Equal(t, "round 2", b.question().Gate)
	})
}

func TestAGateStopsTheDebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for gate, want := range map[string]transcript.Outcome{"round 2": transcript.Stopped, "verdict": transcript.Canceled} {
			b := sit(t, "A B", func(c *debate.Config) { c.AskBeforeRounds, c.AskBeforeVerdict = gate != "verdict", true })
			for b.run() == fsm.Paused {
				q, action := b.question(), "approve"
				if q.Gate == gate {
					action = "stop"
				}
				require.NoError(t, b.Decide(t.Context(), q.ID, action))
			}
			require.Equal(t, want, debatetest.Result(t, b.Debate).Ending.Outcome)
		}
	})
}

// Settings that do not apply to people are refused by name.
func TestSettingsOfPeople(t *testing.T) {
	warm := 0.5
	for field, p := range map[string]debate.Participant{
		"participants[1].provider":    {Name: "B", Human: true, Provider: "m"},
		"participants[1].model":       {Name: "B", Human: true, Model: "x"},
		"participants[1].temperature": {Name: "B", Human: true, Temperature: &warm},
		"participants[1].window":      {Name: "B", Human: true, Window: 1000},
		"participants[1].blind":       {Name: "B", Human: true, Blind: true},
	} {
		c := debatetest.PairConfig(nil)
		c.Participants[1] = p
		_, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"m": &debatetest.DigestModel{}}})
		require.ErrorContains(t, err, field+": ")
	}
	c := debatetest.PairConfig(nil)
	c.Summarizer.Human, c.AskAboveCost = true, -1
	_, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"m": &debatetest.DigestModel{}}})
	require.ErrorContains(t, err, "summarizer.human: ")
	require.ErrorContains(t, err, "ask_above_cost: ")
}

// A person judges once, although each model judges twice, and sees names unless the configuration asks for pseudonyms.
func TestAHumanJudgeInAJury(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, blind := range []bool{false, true} {
			b := sit(t, "A B", func(c *debate.Config) {
				c.Limits.MaxRounds = 1
				c.Protocol = panel.Protocol{Format: panel.RoundLimited, Jury: judge.Jury{Swap: true}}
				c.Judges = []debate.Participant{{Name: "J"}, {Name: "K", Human: true, Blind: blind}}
			})
			b.run()
			require.Equal(t, []string{"K"}, b.status().Waiting)
			a, names := b.asked("K"), []string{"A", "B"}
			if blind {
				names = []string{"Debater A", "Debater B"}
			}
			require.Contains(t, string(a.Schema), `"`+strings.ReplaceAll(names[0], " ", "_")+`":{`)
			b.answer("K", debatetest.Encode(t, debatetest.Assessment(true, names...)))
			b.run()
			verdict := debatetest.Encode(t, judge.Verdict{
				Winner: names[0], Summary: "A spoke well.", Quality: 50,
				Participants: []judge.KeyPoints{{Name: names[0], Points: []string{"One."}}, {Name: names[1], Points: []string{"Two."}}},
			})
			b.answer("K", verdict)
			require.Equal(t, fsm.Completed, b.run())
			count := map[string]int{}
			for _, turn := range debatetest.Result(t, b.Debate).Turns {
				count[turn.Actor]++
				if turn.Actor == "K" {
					require.NotContains(t, turn.Text+string(turn.Data), "Debater", "the journal has names")
				}
			}
			require.Equal(t, map[string]int{"A": 1, "B": 1, "J": 4, "K": 2}, count)
		}
	})
}

// A person has no persona, and nobody warns about the preferences of a human judge.
func TestPeopleAreNoModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B C", func(c *debate.Config) {
			c.Protocol = panel.Protocol{Format: panel.RoundLimited, Personas: "binary"}
			c.Judges[0].Human = true
		})
		b.run()
		require.Equal(t, []string{"B"}, b.status().Waiting)
		r := debatetest.Result(t, b.Debate)
		require.Empty(t, r.Warnings)
		b.answer("B", "No.")
		list, err := b.Preview(t.Context())
		require.NoError(t, err)
		require.Contains(t, list[0].Request.Messages[0].Text, "- A\n<<<")
	})
}
