package panel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/transcript"
)

// talk commits the speeches of a round and its assessment by j1, and returns who was the devil's advocate.
func talk(t *testing.T, p panel.Protocol, r *protocol.Record, word string) (advocate string) {
	t.Helper()
	r.Cursor.Round++
	r.Cursor.Stage = transcript.Speech
	r.StartPhase("respond", r.Seq+1)
	for _, s := range p.Phases(r)[0].Steps {
		if s.Target != "" {
			require.Equal(t, "devils-advocate", s.Prompt)
			advocate = s.Actor
		}
		require.True(t, r.Apply(transcript.Turn{Key: transcript.Key{Run: 1, Round: r.Cursor.Round, Phase: "respond", Actor: s.Actor, Target: s.Target}, Kind: transcript.Speech, Seq: r.Seq + 1}))
	}
	r.Cursor.Stage = transcript.Assessment
	r.StartPhase("assess", r.Seq+1)
	a := turn(t, word)
	a.Key = transcript.Key{Run: 1, Round: r.Cursor.Round, Phase: "assess", Actor: "j1"}
	a.Kind = transcript.Assessment
	a.Seq = r.Seq + 1
	a.Contract = "assessment/1"
	require.True(t, r.Apply(a))
	return advocate
}

func TestADevilsAdvocateOpposesAConsensus(t *testing.T) {
	p, r := panel.Protocol{Format: panel.ConvergenceSeeking, DevilsAdvocate: true}, record(3, 1)
	require.Empty(t, talk(t, p, r, agreed), "nobody opposes in round 1")
	require.Zero(t, p.End(r), "the consensus must withstand an objection")
	require.Equal(t, "p1", talk(t, p, r, on))
	require.Zero(t, p.End(r), "it did not")
	require.Empty(t, talk(t, p, r, done))
	require.Zero(t, p.End(r), "whatever else the judge says")
	require.Equal(t, "p3", talk(t, p, r, agreed), "round 4 is the third participant's")
	require.Equal(t, transcript.Converged, p.End(r).Outcome)
	require.Equal(t, "p1", talk(t, p, r, enough), "and then it is the first one's turn again")
	require.Equal(t, transcript.JudgeDecided, p.End(r).Outcome)

	without := panel.Protocol{Format: panel.ConvergenceSeeking}
	r = record(3, 1)
	talk(t, without, r, agreed)
	require.Equal(t, transcript.Converged, without.End(r).Outcome)
	require.Empty(t, talk(t, without, r, agreed))
}

// A participant that drops out during a round does not make another one the advocate, who may have spoken already.
func TestADropOutDoesNotChangeTheAdvocate(t *testing.T) {
	p, r := panel.Protocol{DevilsAdvocate: true}, record(3, 1)
	talk(t, p, r, agreed)
	r.Cursor.Round, r.Cursor.Stage = 2, transcript.Speech
	r.Drop("p1")
	for _, s := range p.Phases(r)[0].Steps {
		require.Empty(t, s.Target)
	}
}

func TestTheAdvocatesPromptIsKnownBefore(t *testing.T) {
	var got []string
	for _, s := range (panel.Protocol{DevilsAdvocate: true}).Steps(record(2, 1)) {
		got = append(got, s.Actor+" "+s.Phase+" "+s.Prompt+" "+s.Vars["advocate"])
	}
	require.Equal(t, []string{"p1 respond devils-advocate yes", "p2 respond devils-advocate yes"}, got)
	require.Empty(t, panel.Protocol{}.Steps(record(2, 1)))
}

func TestJudgesRotate(t *testing.T) {
	p, r := panel.Protocol{RotateJudges: true}, record(2, 3)
	r.Cursor.Stage = transcript.Assessment
	for round, want := range []string{"j1", "j1", "j2", "j3", "j1"} {
		r.Cursor.Round = round
		require.Equal(t, []string{"assess at once: " + want + " assess assessment/1"}, outline(p.Phases(r)), round)
	}
	r.Cursor.Round = 3
	r.Drop("j3")
	require.Equal(t, []string{"assess at once: j1 assess assessment/1"}, outline(p.Phases(r)), "those who are left rotate")
	r.Cursor.Stage = transcript.Conclusion
	require.Len(t, outline(p.Phases(r)), 2, "all give a verdict")
	r.Judges = nil
	r.Cursor.Stage = transcript.Assessment
	require.Empty(t, outline(p.Phases(r)))
	r.Judges = []string{"j1"}
	require.Empty(t, p.Check(r), "judges may drop out")
}
