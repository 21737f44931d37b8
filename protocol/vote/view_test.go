package vote_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/protocoltest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/transcript"
)

// revise begins the next round and returns what each agent that takes part sees, as "a: a1 b1".
func (h *hall) revise() (list []string) {
	h.T.Helper()
	h.Cursor.Round++
	h.enter(transcript.Speech)
	for _, s := range h.Next() {
		list = append(list, s.Actor+": "+h.seen(s))
	}
	return list
}

// reason commits ballots of "reasoning@answer" to the steps of the next round.
func (h *hall) reason(words ...string) {
	h.T.Helper()
	h.Cursor.Round++
	h.enter(transcript.Speech)
	for i, s := range h.Next() {
		reasoning, answer, _ := strings.Cut(words[i], "@")
		h.Say(s, fmt.Sprintf(`{"reasoning":%q,"answer":%q,"confidence":50}`, reasoning, answer))
	}
}

func TestFilter(t *testing.T) {
	ballots := []string{"add them up@1", "Add them, up.@1", "count the rest@1", "guess@2", "look at it@2"}
	for _, tt := range []struct {
		name string
		p    vote.Protocol
		want []string
	}{
		{"none", vote.Protocol{}, []string{"a: a1 b1 c1 d1 e1", "b: a1 b1 c1 d1 e1", "c: a1 b1 c1 d1 e1", "d: a1 b1 c1 d1 e1", "e: a1 b1 c1 d1 e1"}},
		{"by answers", vote.Protocol{Filter: new(0.0)}, []string{"a: a1 d1", "b: b1 d1", "c: c1 d1", "d: a1 d1", "e: a1 e1"}},
		{"by words too", vote.Protocol{Filter: new(0.9)}, []string{"a: a1 c1 d1 e1", "b: b1 c1 d1 e1", "c: a1 c1 d1 e1", "d: a1 c1 d1 e1", "e: a1 c1 d1 e1"}},
		{"of those that the topology shows", vote.Protocol{Filter: new(0.0), Topology: vote.Ring}, []string{"a: a1 e1", "b: b1", "c: c1 d1", "d: c1 d1", "e: a1 e1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := convene(t, tt.p, "a", "b", "c", "d", "e")
			h.reason(ballots...)
			require.Equal(t, tt.want, h.revise())
		})
	}
}

func TestAStatementWithoutAnAnswerIsNotRedundant(t *testing.T) {
	h := convene(t, vote.Protocol{Filter: new(0.0)}, "a", "b", "c")
	h.round("- - 1")
	require.Equal(t, []string{"a: a1 b1 c1", "b: a1 b1 c1", "c: a1 b1 c1"}, h.revise())
}

func TestConditionalParticipation(t *testing.T) {
	for _, tt := range []struct {
		name   string
		p      vote.Protocol
		rounds []string
		want   []string
	}{
		{"all differ from someone", vote.Protocol{Conditional: true}, []string{"1 1 1 2"}, []string{"a: a1 b1 c1 d1", "b: a1 b1 c1 d1", "c: a1 b1 c1 d1", "d: a1 b1 c1 d1"}},
		{"nobody differs", vote.Protocol{Conditional: true}, []string{"1 1 1 1"}, nil},
		{"who sees nothing new stays out", vote.Protocol{Conditional: true, Topology: vote.Ring}, []string{"1 1 1 2"}, []string{"a: a1 b1 d1", "c: b1 c1 d1", "d: a1 c1 d1"}},
		{"its answer stands", vote.Protocol{Conditional: true, Topology: vote.Ring}, []string{"1 1 1 2", "2 2 2"}, []string{"a: a2 b1 d2", "b: a2 b1 c2", "c: b1 c2 d2"}},
		{"the groups agree, each with itself", vote.Protocol{Conditional: true, Topology: vote.Groups}, []string{"1 1 2 2", ""}, []string{"a: a1 b1 c1 d1", "b: a1 b1 c1 d1", "c: a1 b1 c1 d1", "d: a1 b1 c1 d1"}},
		{"who has no answer tries again", vote.Protocol{Conditional: true}, []string{"1 - 1 1"}, []string{"b: a1 b1 c1 d1"}},
		{"who dropped out is not seen", vote.Protocol{Conditional: true}, []string{"1 1 1 2", "1 1 1 x"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := convene(t, tt.p, "a", "b", "c", "d")
			h.MaxRounds = 9
			for _, words := range tt.rounds {
				h.round(words)
			}
			require.Equal(t, tt.want, h.revise())
		})
	}
}

// The agents that do not take part count for unanimity, and no judge is asked because of them.
func TestAnAnswerThatStandsCounts(t *testing.T) {
	h := convene(t, vote.Protocol{Conditional: true, Topology: vote.Ring}, "a", "b", "c", "d", "j*")
	h.MaxRounds = 9
	h.round("1 1 1 2")
	h.round("2 2 2")
	require.Empty(t, h.p.End(&h.Record), "b still says 1")
	require.False(t, h.conclude("a"), "three to one is no tie, and the round is complete")
	tally := h.tally()
	require.Equal(t, "2", tally.Answer)
	require.Equal(t, []string{"1"}, tally.Agents[1].Answers)
	require.Empty(t, tally.Unanimous)

	h.round("2 2 2")
	require.Equal(t, transcript.Unanimous, h.p.End(&h.Record).Outcome)
	require.Equal(t, []int{3}, h.tally().Unanimous)
}

