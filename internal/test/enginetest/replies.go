package enginetest

import (
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
)

// Reply returns a valid reply to a request: words alone, or an object of the requested contract that contains words.
// Names are the participants, for requests that do not name any. The rest of the reply depends on pick; 0 is the
// simplest choice everywhere, with no winner and another round. Reply returns "" for an unknown contract.
func Reply(r providers.Request, names []string, words string, pick uint64) string {
	speak, known := replies[r.SchemaName]
	switch {
	case r.SchemaName == "":
		return words
	case !known:
		return ""
	}
	if list := namesInRequest(r); list != nil {
		names = list
	}
	b, err := json.Marshal(speak(r, names, words, pick))
	if err != nil {
		return ""
	}
	return string(b)
}

var replies = map[string]func(r providers.Request, names []string, words string, pick uint64) any{
	review.ClaimsContract.Name():  claims,
	review.VotesContract.Name():   findingVotes,
	review.RulingsContract.Name(): findingRulings,
	skeptic.PlanContract.Name():   improvedPlan,
	judge.AssessmentContract.Name(): func(_ providers.Request, names []string, words string, pick uint64) any {
		a := judge.Assessment{Reasoning: words, Quality: 6, ShouldContinue: true}
		for _, n := range names { // all are even, so that any winner fits the scores
			a.Participants = append(a.Participants, judge.ParticipantAssessment{Name: n, Criteria: judge.Rubric(nil).UniformScores(6 - float64(pick%2))})
		}
		return a
	},
	judge.VerdictContract.Name(): func(_ providers.Request, names []string, words string, pick uint64) any {
		return judge.Verdict{Summary: words, Winner: pickFrom(pick, append([]string{""}, names...)...), Quality: 50}
	},
	decision.Contract.Name(): func(_ providers.Request, names []string, words string, pick uint64) any {
		return decision.Choice{
			Summary: words, Reasons: []decision.Reason{{Text: words, Speaker: pickFrom(pick, names...), Round: 1}}, Option: 1 + int(pick%2), Confidence: percentOf(pick),
		}
	},
	protocol.PersonasContract.Name(): func(_ providers.Request, names []string, words string, _ uint64) any {
		p := protocol.Personas{}
		for _, n := range names {
			p.Personas = append(p.Personas, protocol.Persona{Name: n, Persona: words, Position: "What " + n + " holds", KeyArguments: []string{words}})
		}
		return p
	},
	panel.AudienceContract.Name(): func(_ providers.Request, _ []string, words string, pick uint64) any {
		return panel.AudienceVote{Reasoning: words, Vote: pickFrom(pick, "for", "against", "undecided")}
	},
	skeptic.DocumentsContract.Name(): func(_ providers.Request, _ []string, words string, _ uint64) any {
		return skeptic.Documents{Documents: []skeptic.Document{{Title: "First principles", Text: words}, {Title: "Pre-mortem", Text: words}}}
	},
	refine.CritiqueContract.Name(): func(r providers.Request, _ []string, words string, pick uint64) any {
		weak := refine.Weakness{Issue: words, Severity: pickFrom(pick, "minor", "major", "critical")}
		return refine.Critique{Author: textBetween(r, "Criticize the proposal that ", " has made in this round"), Weaknesses: []refine.Weakness{weak}, Overall: words}
	},
	refine.SummaryContract.Name(): func(_ providers.Request, _ []string, words string, _ uint64) any {
		return refine.Summary{Summary: words}
	},
	refine.SolutionContract.Name(): func(_ providers.Request, _ []string, words string, pick uint64) any {
		return refine.Solution{Description: words, Implementation: []string{"Build it."}, TradeOffs: []string{}, Recommendations: []string{}, Confidence: percentOf(pick)}
	},
	arbitration.ArgumentContract.Name(): func(_ providers.Request, _ []string, words string, _ uint64) any {
		return arbitration.Case{Arguments: []arbitration.Argument{{Claim: words, Reasoning: "It follows.", Evidence: "None is known."}}}
	},
	arbitration.RulingContract.Name(): func(_ providers.Request, _ []string, words string, pick uint64) any {
		winner := pickFrom(pick, arbitration.Draw, arbitration.Advocate, arbitration.Challenger)
		return arbitration.Ruling{Reasoning: words, KeyPoints: []string{}, Winner: winner, Confidence: percentOf(pick)}
	},
	procon.JudgmentContract.Name(): func(_ providers.Request, names []string, words string, pick uint64) any {
		j := procon.Judgment{Summary: words, NoNewArguments: pick%2 == 1}
		for i, n := range names {
			j.Participants = append(j.Participants, procon.ParticipantScore{Name: n, Score: 5 + float64((pick+uint64(i))%3*(pick%2))})
		}
		return j
	},
	council.RankingContract.Name(): func(_ providers.Request, names []string, words string, pick uint64) any {
		k := council.Ranking{Comparison: words, Ranking: []council.Ranked{}}
		for i := range names {
			k.Ranking = append(k.Ranking, council.Ranked{Name: names[(uint64(i)+pick)%uint64(len(names))]})
		}
		return k
	},
	council.AnswerContract.Name(): func(_ providers.Request, _ []string, words string, _ uint64) any {
		return council.ChairAnswer{Answer: words, Disagreements: []string{}}
	},
	mad.ModerationContract.Name(): func(_ providers.Request, names []string, words string, pick uint64) any {
		m := mad.Moderation{Reasoning: words, Preference: pick%4 == 3}
		if m.Preference {
			m.Supported, m.Answer = pickFrom(pick/4, names...), words
		}
		return m
	},
	mad.CandidatesContract.Name(): func(_ providers.Request, _ []string, words string, _ uint64) any {
		return mad.Candidates{Candidates: []string{words, "Another answer."}}
	},
	mad.DecisionContract.Name(): func(_ providers.Request, names []string, words string, pick uint64) any {
		return mad.Decision{Reasoning: words, Answer: words, Supported: pickFrom(pick, append([]string{""}, names...)...)}
	},
	oversight.CredenceContract.Name(): func(_ providers.Request, _ []string, words string, pick uint64) any {
		p := float64(50+pick%51) / 100
		return oversight.Credence{Reason: words, First: p, Second: 1 - p}
	},
	oversight.ChoiceContract.Name(): func(_ providers.Request, _ []string, _ string, pick uint64) any {
		return oversight.Choice{Answer: pickFrom(pick, "first", "second")}
	},
	vote.BallotContract.Name(): func(_ providers.Request, _ []string, words string, pick uint64) any {
		return vote.Ballot{Reasoning: words, Answer: pickFrom(pick, "yes", "no"), Confidence: percentOf(pick)}
	},
	vote.RulingContract.Name(): func(_ providers.Request, names []string, words string, pick uint64) any {
		return vote.Ruling{Reasoning: words, Winner: pickFrom(pick, names...)}
	},
	"vectors/1": func(r providers.Request, _ []string, _ string, _ uint64) any {
		list := []string{}
		for _, m := range r.Messages {
			h := fnv.New64a()
			_, _ = h.Write([]byte(m.Text)) // hash.Hash never returns an error
			list = append(list, base64.StdEncoding.EncodeToString(h.Sum(nil)))
		}
		return map[string]any{"vectors": list}
	},
}

func pickFrom(pick uint64, from ...string) string { return from[pick%uint64(len(from))] }

func percentOf(pick uint64) float64 { return float64(60 + pick%41) }

// namesInRequest returns the participants that a request wants assessed or named, or nil if it names none.
func namesInRequest(r providers.Request) []string {
	for _, words := range [][2]string{{"\nAssess ", ", each exactly once"}, {"\nScore ", ", each exactly once"}, {"\nThe participants are ", ": name one"}, {"\nRank ", ", each exactly once"}} {
		if found := textBetween(r, words[0], words[1]); found != "" {
			return strings.Split(strings.ReplaceAll(found, " and ", ", "), ", ")
		}
	}
	return nil
}

// textBetween returns the text between two markers in the last message of a request that contains both.
func textBetween(r providers.Request, begin, end string) string {
	for _, m := range slices.Backward(r.Messages) {
		_, rest, _ := strings.Cut(m.Text, begin)
		if found, _, ok := strings.Cut(rest, end); ok {
			return found
		}
	}
	return ""
}
