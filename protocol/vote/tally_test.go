package vote_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/transcript"
)

func TestWhatAVoteComesTo(t *testing.T) {
	for _, tt := range []struct {
		name     string
		decision vote.DecisionRule
		rounds   []string
		judge    string // the winner that the judge names; empty without a judge
		asked    bool
		want     string
		by       vote.DecisionRule
		tie      bool
	}{
		{"all agree", "", []string{"4 4 4 4"}, "", false, "4", vote.Majority, false},
		{"most agree", "", []string{"4 4 4 5"}, "", false, "4", vote.Majority, false},
		{"the most of few", "", []string{"4 5 5 6"}, "", false, "5", vote.Majority, false},
		{"the last round counts", "", []string{"4 4 4 5", "5 5 5 4"}, "", false, "5", vote.Majority, false},
		{"confidence parts equals", vote.Majority, []string{"4@60 4@60 5@90 5@90"}, "", false, "5", vote.Majority, false},
		{"votes outweigh confidence", vote.Majority, []string{"4@2 4@2 4@2 5@100"}, "", false, "4", vote.Majority, false},
		{"a tie is a tie", vote.Majority, []string{"4 4 5 5"}, "", false, "", "", true},
		{"everyone else's is a tie", "", []string{"4 5 6 7"}, "", false, "", "", true},
		{"a judge breaks a tie", "", []string{"4 4 5 5"}, "c", true, "5", vote.Judge, true},
		{"a judge that is not needed", "", []string{"4 4 4 5"}, "d", false, "4", vote.Majority, false},
		{"no answer counts for nothing", "", []string{"- - ! 5"}, "", false, "5", vote.Majority, false},
		{"no answers", "", []string{"- - - !"}, "", false, "", "", false},
		{"no answers, with a judge", vote.Judge, []string{"- - - !"}, "a", false, "", "", false},
		{"an answer is lost", "", []string{"4 5 5 6", "4 - - 6@90"}, "", false, "6", vote.Majority, false},
		{"who dropped out has no vote", "", []string{"4 4 5 5@60", "4 x 5 5"}, "", false, "5", vote.Majority, false},
		{"confidence outweighs votes", vote.Confidence, []string{"4@20 4@20 4@20 5@90"}, "", false, "5", vote.Confidence, false},
		{"votes part equals", vote.Confidence, []string{"4@40 4@40 5@80 -"}, "", false, "4", vote.Confidence, false},
		{"a tie of confidence", vote.Confidence, []string{"4@40 5@40 - -"}, "", false, "", "", true},
		{"a default does not count", vote.Confidence, []string{"4@10 ! ! !"}, "", false, "4", vote.Confidence, false},
		{"no confidence at all", vote.Confidence, []string{"4@0 4@0 5@0 -"}, "", false, "4", vote.Confidence, false},
		{"the judge decides", vote.Judge, []string{"4 4 4 5"}, "d", true, "5", vote.Judge, false},
		{"the judge is not asked where all agree", vote.Judge, []string{"4 4 4 4"}, "d", false, "4", vote.Majority, false},
		{"the judge names nobody", vote.Judge, []string{"4 4 4 5"}, "none", true, "4", vote.Majority, false},
		{"the judge names a stranger", vote.Judge, []string{"4 4 4 5"}, "zoe", true, "4", vote.Majority, false},
		{"the judge names one without an answer", vote.Judge, []string{"4 4 5 -"}, "d", true, "4", vote.Majority, false},
		{"the judge gives up on a tie", vote.Judge, []string{"4 4 5 5"}, "none", true, "", "", true},
		{"the judge has dropped out", vote.Judge, []string{"4 4 4 5"}, "", false, "4", vote.Majority, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := convene(t, vote.Protocol{Decision: tt.decision}, "a", "b", "c", "d")
			if tt.judge != "" {
				h.Judges = []string{"j"}
			}
			for _, words := range tt.rounds {
				h.round(words)
			}
			require.Equal(t, tt.asked, h.conclude(tt.judge))
			got := h.tally()
			require.Equal(t, tt.want, got.Answer)
			require.Equal(t, tt.by, got.Decision)
			require.Equal(t, tt.tie, got.Tie)
		})
	}
}

func TestTheTallyTellsWhatHappened(t *testing.T) {
	h := convene(t, vote.Protocol{Unanimity: vote.Stop}, "Ann", "Bob", "Cy", "Di")
	require.Equal(t, protocol.Answer{}, h.p.Answer(&h.Record), "nothing was said yet")
	h.round("Paris@90 Lyon@50 paris.@70 x")
	h.round("PARIS@95 Paris@60 -")
	require.JSONEq(t, `{
		"answer":"paris","answer_text":"PARIS","decision":"majority",
		"answers":[{"answer":"paris","answer_text":"PARIS","votes":2,"total_confidence":155,"agents":["Ann","Bob"]}],
		"agents":[
			{"name":"Ann","answers":["paris","paris"],"answer_text":"PARIS","confidence":95},
			{"name":"Bob","answers":["lyon","paris"],"answer_text":"Paris","confidence":60,"changed":true},
			{"name":"Cy","answers":["paris",""],"confidence":0}]}`, string(h.p.Answer(&h.Record).Data))
	h.round("Paris Paris Paris")
	require.Equal(t, []int{3}, h.tally().Unanimous)
	require.Equal(t, "Answer: Paris (by majority)\n"+
		"Paris: 3 votes, total confidence 150 (Ann, Bob, Cy)\n"+
		"Changed their minds: Bob\n"+
		"Unanimous in round 3.", h.p.Answer(&h.Record).Text)
}