func TestGroups(t *testing.T) {
	of := func(p vote.Protocol, rounds ...string) (list []string) {
		p.Grouped = true
		h := convene(t, p, "a", "b", "c", "d")
		h.MaxRounds = 9
		for _, words := range rounds {
			h.round(words)
		}
		h.Cursor.Round++
		h.enter(transcript.Speech)
		for _, s := range h.Next() {
			list = append(list, s.Vars["groups"])
		}
		return list
	}
	all := "- b (70 %), c (100 %)\n- a (60 %)"
	require.Equal(t, []string{all, all, all, all}, of(vote.Protocol{}, "1@60 2@70 2@100 -"))
	require.Equal(t, []string{
		"- a (60 %)\n- b (70 %)\n- d (5 %)", "- b (70 %), c (100 %)\n- a (60 %)", "- b (70 %), c (100 %)\n- d (5 %)", "- a (60 %)\n- c (100 %)\n- d (5 %)",
	}, of(vote.Protocol{Topology: vote.Ring}, "1@60 2@70 2@100 3@5"))
	require.Equal(t, []string{"", "", "", ""}, of(vote.Protocol{}), "in round 1 there are none")

	h := convene(t, vote.Protocol{Grouped: true}, "a", "b")
	h.Cursor.Round = 2
	h.enter(transcript.Speech)
	require.Equal(t, "- a (100 %)\n- b (100 %)", h.Next()[0].Vars["groups"], "the longest, before there are answers")
}

func TestAnAgentSeesWhatConvincedOthers(t *testing.T) {
	p := vote.Protocol{Convincing: map[string][]string{"b": {"B1", "B2"}, "a": {"A1"}, "c": {"C1"}}}
	h := convene(t, p, "a", "b", "c")
	h.Cursor.Round = 1
	h.enter(transcript.Speech)
	var got []string
	for _, s := range h.Next() {
		got = append(got, s.Vars["convincing"])
	}
	require.Equal(t, []string{"B1\n\nB2\n\nC1", "A1\n\nC1", "A1\n\nB1\n\nB2"}, got)
}

func TestRescaling(t *testing.T) {
	for confidence, want := range map[string]float64{"0": 10, "60": 10, "61": 30, "79": 30, "80": 50, "89": 50, "90": 80, "99": 80, "100": 100} {
		h := convene(t, vote.Protocol{Rescale: true}, "a", "b")
		h.round("1@" + confidence + " -")
		tally := h.tally()
		require.Equal(t, want, tally.Answers[0].TotalConfidence, confidence)
		require.Equal(t, confidence, fmt.Sprint(tally.Agents[0].Confidence), "the agent's confidence is as given")
	}
	h := convene(t, vote.Protocol{Decision: vote.Confidence}, "a", "b", "c")
	h.round("1@100 2@60 2@60")
	require.Equal(t, "2", h.tally().Answer)
	h.p.Rescale = true
	require.Equal(t, "1", h.tally().Answer, "one certain agent outweighs two that are not")
}

func TestSamples(t *testing.T) {
	p := vote.Protocol{Samples: 5}
	require.Equal(t, protocol.Defaults{MaxRounds: 1}, p.Defaults())
	h := convene(t, p, "Ann")
	require.Empty(t, p.Check(&h.Record))
	h.round("7 8 7 ! 9")
	tally := h.tally()
	require.Equal(t, "7", tally.Answer)
	require.Equal(t, []string{"Ann 1", "Ann 3"}, tally.Answers[0].Agents)
	require.Len(t, tally.Agents, 5)
	require.Empty(t, tally.Unanimous)
	require.Contains(t, h.p.Answer(&h.Record).Text, "Without an answer: Ann 4")

	same := convene(t, vote.Protocol{Samples: 3}, "Ann")
	same.round("7 7 7")
	require.Equal(t, []int{1}, same.tally().Unanimous)

	two := convene(t, vote.Protocol{Samples: 2}, "Ann", "Bob")
	two.round("7 7 8 9")
	require.Equal(t, "7", two.tally().Answer)
}

// If an agent drops out, none of its samples counts, whenever they were given.
func TestSamplesOfADroppedAgent(t *testing.T) {
	h := convene(t, vote.Protocol{Samples: 3}, "Ann", "Bob")
	h.round("5 x 5 6 6 7")
	require.Equal(t, []string{"Ann"}, h.Dropped)
	got := h.tally()
	require.Equal(t, "6", got.Answer)
	require.Len(t, got.Answers, 2)
	require.Equal(t, []string{"Bob 1", "Bob 2"}, got.Answers[0].Agents)
	require.Equal(t, []string{"Bob 3"}, got.Answers[1].Agents)
}

// The prompts of ReConcile with a filter, and of a single agent's samples.
func TestPromptsOfTheVariants(t *testing.T) {
	h := convene(t, vote.Protocol{
		Grouped: true, Filter: new(0.0), Extract: "number",
		Convincing: map[string][]string{"Bob": {"Question: How far is the Moon?\nExplanation: Light takes 1.28 s, at 300,000 km/s.\nAnswer: 384,000 km"}},
	}, "Ann", "Bob", "Cy")
	h.round("8@60 8@90 9")
	h.Cursor.Round++
	h.enter(transcript.Speech)
	s := h.Next()[0]
	system, user := protocoltest.Render(t, s.Prompt, data(s))
	golden.Require(t, "testdata/vote-agent-convincing.golden", system+"\n")
	golden.Require(t, "testdata/vote-revise-groups.golden", user+"\n")
}
