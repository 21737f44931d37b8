package debatetool_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/store"
)

// withPerson returns a simultaneous debate of a round in which Bo and a human judge are people.
func withPerson() debate.Config {
	c := debatetest.ShortPanel(2)
	c.Protocol = panel.Protocol{Format: panel.RoundLimited, Mode: panel.Simultaneous}
	c.Limits.MaxRounds = 1
	c.Participants[1].Human = true
	return c
}

func TestPeopleReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.Memory()
		b := sit(t, s, &model{}, withPerson(), debatetool.Options{})
		out := debatetest.Call(t, b.Run, ask)
		require.Equal(t, "waiting", out.Status)
		said := debatetest.Call(t, b.Transcript, out.ID)
		require.Empty(t, said)
		require.Empty(t, out.Turns, "Bo must not read what Ada says in the same round")
		require.Zero(t, out.Position)
		require.Len(t, out.Waiting, 1)
		asked := out.Waiting[0]
		require.Equal(t, "Bo", asked.Name)
		require.NotEmpty(t, asked.Task)
		require.Contains(t, out.Next, "debate_answer")
		require.Contains(t, out.Text(), `Step "`+asked.Step+`" asks Bo:`+"\n"+asked.Briefing+"\n\n"+asked.Task)
		require.Regexp(t, `(?s)^<<<\d{20} begin: briefing>>>\nYour seat:\n- Bo, side: against\n.*end>>>$`, asked.Briefing)
		require.Regexp(t, `(?s)^<<<\d{20} begin: task>>>\nRound 1 of 1\..*end>>>$`, asked.Task)
		require.Empty(t, asked.Said)

		refused := func(r debatetool.Reply, want string) {
			t.Helper()
			r.ID = out.ID
			_, err := b.Answer(t.Context(), r)
			require.ErrorContains(t, err, want)
		}
		refused(debatetool.Reply{Text: "x"}, `- step: it is empty; use one of "`+asked.Step+`"`)
		refused(debatetool.Reply{Step: "1/1/speak/Ada/", Text: "x"}, `- step: "1/1/speak/Ada/" is not asked; use one of "`+asked.Step+`"`)
		refused(debatetool.Reply{Step: asked.Step}, `- text: it is blank`)
		refused(debatetool.Reply{Step: asked.Step, Action: "approve"}, `- action: "approve" is not an action of this step, give a text, or use decline`)
		refused(debatetool.Reply{Step: "q9", Action: "approve"}, `- step: "q9" is not asked; use one of "`+asked.Step+`"`)

		other := sit(t, s, &model{}, withPerson(), debatetool.Options{}) // another process
		for range 2 {
			debatetest.Call(t, other.Answer, debatetool.Reply{ID: out.ID, Step: asked.Step, Text: "No.", By: "Robert"})
		}
		refused(debatetool.Reply{Step: asked.Step, Text: "Yes."}, "the step has another reply")
		out = debatetest.Call(t, b.Run, debatetool.Input{ID: out.ID})
		require.Equal(t, "completed", out.Status)
		refused(debatetool.Reply{Step: "1/9/speak/Bo/", Text: "x"}, "the debate asks nobody now")
	})
}

// A stream shows nothing of an open parallel phase to a debate with people.
func TestAStreamKeepsARoundBlind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, store.Memory(), &model{}, withPerson(), debatetool.Options{})
		follow := func(in debatetool.Input) (turns []string, out *debatetool.Output) {
			for p, err := range b.Stream(t.Context(), in) {
				require.NoError(t, err)
				if p.Turn != nil {
					turns = append(turns, p.Turn.Actor)
				}
				out = p.Output
			}
			return turns, out
		}
		turns, out := follow(ask)
		require.Empty(t, turns)
		turns, _ = follow(debatetool.Input{ID: out.ID})
		require.Empty(t, turns)
		debatetest.Call(t, b.Answer, debatetool.Reply{ID: out.ID, Step: out.Waiting[0].Step, Text: "No."})
		turns, _ = follow(debatetool.Input{ID: out.ID})
		require.Equal(t, []string{"Ada", "Bo", "Judge", "Judge"}, turns)
	})
}

// In turn, a person hears who has spoken before.
func TestAPersonHearsEarlierSpeakers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := withPerson()
		c.Protocol = panel.Protocol{Format: panel.RoundLimited}
		out := debatetest.Call(t, sit(t, store.Memory(), &model{}, c, debatetool.Options{}).Run, ask)
		require.Equal(t, "waiting", out.Status)
		require.Len(t, out.Turns, 1)
		require.Equal(t, "Ada", out.Turns[0].Actor)
		require.Equal(t, out.Turns, out.Waiting[0].Said)
	})
}

