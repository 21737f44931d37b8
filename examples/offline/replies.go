package offline

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
)

// replies maps the names of reply contracts to the functions that make the replies.
var replies = map[string]func(prompt) any{
	judge.AssessmentContract.Name():     prompt.assessment,
	judge.VerdictContract.Name():        prompt.verdict,
	protocol.PersonasContract.Name():    prompt.personas,
	panel.AudienceContract.Name():       prompt.audience,
	skeptic.DocumentsContract.Name():    prompt.documents,
	refine.CritiqueContract.Name():      prompt.critique,
	refine.SummaryContract.Name():       prompt.summary,
	refine.SolutionContract.Name():      prompt.solution,
	arbitration.ArgumentContract.Name(): prompt.argument,
	arbitration.RulingContract.Name():   prompt.ruling,
	procon.JudgmentContract.Name():      prompt.judgment,
	vote.BallotContract.Name():          prompt.ballot,
	vote.RulingContract.Name():          prompt.decision,
	council.RankingContract.Name():      prompt.ranking,
	council.AnswerContract.Name():       prompt.finalAnswer,
	mad.ModerationContract.Name():       prompt.moderation,
	mad.CandidatesContract.Name():       prompt.candidates,
	mad.DecisionContract.Name():         prompt.madDecision,
}

// cannotJudge tells readers that the judge is the demo model.
const cannotJudge = "As an offline demo model, I cannot weigh the arguments."

// assessment scores each speaker by the share of new words in the last statement. In round 1 of a debate with a devil's
// advocate it says that the participants agree, so that the advocate speaks.
func (p prompt) assessment() any {
	a := judge.Assessment{
		Reasoning:      fmt.Sprintf("In round %d, I counted the words that nobody had used before. %s", p.round, cannotJudge),
		ShouldContinue: p.round < p.rounds,
	}
	all := p.speakers()
	for _, w := range all {
		score := tenths(10 * w.newWordShare)
		a.Quality += score
		a.Participants = append(a.Participants, judge.ParticipantAssessment{Name: w.name, Criteria: judge.Rubric(nil).UniformScores(score)})
	}
	a.Quality = tenths(a.Quality / float64(max(len(all), 1)))
	a.DiminishingReturns = a.Quality < 1
	if a.Converged = p.round == 1 && strings.Contains(p.system, "devil's advocate"); a.Converged {
		a.Reasoning += " I say that all agree, so that the devil's advocate speaks."
	}
	return a
}

func tenths(f float64) float64 { return math.Round(10*f) / 10 }

// verdict names the speaker with the most new words as the winner.
func (p prompt) verdict() any {
	v := judge.Verdict{Summary: fmt.Sprintf("On the topic “%s”, I counted new words. %s", p.topic, cannotJudge), Quality: 50}
	all := p.speakers()
	for _, w := range all {
		v.Summary += fmt.Sprintf(" New words from %s: %d.", w.name, w.newWords)
		v.Participants = append(v.Participants, judge.KeyPoints{Name: w.name, Points: w.points[max(0, len(w.points)-8):]})
	}
	v.Winner = leader(all)
	return v
}

// audience votes by its name, once it has heard the debate.
func (p prompt) audience() any {
	v := panel.AudienceVote{Reasoning: "As an offline demo model, I choose a side by my name.", Vote: "undecided"}
	if len(p.own) > 0 {
		if v.Vote = "against"; p.hasOddName() {
			v.Vote = "for"
		}
	}
	return v
}

func (p prompt) personas() any {
	var all protocol.Personas
	for i, name := range listItems(p.system, "The participants, in order:") {
		name, _, _ = strings.Cut(name, ", ")
		who := protocol.Persona{
			Name: name, Persona: "A policy analyst", Position: "Yes, and soon.", KeyArguments: []string{"Delay has a cost."},
		}
		if i%2 == 1 {
			who.Persona, who.Position, who.KeyArguments = "A small-business owner", "No, not in this form.", []string{"A rule is hard to reverse."}
		}
		all.Personas = append(all.Personas, who)
	}
	return all
}

func (p prompt) documents() any {
	return skeptic.Documents{Documents: []skeptic.Document{
		{Title: "Pilot", Text: "Start with the smallest step that can fail. Decide in advance what counts as failure."},
		{Title: "Pre-mortem", Text: "Assume that the plan has failed. Explain step by step how that happened."},
	}}
}

func (p prompt) critique() any {
	author := between(p.task, "Criticize the proposal that ", " has made in this round")
	c := refine.Critique{
		Author: author, Strengths: []string{"It starts with a small step."}, Weaknesses: []refine.Weakness{},
		Overall: "The proposal is a sound basis once each part has an owner.",
	}
	for _, w := range p.speakers() {
		if w.name == author {
			c.Weaknesses = append(c.Weaknesses, refine.Weakness{
				Issue: fmt.Sprintf("No one is responsible for this: “%s”", w.points[len(w.points)-1]), Severity: "major", Suggestion: "Name an owner.",
			})
		}
	}
	return c
}

func (p prompt) summary() any {
	var points []string
	for _, s := range p.others {
		points = append(points, s.name+": "+s.lastSentence())
	}
	return refine.Summary{Summary: "The last sentence of each turn:\n" + strings.Join(points, "\n")}
}

func (p prompt) solution() any {
	s := refine.Solution{
		Description:     fmt.Sprintf("An answer to “%s” in small steps. Each step can be shown to work.", p.topic),
		TradeOffs:       []string{"Small steps take longer than building everything at once."},
		Recommendations: []string{"Ask a real model. This is the offline demo model, which only quotes the proposals."}, Confidence: 50,
	}
	for _, w := range p.speakers() {
		s.Implementation = append(s.Implementation, w.name+" proposes: "+w.points[len(w.points)-1])
	}
	return s
}

