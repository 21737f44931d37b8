package vote_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/transcript"
)

func TestBallotsNameAnOption(t *testing.T) {
	p := vote.Protocol{Options: []string{"Refund in full", "Refund half", "Refuse"}}
	r := &protocol.Record{MinRounds: 1, MaxRounds: 2, Cursor: transcript.Cursor{Run: 1, Round: 1, Stage: transcript.Speech}}
	r.Participants = []transcript.Profile{{Name: "A"}, {Name: "B"}}
	require.Empty(t, p.Check(r))
	s := protocol.Next(p, r)[0]
	require.Equal(t, "1. Refund in full\n2. Refund half\n3. Refuse", s.Vars["options"])
	for answer, want := range map[string]string{
		"1": "Refund in full", " 3 ": "Refuse", "Option 2": "Refund half", "2. Refund half": "Refund half", "#3": "Refuse", "refuse.": "Refuse", "Refund half": "Refund half", "": "",
	} {
		b := vote.Ballot{Answer: answer}
		require.Empty(t, s.Check(&b), answer)
		require.Equal(t, want, b.Answer, answer)
	}
	for _, answer := range []string{"0", "4", "17", "Refund", "yes", "1 or 2", "-1", "12 months"} {
		require.Len(t, s.Check(&vote.Ballot{Answer: answer}), 1, answer)
	}
	require.Nil(t, protocol.Next(vote.Protocol{}, r)[0].Check, "ballots are open without options")
}

func TestOptionsAreChecked(t *testing.T) {
	r := &protocol.Record{MinRounds: 1, MaxRounds: 2, Cursor: transcript.Cursor{Run: 1}}
	r.Participants = []transcript.Profile{{Name: "A"}, {Name: "B"}}
	for problem, p := range map[string]vote.Protocol{
		"protocol.options: the number of options is 1, use 2 to 16":                   {Options: []string{"Yes"}},
		`protocol.options: option 1, "2", reads like another option, use other words`: {Options: []string{"2", "3 or more"}},
		"protocol.extract: answers are options, leave it out":                         {Options: []string{"Yes", "No"}, Extract: "number"},
		`protocol.options: option 2, "yes", appears twice`:                            {Options: []string{"Yes", "yes"}},
		`protocol.options: option 2 is blank`:                                         {Options: []string{"Yes", " "}},
	} {
		found := p.Check(r)
		require.NotEmpty(t, found, problem)
		require.Equal(t, problem, found[0].String())
	}
	require.Empty(t, vote.Protocol{Options: []string{"1", "2", "3"}}.Check(r), "each reads as itself")
}

// Where answers are letters, a ballot that gives the text of a choice of the topic counts for its letter.
func TestBallotsGiveTheTextOfAChoice(t *testing.T) {
	for _, choices := range []string{"", " A) Sydney, B) Canberra, C) Perth", "\n\nA. Sydney\nB. Canberra\nC. Perth"} {
		topic := "Which is the capital?" + choices
		counts := choices != ""
		h := convene(t, vote.Protocol{Extract: "letter", Unanimity: vote.Stop, Grouped: true}, "Ann", "Bob", "Cy")
		h.Topic = topic
		h.round("canberra. A B")
		tally := h.tally()
		require.Equal(t, counts, tally.Answer == "B", "%s: %+v", topic, tally)
		require.Equal(t, !counts, tally.Tie, topic)
		h.round("Canberra B (B)")
		require.Equal(t, counts, h.p.End(&h.Record).Outcome != "", "all agree")
	}
}