func TestAPersonDeclines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := withPerson()
		c.Participants = append(c.Participants, debate.Participant{Name: "Cy"})
		b := sit(t, store.Memory(), &model{}, c, debatetool.Options{})
		out := debatetest.Call(t, b.Run, ask)
		debatetest.Call(t, b.Answer, debatetool.Reply{ID: out.ID, Step: out.Waiting[0].Step, Action: "decline", Text: "I am ill."})
		out = debatetest.Call(t, b.Run, debatetool.Input{ID: out.ID})
		require.Equal(t, "completed", out.Status)
		require.Contains(t, out.Notices, "Bo dropped out after an error: declined.")
	})
}

func TestAHumanJudgeFillsInASchema(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := debatetest.ShortPanel(2)
		c.Limits.MaxRounds = 1
		c.Judges[0].Human, c.Judges[0].Blind = true, true
		b := sit(t, store.Memory(), &model{}, c, debatetool.Options{})
		out := debatetest.Call(t, b.Run, ask)
		require.Empty(t, out.Turns, "they have names")
		require.Empty(t, debatetest.Call(t, b.Transcript, out.ID))
		require.Equal(t, "Judge", out.Waiting[0].Name)
		require.NotEmpty(t, out.Waiting[0].Schema)
		require.Len(t, out.Waiting[0].Said, 2)
		require.Regexp(t, "^Debater [AB]$", out.Waiting[0].Said[0].Actor)
		require.Contains(t, out.Text(), "Reply with JSON that follows this schema: {")
		_, err := b.Answer(t.Context(), debatetool.Reply{ID: out.ID, Step: out.Waiting[0].Step, Text: `{"winner": 3}`})
		require.ErrorContains(t, err, "- text: ")
	})
}

func TestPeopleDecide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := debatetest.ShortPanel(2)
		c.Limits.MaxRounds = 1
		c.AskBeforeRounds, c.AskBeforeVerdict = true, true
		b := sit(t, store.Memory(), &model{}, c, debatetool.Options{})
		out := debatetest.Call(t, b.Run, ask)
		require.Equal(t, "waiting", out.Status)
		gate := out.Waiting[0]
		require.NotEmpty(t, gate.Choices)
		require.Contains(t, out.Text(), "asks anybody:\n<<<")
		require.Contains(t, out.Text(), "\n- approve: ")
		_, err := b.Answer(t.Context(), debatetool.Reply{ID: out.ID, Step: gate.Step, Action: "maybe"})
		require.ErrorContains(t, err, `- action: "maybe" is not a choice, use one of approve, edit, stop`)
		_, err = b.Answer(t.Context(), debatetool.Reply{ID: out.ID, Step: gate.Step, Action: "edit", Text: "Be brief.", By: "Ada"})
		require.ErrorContains(t, err, `- by: "Ada" is the name of an actor`)
		for range 2 {
			debatetest.Call(t, b.Answer, debatetool.Reply{ID: out.ID, Step: gate.Step, Action: "edit", Text: "Be brief.", By: "Mo"})
		}
		out = debatetest.Call(t, b.Run, debatetool.Input{ID: out.ID})
		require.Equal(t, "waiting", out.Status)
		require.Equal(t, "remark", string(out.Turns[0].Kind))
		require.NotEqual(t, gate.Step, out.Waiting[0].Step)
		debatetest.Call(t, b.Answer, debatetool.Reply{ID: out.ID, Step: out.Waiting[0].Step, Action: "approve"})
		out = debatetest.Call(t, b.Run, debatetool.Input{ID: out.ID})
		require.Equal(t, "completed", out.Status)
	})
}

// Whoever asks a human judge reads what the judge must know, in the data and in the text.
func TestAJudgeIsBriefed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := withPerson()
		c.Participants[1].Human, c.Judges[0].Human = false, true
		c.Background = "BACKGROUND-TEXT " + strings.Repeat("long ", 2000)
		c.Rubric = judge.Rubric{{Name: "policy_fit", Weight: 70, Description: "DESCRIPTION-TEXT", Zero: "ZERO-TEXT"}, {Name: "cost", Weight: 30}}
		b := sit(t, store.Memory(), &model{}, c, debatetool.Options{})
		out := debatetest.Call(t, b.Run, ask)
		require.Equal(t, "waiting", out.Status)
		for _, marker := range []string{"BACKGROUND-TEXT", "DESCRIPTION-TEXT", "ZERO-TEXT", "policy_fit (70 %)"} {
			require.Contains(t, out.Text(), marker)
			require.Contains(t, out.Waiting[0].Briefing+out.Waiting[0].Background, marker)
		}
		require.Contains(t, out.Waiting[0].Background, "characters left out", "a large background does not fill the caller's window")
	})
}
