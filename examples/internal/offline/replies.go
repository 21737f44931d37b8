package offline

import (
	"fmt"
	"math"
	"strings"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
)

// replies are the script's by their contracts.
var replies = map[string]func(prompt) any{
	judge.AssessmentContract.Name():     prompt.assessment,
	judge.VerdictContract.Name():        prompt.verdict,
	protocol.PersonasContract.Name():    prompt.personas,
	skeptic.DocumentsContract.Name():    prompt.documents,
	refine.CritiqueContract.Name():      prompt.critique,
	refine.SummaryContract.Name():       prompt.summary,
	refine.SolutionContract.Name():      prompt.solution,
	arbitration.ArgumentContract.Name(): prompt.argument,
	arbitration.RulingContract.Name():   prompt.ruling,
	procon.JudgmentContract.Name():      prompt.judgment,
	vote.BallotContract.Name():          prompt.ballot,
	vote.RulingContract.Name():          prompt.decision,
}

func (p prompt) assessment() any {
	a := judge.Assessment{
		Reasoning:      fmt.Sprintf("In round %d I counted the words that nobody had used before. I am a script: that is all I can do.", p.round),
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
	return a
}

func tenths(f float64) float64 { return math.Round(10*f) / 10 }

func (p prompt) verdict() any {
	v := judge.Verdict{Summary: fmt.Sprintf("On the question “%s” I weighed nothing: I am a script, and counted new words.", p.topic), Quality: 50}
	all := p.speakers()
	for _, w := range all {
		v.Summary += fmt.Sprintf(" %s brought %d.", w.name, w.newWords)
		v.Participants = append(v.Participants, judge.KeyPoints{Name: w.name, Points: w.points[max(0, len(w.points)-8):]})
	}
	v.Winner = leader(all)
	return v
}

func (p prompt) personas() any {
	var all protocol.Personas
	for i, name := range listItems(p.system, "The participants, in order:") {
		name, _, _ = strings.Cut(name, ", ")
		who := protocol.Persona{
			Name: name, Persona: "A reader of papers", Position: "Yes, and soon.", KeyArguments: []string{"Waiting has a price."},
		}
		if i%2 == 1 {
			who.Persona, who.Position, who.KeyArguments = "A keeper of accounts", "No, not like this.", []string{"A rule is hard to undo."}
		}
		all.Personas = append(all.Personas, who)
	}
	return all
}

func (p prompt) documents() any {
	return skeptic.Documents{Documents: []skeptic.Document{
		{Title: "Trial", Text: "Try the smallest part that can fail. Say beforehand what failure is."},
		{Title: "Pre-mortem", Text: "Assume that the plan has failed, and tell the story of how it came to that."},
	}}
}

func (p prompt) critique() any {
	author := between(p.task, "Criticize the proposal that ", " has made in this round")
	c := refine.Critique{
		Author: author, Strengths: []string{"It begins with something small."}, Weaknesses: []refine.Weakness{},
		Overall: "It can be built on, with an owner for each part.",
	}
	for _, w := range p.speakers() {
		if w.name == author {
			c.Weaknesses = append(c.Weaknesses, refine.Weakness{
				Issue: fmt.Sprintf("Nobody owns this: “%s”", w.points[len(w.points)-1]), Severity: "major", Suggestion: "Name an owner.",
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
	return refine.Summary{Summary: "A script's summary, of the last sentences alone.\n" + strings.Join(points, "\n")}
}

func (p prompt) solution() any {
	s := refine.Solution{
		Description:     fmt.Sprintf("An answer to “%s”, in steps that can be shown to work.", p.topic),
		TradeOffs:       []string{"It takes longer than to build all at once."},
		Recommendations: []string{"Ask a model that understands what it reads: I am a script."}, Confidence: 50,
	}
	for _, w := range p.speakers() {
		s.Implementation = append(s.Implementation, "What "+w.name+" asks for: "+w.points[len(w.points)-1])
	}
	return s
}

func (p prompt) argument() any {
	side := arbitration.Advocate
	if strings.Contains(p.task, "You are the challenger.") {
		side = arbitration.Challenger
	}
	_, position, _ := strings.Cut(labeledLine(p.task, "The "+side), " holds: ")
	evidence := append(listItems(p.system, "The evidence of the evaluation:"), "There is none.")
	return arbitration.Case{Arguments: []arbitration.Argument{{
		Claim: position, Reasoning: "So it stands in the topic, and nothing that was said so far speaks against it.", Evidence: nth(evidence, p.round-1),
	}}}
}

// ruling is for the longer case, and the surer the longer it is.
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
		Reasoning: "I counted words, since I am a script.", KeyPoints: []string{}, Winner: arbitration.Draw, Confidence: float64(min(50+10*max(lead, -lead), 100)),
	}
	switch {
	case lead > 0:
		r.Winner = arbitration.Advocate
	case lead < 0:
		r.Winner = arbitration.Challenger
	}
	return r
}

func (p prompt) judgment() any {
	all := p.speakers()
	j := procon.Judgment{Summary: fmt.Sprintf("On the question “%s” I counted new words, since I am a script.", p.topic), Winner: leader(all)}
	most := 1
	for _, w := range all {
		most = max(most, w.newWords)
	}
	for _, w := range all {
		j.Participants = append(j.Participants, procon.ParticipantScore{Name: w.name, Score: tenths(10 * float64(w.newWords) / float64(most))})
	}
	return j
}

// voteAnswers are the answers that a vote can be about, by a word of the system prompt that asks for such.
var voteAnswers = []struct{ asked, yes, no string }{
	{"one number in digits", "1", "2"},
	{"the letter of one option", "A", "B"},
	{`\boxed{}`, `\boxed{1}`, `\boxed{2}`},
	{"", "Yes", "No"},
}

// ballot is an answer of one's own, and later on that of most.
func (p prompt) ballot() any {
	b := vote.Ballot{Reasoning: "I am a script: my name decides.", Confidence: 60}
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
			b = vote.Ballot{Reasoning: "I am a script: I go with most.", Answer: answer, Confidence: 70}
		}
	}
	return b
}

// decision is for the first of whom most agree with.
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
	return vote.Ruling{Reasoning: "I counted, since I am a script.", Winner: who[best]}
}