func TestTheTallyInWords(t *testing.T) {
	for _, tt := range []struct{ name, words, want string }{
		{
			"a tie", "4@80 5@80 !",
			"No answer: the vote is a tie.\n4: 1 vote, total confidence 80 (a)\n5: 1 vote, total confidence 80 (b)\nWithout an answer: c",
		},
		{"nothing", "- - !", "No answer: nobody gave one.\nWithout an answer: a, b, c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := convene(t, vote.Protocol{}, "a", "b", "c")
			h.round(tt.words)
			require.Equal(t, tt.want, h.p.Answer(&h.Record).Text)
		})
	}
}

// After an incomplete round, the answers are from two rounds, and a judge decides among them.
func TestAJudgeDecidesWhereARoundWasCutShort(t *testing.T) {
	h := convene(t, vote.Protocol{}, "a", "b", "c", "j*")
	h.round("4 4 5")
	h.Cursor.Round++
	h.enter(transcript.Speech)
	h.Say(h.Next()[0], ballot("6"))
	h.enter(transcript.Conclusion)
	steps := h.Next()
	require.Len(t, steps, 1)
	require.Equal(t, "a2 b1 c1", h.seen(steps[0]))
	require.True(t, steps[0].Blind)
	h.Say(steps[0], `{"reasoning":"so it is","winner":"B"}`)
	got := h.tally()
	require.Equal(t, "4", got.Answer)
	require.Equal(t, vote.Judge, got.Decision)
	require.Equal(t, []string{"4", "6"}, got.Agents[0].Answers)
}

// Budgets, which are checked before a round, must reserve enough for a judge that may be needed.
func TestTheConclusionIsPlannedForBeforeARound(t *testing.T) {
	h := convene(t, vote.Protocol{}, "a", "b", "c", "j*")
	conclusion := func() int { return len(h.p.Phases(&h.Record)) }
	h.enter(transcript.Conclusion)
	require.Equal(t, 1, conclusion(), "nothing was said")
	h.round("4 4 4")
	h.enter(transcript.Conclusion)
	require.Zero(t, conclusion(), "nothing to decide")
	h.Cursor.Round++
	require.Equal(t, 1, conclusion(), "the next round may bring a tie")
}

func TestAnExtractorOfOnesOwnReadsTheAnswers(t *testing.T) {
	p := vote.Protocol{Unanimity: vote.Stop, Extract: "first letter", Extractor: func(t transcript.Turn) string {
		b, _ := transcript.Decode[vote.Ballot](t)
		return b.Answer[:min(1, len(b.Answer))]
	}}
	h := convene(t, p, "a", "b")
	h.round("yes yeah")
	require.Equal(t, transcript.Unanimous, h.p.End(&h.Record).Outcome)
	got := h.tally()
	require.Equal(t, "y", got.Answer)
	require.Equal(t, "yes", got.AnswerText)
	h.p.Extractor = own
	h.round("yes !")
	require.Equal(t, 1, h.tally().Answers[0].Votes, "the extractor is not called for a default")
	h.p = vote.Protocol{Extract: "first letter"}
	require.Empty(t, h.tally().Answer, "without the function nothing is read, and nothing else in its place")
}

// Several judges decide by majority: on an answer, whichever agent they name for it.
func TestSeveralJudgesDecideByMajority(t *testing.T) {
	for _, tt := range []struct {
		name, words string
		winners     []string
		answer      string
		by          vote.DecisionRule
		dissent     []string
	}{
		{"two of three", "4 4 5", []string{"c", "a", "c"}, "5", vote.Judge, []string{"k: 4: because"}},
		{"for one answer of two agents", "4 4 5", []string{"a", "b", "c"}, "4", vote.Judge, []string{"l: 5: because"}},
		{"one of three has no valid reply", "4 4 5", []string{"!", "c", "c"}, "5", vote.Judge, nil},
		{"no majority, so the vote decides", "4 4 5", []string{"a", "c", "!"}, "4", vote.Majority, []string{"k: 5: because"}},
		{"no majority in a tie", "4 5 -", []string{"a", "b", "!"}, "", "", []string{"j: 4: because", "k: 5: because"}},
		{"two of three name nobody", "4 4 5", []string{"", "", "c"}, "4", vote.Majority, []string{"l: 5: because"}},
		{"no valid reply", "4 4 5", []string{"!", "!", "!"}, "4", vote.Majority, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := convene(t, vote.Protocol{Decision: vote.Judge}, "a", "b", "c", "j*", "k*", "l*")
			h.round(tt.words)
			got := h.rule(tt.winners...)
			require.Equal(t, tt.answer, got.Answer)
			require.Equal(t, tt.by, got.Decision)
			require.Equal(t, tt.dissent, got.Dissent)
			for _, line := range tt.dissent {
				require.Contains(t, h.p.Answer(&h.Record).Text, "Dissent: "+line)
			}
		})
	}
}
