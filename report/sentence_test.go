package report_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/report"
)

// opinion returns the verdict of one judge.
func opinion(name, winner string, swapped bool) judge.Opinion[judge.Verdict] {
	return judge.Opinion[judge.Verdict]{Judge: name, Swapped: swapped, Value: judge.Verdict{Summary: "Well.", Winner: winner}}
}

// jury returns the joint verdict of judges.
func jury(winner string, opinions ...judge.Opinion[judge.Verdict]) judge.Opinion[judge.Verdict] {
	return judge.Opinion[judge.Verdict]{Value: judge.Verdict{Summary: "Well.", Winner: winner}, Opinions: opinions}
}

// audience returns the vote of an audience, with the last votes of its members.
func audience(winner string, before, after panel.Votes, last ...string) any {
	a := panel.Audience{Winner: winner, Before: before, After: after}
	for i, v := range last {
		a.Members = append(a.Members, panel.AudienceMember{Name: string(rune('A' + i)), After: v})
	}
	return map[string]any{"audience": a}
}

// Each kind of result has a sentence of its own, also where it is close, contested or incomplete.
func TestSentences(t *testing.T) {
	score := 6.0
	for want, answer := range map[string]struct {
		protocol string
		data     any
	}{
		"Ada won; the judge is Jo.":                                     {panel.Protocol{}.Name(), jury("Ada", opinion("Jo", "Ada", false))},
		"Ada won; both judges agree.":                                   {panel.Protocol{}.Name(), jury("Ada", opinion("Jo", "Ada", false), opinion("Jay", "Ada", false))},
		"Ada won; 1 of 2 judges chose Ada; Jay chose nobody.":           {panel.Protocol{}.Name(), jury("Ada", opinion("Jo", "Ada", false), opinion("Jay", "", false))},
		"Nobody won; 1 of 2 judges chose nobody; Jo chose Ada.":         {panel.Protocol{}.Name(), jury("", opinion("Jo", "Ada", false), opinion("Jay", "", false))},
		"Nobody won; the judges do not agree: A chose B and B chose A.": {panel.Protocol{}.Name(), jury("", opinion("A", "B", false), opinion("B", "A", false))},
		"Nobody won; the judge does not agree with itself: Jo chose Ada and Jo, with the participants in reversed order, chose Bo.": {
			panel.Protocol{}.Name(), jury("", opinion("Jo", "Ada", false), opinion("Jo", "Bo", true)),
		},
		"Bo won.": {"another/1", judge.Verdict{Summary: "Well.", Winner: "Bo"}},
		"The debate has ended by round limit in round 2.": {"another/1", []string{"no verdict"}},

		"Nobody won the audience: the votes for went from 1 to 1; those against went from 1 to 1.": {
			panel.Protocol{}.Name(), audience("", panel.Votes{For: 1, Against: 1}, panel.Votes{For: 1, Against: 1}, "for", "against"),
		},
		"The side “against” won the audience: the votes against went from 0 to 2; those for went from 2 to 1; at the end, C voted for.": {
			panel.Protocol{}.Name(), audience("against", panel.Votes{For: 2}, panel.Votes{For: 1, Against: 2}, "against", "against", "for"),
		},
		"The side “for” won the audience: the votes for went from 0 to 3; those against went from 3 to 0; at the end, all 3 members voted for.": {
			panel.Protocol{}.Name(), audience("for", panel.Votes{Against: 3}, panel.Votes{For: 3}, "for", "for", "for"),
		},
		"The side “for” won the audience: the votes for went from 0 to 1; those against went from 1 to 0; at the end, the only member voted for.": {
			panel.Protocol{}.Name(), audience("for", panel.Votes{Against: 1}, panel.Votes{For: 1}, "for"),
		},

		"Nobody won, with scores of Ada 6 and Bo 6 of 10; 1 judge dissents.": {procon.Protocol{}.Name(), procon.Judgment{
			Summary: "Well.", Participants: []procon.ParticipantScore{{Name: "Ada", Score: 6}, {Name: "Bo", Score: 6}}, Dissent: []string{"Jo: Ada won"},
		}},
		"The vote has no winner: 2 different answers.": {vote.Protocol{}.Name(), vote.Tally{Answers: []vote.AnswerVotes{{Answer: "1", Votes: 1}, {Answer: "2", Votes: 1}}}},
		"The answer is “One”, with 1 of 2 votes; mean confidence 80 of 100; there was a tie, decided by confidence; Bo voted “Two”.": {vote.Protocol{}.Name(), vote.Tally{
			Answer: "1", AnswerText: "One", Decision: "confidence", Tie: true,
			Answers: []vote.AnswerVotes{{Answer: "1", AnswerText: "One", Votes: 1, TotalConfidence: 80, Agents: []string{"Ada"}}, {Answer: "2", AnswerText: "Two", Votes: 1, Agents: []string{"Bo"}}},
		}},
		"The answer is “One”, with 2 of 2 votes; mean confidence 80 of 100; decided by judge; nobody voted otherwise.": {vote.Protocol{}.Name(), vote.Tally{
			Answer: "1", AnswerText: "One", Decision: "judge", Answers: []vote.AnswerVotes{{Answer: "1", AnswerText: "One", Votes: 2, TotalConfidence: 160, Agents: []string{"Ada", "Bo"}}},
		}},
		"The total score did not change: it is 12 of 20.": {arbitration.Protocol{}.Name(), arbitration.Result{
			Scale: 20, Scores: []arbitration.ScoreChange{{Category: "team", Before: 12, After: 12}}, Total: arbitration.ScoreChange{Before: 12, After: 12},
		}},
		"The answer is “Tax them.”; it is by the chair, Jo; the members ranked the answer of Ada and Bo first, with a score of 0.5 of 1 from 2 rankings; Cy prefers that of Dee.": {council.Protocol{}.Name(), council.Result{
			Answer: "Tax them.", By: "Jo", Standings: []council.Standing{{Member: "Ada", Place: 1, Score: 0.5}, {Member: "Bo", Place: 1, Score: 0.5}, {Member: "Dee", Place: 3}},
			Rankings: []council.MemberRanking{{Member: "Ada", Best: []string{"Dee", "Bo"}}, {Member: "Cy", Best: []string{"Dee", "Ada"}}},
		}},
		"The answer is “Five”, decided by the moderator after 1 round; it is nobody's last answer.": {mad.Protocol{}.Name(), mad.Result{
			Answer: "Five", DecidedBy: "moderator", Rounds: []mad.RoundResult{{Round: 1}},
		}},
		"The skeptic does not consider the answer ready, with a score of 6 of 10; it took 1 round; 2 issues are open: 1 critical and 1 minor.": {skeptic.Protocol{}.Name(), skeptic.Trace{
			Answer: "First.\nSecond.", Rounds: []skeptic.Round{{Round: 1, Critique: &skeptic.Critique{Score: &score, Issues: []skeptic.Issue{{Severity: skeptic.Minor, Text: "a"}, {Severity: skeptic.Critical, Text: "b"}}}}},
		}},
		"The answer is “Yes.”; the skeptic considers the answer ready; it took 1 round; no issue is open.": {skeptic.Protocol{}.Name(), skeptic.Trace{
			Answer: "Yes.", Rounds: []skeptic.Round{{Round: 1, Critique: &skeptic.Critique{Ready: true}}},
		}},
		"The solution is by the judge, with a confidence of 70 of 100.": {refine.Protocol{}.Name(), refine.Result{Solution: &refine.Solution{Description: "First.\n\nSecond.", Confidence: 70}}},
	} {
		r := &report.Report{Result: debate.Result{Protocol: answer.protocol, State: fsm.Completed, Round: 2}}
		r.Result.Ending.Outcome, r.Result.Ending.Round = "round_limit", 2
		r.Result.Answer.Data = json.RawMessage(debatetest.Encode(t, answer.data))
		require.Equal(t, want, concluded(r).Redact().Summary.Answer)
	}
}
