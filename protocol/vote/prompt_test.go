package vote_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/protocoltest"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/transcript"
)

// data returns the prompt data of a step.
func data(s protocol.Step) prompts.Data {
	seats := []transcript.Profile{{Name: "Ann", Role: "physicist", Persona: "Checks units first.", Instructions: "Be brief."}, {Name: "Bob"}, {Name: "Cy"}}
	d := prompts.Data{
		Topic: "How long does light take from the Sun to the Earth?", Background: "In minutes.", Phase: s.Phase, Round: s.Round, Rounds: 2, MinRounds: 1,
		Vars: s.Vars, ActiveNames: []string{"Ann", "Bob", "Cy"}, Me: seats[0], Others: seats[1:],
		Nonce: "mark", Blind: s.Blind,
	}
	contract := vote.BallotContract
	if s.Contract == vote.RulingContract.Name() {
		contract = vote.RulingContract
		d.Me = transcript.Profile{Name: "Jo"}
		d.Others = seats
	}
	d.ReplyFields = contract.Outline()
	return d
}

func TestPromptsOfAVote(t *testing.T) {
	h := convene(t, vote.Protocol{Decision: vote.Judge, Extract: "number", Agreement: new(0.9)}, "Ann", "Bob", "Cy", "Jo*")
	h.round("8 8 9")
	h.Cursor.Round++
	h.enter(transcript.Speech)
	revise := h.Next()[0]
	for i, s := range h.Next() {
		h.Say(s, ballot([]string{"8", "8", "9"}[i]))
	}
	h.enter(transcript.Conclusion)
	decide := h.Next()[0]
	answer := revise
	answer.Phase = "answer"
	answer.Round = 1
	answer.Prompt = "vote-answer"

	first, _ := protocoltest.Render(t, answer.Prompt, data(answer))
	again, _ := protocoltest.Render(t, revise.Prompt, data(revise))
	require.Equal(t, first, again, "the system prompt is the same in all rounds")
	golden.Require(t, "testdata/vote-agent.golden", first+"\n")
	judge, _ := protocoltest.Render(t, decide.Prompt, data(decide))
	for _, part := range []string{"You are Jo, the judge who decides", "light take from the Sun", "- Ann, physicist", "Judge the answers, not the participants", "Work out the answer yourself"} {
		require.Contains(t, judge, part)
	}
	for _, part := range []string{"not whether you agree", "Do not supply", "weakness of the speaker"} {
		require.NotContains(t, judge, part, "that is for judges of a debate, not of answers")
	}
	for _, s := range []protocol.Step{answer, revise, decide} {
		_, user := protocoltest.Render(t, s.Prompt, data(s))
		golden.Require(t, "testdata/"+s.Prompt+".golden", user+"\n")
	}
}

func TestPromptsFollowTheParameters(t *testing.T) {
	for _, tt := range []struct {
		p            vote.Protocol
		system, user string
		lacks        string
	}{
		{vote.Protocol{}, "as few words as possible", "give a revised answer", "Agreement level"},
		{vote.Protocol{Extract: "text"}, "as few words as possible", "", "Agreement level"},
		{vote.Protocol{Extract: "number"}, "one number in digits", "", "Agreement level"},
		{vote.Protocol{Extract: "letter"}, "the letter of one option", "", "Agreement level"},
		{vote.Protocol{Extract: "boxed"}, `\boxed{}`, "", "Agreement level"},
		{vote.Protocol{Agreement: new(0.0)}, "", "Agreement level: 0 on a scale from 0 (keep your own answer unless it is refuted) to 100", "level is high"},
		{vote.Protocol{Agreement: new(0.5)}, "", "Agreement level: 50 on a scale", "level is low"},
		{vote.Protocol{Agreement: new(1.0)}, "", "Agreement level: 100 on a scale", "level is low"},
	} {
		h := convene(t, tt.p, "Ann", "Bob")
		h.round("1 2")
		h.Cursor.Round++
		h.enter(transcript.Speech)
		d := data(h.Next()[0])
		system, user := protocoltest.Render(t, "vote-revise", d)
		require.Contains(t, system, tt.system)
		require.Contains(t, user, tt.user)
		require.NotContains(t, user, tt.lacks)
		for _, text := range []string{system, user} {
			require.NotContains(t, text, "\n\n\n")
			require.Equal(t, strings.TrimSpace(text), text)
		}
	}
}