func (p prompt) argument() any {
	side := arbitration.Advocate
	if strings.Contains(p.task, "You are the challenger.") {
		side = arbitration.Challenger
	}
	_, position, _ := strings.Cut(labeledLine(p.task, "The "+side), " holds: ")
	evidence := append(listItems(p.system, "The evidence of the evaluation:"), "There is no evidence.")
	return arbitration.Case{Arguments: []arbitration.Argument{{
		Claim: position, Reasoning: "The evidence is consistent with this claim, and no argument so far refutes it.", Evidence: nth(evidence, p.round-1),
	}}}
}

// ruling decides for the longer case. Its confidence increases with the difference in length.
func (p prompt) ruling() any {
	advocate := between(p.task, "The advocate, ", ", holds: ")
	lead := 0
	for _, s := range p.others {
		if n := len(splitWords(s.text)); s.name == advocate {
			lead += n
		} else {
			lead -= n
		}
	}
	r := arbitration.Ruling{
		Reasoning: "I compared the lengths of the two cases. " + cannotJudge,
		KeyPoints: []string{}, Winner: arbitration.Draw, Confidence: float64(min(50+10*max(lead, -lead), 100)),
	}
	switch {
	case lead > 0:
		r.Winner = arbitration.Advocate
	case lead < 0:
		r.Winner = arbitration.Challenger
	}
	return r
}

// judgment scores each speaker by the number of new words, relative to the speaker with the most.
func (p prompt) judgment() any {
	all := p.speakers()
	j := procon.Judgment{Summary: fmt.Sprintf("On the topic “%s”, I counted new words. %s", p.topic, cannotJudge), Winner: leader(all)}
	most := 1
	for _, w := range all {
		most = max(most, w.newWords)
	}
	for _, w := range all {
		j.Participants = append(j.Participants, procon.ParticipantScore{Name: w.name, Score: tenths(10 * float64(w.newWords) / float64(most))})
	}
	return j
}

// voteAnswers lists the answers of the two opinions by a phrase of the system prompt that asks for answers of this kind.
var voteAnswers = []struct{ asked, yes, no string }{
	{"one number in digits", "1", "2"},
	{"the letter of one option", "A", "B"},
	{`\boxed{}`, `\boxed{1}`, `\boxed{2}`},
	{"", "Yes", "No"},
}

// ballot returns an answer that depends on the actor's name, and adopts the answer of the majority in later rounds.
func (p prompt) ballot() any {
	b := vote.Ballot{Reasoning: "As an offline demo model, I choose an answer by my name.", Confidence: 60}
	for _, o := range voteAnswers {
		if strings.Contains(p.system, o.asked) {
			if b.Answer = o.no; p.hasOddName() {
				b.Answer = o.yes
			}
			break
		}
	}
	votes := map[string]int{}
	for _, text := range p.own[max(0, len(p.own)-1):] {
		b.Answer = labeledLine(text, "Answer: ")
		votes[b.Answer]++
	}
	for _, s := range p.others {
		answer := labeledLine(s.text, "Answer: ")
		if votes[answer]++; votes[answer] > votes[b.Answer] {
			b = vote.Ballot{Reasoning: "As an offline demo model, I follow the majority.", Answer: answer, Confidence: 70}
		}
	}
	return b
}

// decision names the first agent that gave the most frequent answer as the winner.
func (p prompt) decision() any {
	votes, who := map[string]int{}, map[string]string{}
	best := ""
	for _, s := range p.others {
		answer := labeledLine(s.text, "Answer: ")
		if votes[answer]++; who[answer] == "" {
			who[answer] = s.name
		}
		if best == "" || votes[answer] > votes[best] {
			best = answer
		}
	}
	return vote.Ruling{Reasoning: "I counted the answers. " + cannotJudge, Winner: who[best]}
}

// ranking ranks the answers by their number of words.
func (p prompt) ranking() any {
	answers := slices.Clone(p.others)
	slices.SortStableFunc(answers, func(a, b statement) int { return len(splitWords(b.text)) - len(splitWords(a.text)) })
	k := council.Ranking{Comparison: "I counted the words of each answer. As an offline demo model, I cannot compare answers.", Ranking: []council.Ranked{}}
	for i, s := range answers {
		k.Ranking = append(k.Ranking, council.Ranked{Name: s.name, Place: i + 1, Reason: fmt.Sprintf("It has %d words.", len(splitWords(s.text)))})
	}
	return k
}

// finalAnswer quotes the answer with the best score.
func (p prompt) finalAnswer() any {
	best, _, _ := strings.Cut(labeledLine(p.task, "1. "), ":")
	a := council.ChairAnswer{Answer: "As an offline demo model, I cannot write an answer.", Disagreements: []string{}}
	for _, s := range p.others {
		if s.name == best {
			a.Answer += fmt.Sprintf(" The best-ranked one ends: “%s”", s.lastSentence())
			break
		}
	}
	return a
}

// moderation states no preference.
func (p prompt) moderation() any {
	return mad.Moderation{Reasoning: "I have no preference. " + cannotJudge}
}

// candidates lists the last sentence of each side.
func (p prompt) candidates() any {
	c := mad.Candidates{Candidates: []string{}}
	for _, s := range p.speakers() {
		c.Candidates = append(c.Candidates, s.points[len(s.points)-1])
	}
	return c
}

// madDecision decides for the side with the most new words.
func (p prompt) madDecision() any {
	d := mad.Decision{Reasoning: "I counted new words. " + cannotJudge, Answer: "There is no answer.", Supported: leader(p.speakers())}
	for _, s := range p.speakers() {
		if s.name == d.Supported {
			d.Answer = s.points[len(s.points)-1]
		}
	}
	return d
}
