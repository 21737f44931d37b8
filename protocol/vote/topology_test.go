package vote_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/transcript"
)

func TestWhoSeesWhom(t *testing.T) {
	graph := map[string][]string{"a": {"b", "e"}, "b": {"b"}}
	for _, tt := range []struct {
		name   string
		p      vote.Protocol
		rounds []string // earlier rounds
		want   []string // visible turns of each active agent
	}{
		{"in round 1 agents see no one", vote.Protocol{}, nil, []string{"", "", "", "", ""}},
		{
			"full",
			vote.Protocol{},
			[]string{"1 1 1 1 1"},
			[]string{"a1 b1 c1 d1 e1", "a1 b1 c1 d1 e1", "a1 b1 c1 d1 e1", "a1 b1 c1 d1 e1", "a1 b1 c1 d1 e1"},
		},
		{
			"only the previous round",
			vote.Protocol{Topology: vote.Full},
			[]string{"1 1 1 1 1", "1 1 x 1 1"},
			[]string{"a2 b2 d2 e2", "a2 b2 d2 e2", "a2 b2 d2 e2", "a2 b2 d2 e2"},
		},
		{"ring", vote.Protocol{Topology: vote.Ring}, []string{"1 1 1 1 1"}, []string{"a1 b1 e1", "a1 b1 c1", "b1 c1 d1", "c1 d1 e1", "a1 d1 e1"}},
		{"a ring closes", vote.Protocol{Topology: vote.Ring}, []string{"1 1 1 1 x", "1 x 1 1"}, []string{"a2 c2 d2", "a2 c2 d2", "a2 c2 d2"}},
		{"star", vote.Protocol{Topology: vote.Star}, []string{"1 1 1 1 1"}, []string{"a1 b1 c1 d1 e1", "a1 b1", "a1 c1", "a1 d1", "a1 e1"}},
		{"a star has a new centre", vote.Protocol{Topology: vote.Star}, []string{"x 1 1 1 1"}, []string{"b1 c1 d1 e1", "b1 c1", "b1 d1", "b1 e1"}},
		{"groups", vote.Protocol{Topology: vote.Groups}, []string{"1 1 1 1 1"}, []string{"a1 b1 c1", "a1 b1 c1", "a1 b1 c1", "d1 e1", "d1 e1"}},
		{
			"between groups",
			vote.Protocol{Topology: vote.Groups},
			[]string{"1 1 1 1 x", "1 1 1 1"},
			[]string{"a2 b2 c2 d2", "a2 b2 c2 d2", "a2 b2 c2 d2", "a2 b2 c2 d2"},
		},
		{
			"groups stay as they were",
			vote.Protocol{Topology: vote.Groups},
			[]string{"1 1 1 1 1", "1 1 1 x 1", "1 1 1 1"},
			[]string{"a3 b3 c3", "a3 b3 c3", "a3 b3 c3", "e3"},
		},
		{"a given graph", vote.Protocol{Topology: vote.Graph, Graph: graph}, []string{"1 1 1 1 1"}, []string{"a1 b1 e1", "b1", "c1", "d1", "e1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := convene(t, tt.p, "a", "b", "c", "d", "e")
			for _, words := range tt.rounds {
				h.round(words)
			}
			h.Cursor.Round++
			h.enter(transcript.Speech)
			var got []string
			for _, s := range h.Next() {
				got = append(got, h.seen(s))
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// The visible turns of a phase do not depend on who drops out during the phase.
func TestADropOutInARoundChangesNothingInIt(t *testing.T) {
	for _, p := range []vote.Protocol{{}, {Topology: vote.Ring}, {Topology: vote.Star}, {Topology: vote.Groups}} {
		h := convene(t, p, "a", "b", "c", "d", "e")
		h.round("1 1 1 1 1")
		h.Cursor.Round++
		h.enter(transcript.Speech)
		before := map[string]string{}
		for _, s := range h.Next() {
			before[s.Actor] = h.seen(s)
		}
		h.Drop("a")
		h.Say(h.Next()[1], ballot("1"))
		for _, s := range h.Next() {
			require.Equal(t, before[s.Actor], h.seen(s), "%s %s", p.Topology, s.Actor)
		}
	}
}

func TestRemarksAreForAll(t *testing.T) {
	h := convene(t, vote.Protocol{Topology: vote.Star}, "a", "b", "c")
	h.round("1 1 1")
	h.Apply(transcript.Turn{
		Key: transcript.Key{Run: 1, Round: 1, Phase: "remark", Actor: "guest", Target: "1"}, Kind: transcript.Remark, Order: h.RemarkOrder(), Seq: h.Seq + 1,
	})
	h.Cursor.Round++
	h.enter(transcript.Speech)
	for _, s := range h.Next() {
		require.True(t, strings.HasSuffix(h.seen(s), "guest1"), s.Actor)
	}
}
