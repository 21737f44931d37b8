package panel_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/transcript"
)

// oxford returns a debate of participants with the given sides, before j1 to j4.
func oxford(sides ...string) *protocol.Record {
	r := record(len(sides), 4)
	r.MaxRounds = 3
	for i, side := range sides {
		r.Participants[i].Side = side
	}
	return r
}

func TestOxfordStyleNeedsTwoSides(t *testing.T) {
	for _, tt := range []struct {
		name   string
		p      panel.Protocol
		sides  string
		rounds int
		want   []string
	}{
		{"one on each side", panel.Protocol{}, "for against", 3, nil},
		{"several members", panel.Protocol{Personas: panel.Binary, Mode: panel.Simultaneous}, "for for for against against against for for", 2, nil},
		{"too many", panel.Protocol{}, "for for for against against against for for for", 2, []string{"participants: 9 enabled, a panel takes 2 to 8"}},
		{"a third side", panel.Protocol{}, "for against maybe", 3, []string{`participants: "p3" has the side "maybe", use "for" or "against" in the format "oxford"`}},
		{"one side only", panel.Protocol{}, "for for", 3, []string{`participants: nobody has the side "against"`}},
		{"one round", panel.Protocol{}, "for against", 1, []string{"limits.max_rounds: 1, Oxford-style debates need at least 2: an opening and a closing"}},
		{
			"parameters of judges",
			panel.Protocol{Jury: judge.Jury{Swap: true}, RotateJudges: true, DevilsAdvocate: true},
			"for against", 3,
			[]string{
				`protocol.jury: the judges vote and do not assess in the format "oxford"; leave it out`,
				`protocol.rotate_judges: the judges vote and do not assess in the format "oxford"; leave it out`,
				`protocol.devils_advocate: the rounds of the format "oxford" have fixed tasks, use another format`,
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := oxford(strings.Fields(tt.sides)...)
			r.MaxRounds, tt.p.Format = tt.rounds, panel.Oxford
			var got []string
			for _, p := range tt.p.Check(r) {
				got = append(got, p.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestStagesOfAnOxfordStyleDebate(t *testing.T) {
	p, r := panel.Protocol{Format: panel.Oxford, Personas: panel.Binary}, oxford("against", "for", "for", "for")
	r.Judges = r.Judges[:2]
	stage := func(s transcript.Kind, round int) []string {
		r.Cursor.Stage, r.Cursor.Round = s, round
		return outline(p.Phases(r))
	}
	require.Equal(t, 3, p.Defaults().MaxRounds)
	require.Zero(t, panel.Protocol{}.Defaults(), "the other formats have no defaults of their own")
	require.Equal(t, []string{
		"personas in turn: personas personas personas/1",
		"audience-before at once: j1 audience-before audience/1", "audience-before at once: j2 audience-before audience/1",
	}, stage(transcript.Setup, 0))
	require.Equal(t, []string{"opening in turn: p1 opening ", "opening in turn: p2 opening ", "opening in turn: p3 opening ", "opening in turn: p4 opening "}, stage(transcript.Speech, 1))
	require.Contains(t, stage(transcript.Speech, 2)[0], "rebuttal")
	require.Contains(t, stage(transcript.Speech, 3)[0], "closing")
	require.Empty(t, stage(transcript.Assessment, 1))
	require.Zero(t, p.End(r))
	require.Equal(t, []string{"audience-after at once: j1 audience-after audience/1", "audience-after at once: j2 audience-after audience/1"}, stage(transcript.Conclusion, 3))
	for _, s := range p.Phases(r)[0].Steps {
		require.True(t, s.Blind)
		for shown, turn := range map[bool][]transcript.Turn{
			true: {
				{Key: transcript.Key{Actor: "p1"}, Kind: transcript.Speech},
				{Key: transcript.Key{Actor: "guest"}, Kind: transcript.Remark},
				{Key: transcript.Key{Actor: s.Actor, Phase: "audience-before"}, Kind: transcript.Setup},
			},
			false: {
				{Key: transcript.Key{Actor: "j9", Phase: "audience-before"}, Kind: transcript.Setup},
				{Key: transcript.Key{Actor: "personas", Phase: "personas"}, Kind: transcript.Setup},
			},
		} {
			for i := range turn {
				require.Equal(t, shown, s.Show(&turn[i]), turn[i].Key)
			}
		}
	}
}

// poll commits the votes of the judges in a phase. "!" is a default, and "-" no vote.
func poll(t *testing.T, r *protocol.Record, stage transcript.Kind, phase, votes string) {
	t.Helper()
	r.Cursor.Stage = stage
	r.StartPhase(phase, r.Seq+1)
	for i, vote := range strings.Fields(votes) {
		turn := transcript.Turn{Key: transcript.Key{Run: 1, Phase: phase, Actor: r.Judges[i]}, Kind: stage, Order: i, Seq: r.Seq + 1, Contract: "audience/1"}
		if stage != transcript.Setup {
			turn.Round = r.Cursor.Round
		}
		v := panel.AudienceVote{Reasoning: "because", Vote: vote}
		switch vote {
		case "-":
			continue
		case "!":
			v.Default(nil)
			turn.Flags = []transcript.Flag{transcript.Defaulted}
		}
		turn.Text = v.Text()
		var err error
		turn.Data, err = json.Marshal(v)
		require.NoError(t, err)
		require.True(t, r.Apply(turn))
	}
}

func TestTheSideThatGainsMoreVotesWins(t *testing.T) {
	for _, tt := range []struct{ name, before, after, winner, text string }{
		{"for gains", "undecided against for for", "for for for for", "for", "The side for the motion wins: it gained more votes.\nFor: 2 before, 4 after (+2)\nAgainst: 1 before, 0 after (-1)\nUndecided: 1 before, 0 after (-1)"},
		{"the minority wins if it gains", "for for for undecided", "for for against against", "against", "The side against the motion wins"},
		{"both gain the same", "undecided undecided for against", "for against for against", "", "Nobody wins: both sides gained the same number of votes."},
		{"both lose, one less", "for for against against", "undecided undecided undecided against", "against", "The side against"},
		{"a default does not count", "! against for undecided", "for for for !", "for", "For: 1 before, 2 after (+1)\nAgainst: 1 before, 0 after (-1)\nUndecided: 0 before, 0 after (+0)\nNot counted, because a valid vote is missing: 2 of 4 members of the audience."},
		{"nobody counts", "! ! ! !", "for for for for", "", "Nobody wins"},
		{"no vote yet", "- - - -", "for - - -", "", "4 of 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, r := panel.Protocol{Format: panel.Oxford}, oxford("for", "against")
			poll(t, r, transcript.Setup, "audience-before", tt.before)
			r.Cursor.Round = 3
			require.Zero(t, p.Answer(r))
			poll(t, r, transcript.Conclusion, "audience-after", tt.after)
			answer := p.Answer(r)
			require.Contains(t, answer.Text, tt.text)
			answer.Type = p.Name()
			a, err := panel.DecodeAudience(answer)
			require.NoError(t, err)
			require.Equal(t, tt.winner, a.Winner)
			require.Equal(t, len(a.Members), a.Before.For+a.Before.Against+a.Before.Undecided)
			_, err = panel.DecodeAnswer(answer)
			require.EqualError(t, err, "decode answer: it is the vote of an audience, use DecodeAudience")
		})
	}
	_, err := panel.DecodeAudience(protocol.Answer{Type: "panel/1", Data: json.RawMessage(`{"value":{"summary":"So."}}`)})
	require.EqualError(t, err, "decode answer: it is a verdict, use DecodeAnswer")
	_, err = panel.DecodeAudience(protocol.Answer{})
	require.ErrorContains(t, err, "there is none yet")
}

// A member that drops out after its first vote is counted as missing.
func TestAMemberOfTheAudienceDropsOut(t *testing.T) {
	p, r := panel.Protocol{Format: panel.Oxford}, oxford("for", "against")
	poll(t, r, transcript.Setup, "audience-before", "undecided undecided undecided undecided")
	r.Cursor.Round = 3
	r.Drop(r.Judges[1])
	poll(t, r, transcript.Conclusion, "audience-after", "for for for")
	require.Contains(t, p.Answer(r).Text, "For: 0 before, 3 after (+3)")
	require.Contains(t, p.Answer(r).Text, "Not counted, because a valid vote is missing: 1 of 4 members of the audience.")
}

func TestVotesAreValidated(t *testing.T) {
	for text, want := range map[string]string{
		`{"reasoning":"so","vote":"for"}`:       "Vote: for. so",
		`{"reasoning":"so","vote":"undecided"}`: "Vote: undecided. so",
		`{"reasoning":"so","vote":"maybe"}`:     "",
		`{"reasoning":"so"}`:                    "",
	} {
		got, err := panel.AudienceContract.Parse(text, nil)
		require.Equal(t, want == "", err != nil, text)
		require.Equal(t, want, got.Text)
	}
	safe, ok := panel.AudienceContract.Default(nil)
	require.True(t, ok)
	require.Contains(t, safe.Text, "This one does not count")
}
