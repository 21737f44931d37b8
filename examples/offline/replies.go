package offline

import (
	"fmt"
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
	"github.com/elenchus-go/debate/providers/scripted"
)

// replies maps the names of reply contracts to functions that choose values of the replies. The schema of the request decides
// on everything else, such as the criteria.
var replies = map[string]func(prompt) scripted.Values{
	judge.AssessmentContract.Name():     prompt.assessment,
	judge.VerdictContract.Name():        prompt.verdict,
	decision.Contract.Name():            prompt.choice,
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
	oversight.CredenceContract.Name():   prompt.credence,
	oversight.ChoiceContract.Name():     prompt.answerChoice,
	review.ClaimsContract.Name():        prompt.findings,
	review.VotesContract.Name():         prompt.findingVotes,
	review.RulingsContract.Name():       prompt.findingRulings,
	skeptic.PlanContract.Name():         prompt.improvedPlan,
}

// cannotJudge tells readers that the judge is the demo model.
const cannotJudge = "As an offline demo model, I cannot weigh the arguments."

// assessment scores each speaker by the share of new words in the last statement, and ends the debate if nothing new was said. In
// round 1 of a debate with a devil's advocate it says that the participants agree, so that the advocate speaks.
func (p prompt) assessment() scripted.Values {
	all := p.speakers()
	share, none := newWords(all)
	v := scripted.Values{"quality": tenths(4 + 5*share), "diminishing_returns": none, "should_continue": p.round < p.rounds && !none}
	for _, w := range all {
		v[path("participants", w.name, "criteria", "*")] = w.score()
	}
	reasoning := fmt.Sprintf("In round %d, I counted the words that nobody had used before. %s", p.round, cannotJudge)
	if none {
		reasoning = fmt.Sprintf("In round %d, nothing new was said: almost all words had been used before. %s", p.round, cannotJudge)
	}
	if p.round == 1 && strings.Contains(p.system, "devil's advocate") {
		v["converged"] = true
		reasoning += " I say that all agree, so that the devil's advocate speaks."
	}
	v["reasoning"] = reasoning
	return v
}

// path returns the path of a value in a reply.
func path(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s))
	}
	return b.String()
}

// verdict names the speaker with the best scores as the winner.
func (p prompt) verdict() scripted.Values {
	var summary strings.Builder
	fmt.Fprintf(&summary, "On the topic “%s”, I counted new words. %s", p.topic, cannotJudge)
	v := scripted.Values{"quality": 50}
	all := p.speakers()
	for _, w := range all {
		fmt.Fprintf(&summary, " New words from %s: %d.", w.name, w.newWords)
		v[path("participants", w.name)] = w.points[max(0, len(w.points)-4):] // the schema allows four
	}
	v["summary"] = summary.String()
	return withName(v, "winner", best(all))
}

// withName adds a name, unless it is empty.
func withName(v scripted.Values, field, name string) scripted.Values {
	if name != "" {
		v[field] = name
	}
	return v
}

// choice chooses an option by its name, and gives the last statements as reasons.
func (p prompt) choice() scripted.Values {
	option := 1
	if !p.hasOddName() {
		option = 2
	}
	reasons := []map[string]any{{"text": "It is what my name says.", "speaker": nil, "round": nil}}
	for _, w := range p.speakers() {
		reasons = append(reasons, map[string]any{"text": w.points[len(w.points)-1], "speaker": w.name, "round": max(p.round, 1)})
	}
	return scripted.Values{
		"summary": fmt.Sprintf("On the topic “%s”, I choose an option by my name. %s", p.topic, cannotJudge),
		"reasons": reasons, "would_change": []string{"A real model."}, "option": option, "confidence": 50,
	}
}

// audience votes by its name, once it has heard the debate.
func (p prompt) audience() scripted.Values {
	side := "undecided"
	if len(p.own) > 0 {
		side = "against"
		if p.hasOddName() {
			side = "for"
		}
	}
	return scripted.Values{"reasoning": "As an offline demo model, I choose a side by my name.", "vote": side}
}

func (p prompt) personas() scripted.Values {
	v := scripted.Values{}
	for i, name := range listItems(p.system, "The participants, in order:") {
		name, _, _ = strings.Cut(name, ", ")
		persona := "A policy analyst"
		position := "Yes, and soon."
		argument := "Delay has a cost."
		if i%2 == 1 {
			persona = "A small-business owner"
			position = "No, not in this form."
			argument = "A rule is hard to reverse."
		}
		v[path("personas", name, "persona")], v[path("personas", name, "position")] = persona, position
		v[path("personas", name, "key_arguments")] = []string{argument}
	}
	return v
}

func (p prompt) documents() scripted.Values {
	return scripted.Values{"documents": []skeptic.Document{
		{Title: "Pilot", Text: "Start with the smallest step that can fail. Decide in advance what counts as failure."},
		{Title: "Pre-mortem", Text: "Assume that the plan has failed. Explain step by step how that happened."},
	}}
}

func (p prompt) critique() scripted.Values {
	author := between(p.task, "Criticize the proposal that ", " has made in this round")
	weaknesses := []refine.Weakness{}
	for _, w := range p.speakers() {
		if w.name == author {
			weaknesses = append(weaknesses, refine.Weakness{
				Issue: fmt.Sprintf("No one is responsible for this in the eyes of %s: “%s”", p.name, w.points[len(w.points)-1]), Severity: "major",
				Suggestion: fmt.Sprintf("Let %s name an owner for %s in round %d.", author, p.aspect(), p.round),
			})
		}
	}
	return scripted.Values{
		"author": author, "weaknesses": weaknesses,
		"strengths": []string{fmt.Sprintf("Step %d of %s is small enough for %s.", p.round, author, p.aspect())},
		"overall":   fmt.Sprintf("With an owner for each part, proposal %d of %s is a sound basis for %s.", p.round, author, p.aspect()),
	}
}

func (p prompt) summary() scripted.Values {
	var points []string
	for _, s := range p.others {
		points = append(points, s.name+": "+s.lastSentence())
	}
	return scripted.Values{"summary": "The last sentence of each turn:\n" + strings.Join(points, "\n")}
}

func (p prompt) solution() scripted.Values {
	steps := []string{}
	for _, w := range p.speakers() {
		steps = append(steps, w.name+" proposes: "+w.points[len(w.points)-1])
	}
	return scripted.Values{
		"description":     fmt.Sprintf("An answer to “%s” in small steps. Each step can be shown to work.", p.topic),
		"implementation":  steps,
		"trade_offs":      []string{"Small steps take longer than building everything at once."},
		"recommendations": []string{"Ask a real model. This is the offline demo model, which only quotes the proposals."},
		"confidence":      50,
	}
}

func (p prompt) argument() scripted.Values {
	side := arbitration.Advocate
	if strings.Contains(p.task, "You are the challenger.") {
		side = arbitration.Challenger
	}
	_, position, _ := strings.Cut(labeledLine(p.task, "The "+side), " holds: ")
	evidence := listItems(p.system, "The evidence of the evaluation:")
	at := 2 * (p.round - 1) // the advocate's; the challenger names the next one
	if side == arbitration.Challenger {
		at++
	}
	a := arbitration.Argument{
		Claim: position, Evidence: fmt.Sprintf("There is no evidence left for the %s in round %d.", side, p.round),
		Reasoning: fmt.Sprintf("In round %d, the evidence does not contradict the %s, and no argument so far refutes this claim.", p.round, side),
	}
	if at < len(evidence) {
		a.Evidence = evidence[at]
	}
	return scripted.Values{"arguments": []arbitration.Argument{a}}
}

// ruling decides for the longer case. Its confidence increases with the difference in length.
func (p prompt) ruling() scripted.Values {
	advocate := between(p.task, "The advocate, ", ", holds: ")
	lead := 0
	for _, s := range p.others {
		if n := len(splitWords(s.text)); s.name == advocate {
			lead += n
		} else {
			lead -= n
		}
	}
	winner := arbitration.Draw
	switch {
	case lead > 0:
		winner = arbitration.Advocate
	case lead < 0:
		winner = arbitration.Challenger
	}
	return scripted.Values{
		"reasoning": "I compared the lengths of the two cases. " + cannotJudge, "winner": winner, "confidence": min(50+10*max(lead, -lead), 100),
	}
}

// judgment scores each speaker by the number of new words, relative to the speaker with the most.
func (p prompt) judgment() scripted.Values {
	all := p.speakers()
	most := 1
	for _, w := range all {
		most = max(most, w.newWords)
	}
	v := scripted.Values{"summary": fmt.Sprintf("On the topic “%s”, I counted new words. %s", p.topic, cannotJudge)}
	for _, w := range all {
		v[path("participants", w.name)] = tenths(4 + 5*float64(w.newWords)/float64(most))
	}
	return withName(v, "winner", best(all))
}

// voteAnswers lists the answers of the two opinions by a phrase of the system prompt that asks for answers of this kind.
var voteAnswers = []struct{ asked, yes, no string }{
	{"the number of one of these options", "1", "2"},
	{"one number in digits", "1", "2"},
	{"the letter of one option", "A", "B"},
	{`\boxed{}`, `\boxed{1}`, `\boxed{2}`},
	{"", "Yes", "No"},
}

// ballot returns an answer that depends on the actor's name, and adopts the answer of the majority in later rounds.
func (p prompt) ballot() scripted.Values {
	answer, confidence := "", 60
	reasoning := fmt.Sprintf("As an offline demo model, %s chooses an answer by its name in round %d.", p.name, p.round)
	for _, o := range voteAnswers {
		if strings.Contains(p.system, o.asked) {
			answer = o.no
			if p.hasOddName() {
				answer = o.yes
			}
			break
		}
	}
	votes := map[string]int{}
	for _, text := range p.own[max(0, len(p.own)-1):] {
		answer = labeledLine(text, "Answer: ")
		votes[answer]++
	}
	for _, s := range p.others {
		other := labeledLine(s.text, "Answer: ")
		votes[other]++
		if votes[other] > votes[answer] {
			answer, confidence = other, 70
			reasoning = fmt.Sprintf("As an offline demo model, %s follows the majority in round %d.", p.name, p.round)
		}
	}
	return scripted.Values{"reasoning": reasoning, "answer": answer, "confidence": confidence}
}

// decision names the first agent that gave the most frequent answer as the winner.
func (p prompt) decision() scripted.Values {
	votes, who := map[string]int{}, map[string]string{}
	best := ""
	for _, s := range p.others {
		answer := labeledLine(s.text, "Answer: ")
		votes[answer]++
		if who[answer] == "" {
			who[answer] = s.name
		}
		if best == "" || votes[answer] > votes[best] {
			best = answer
		}
	}
	return withName(scripted.Values{"reasoning": "I counted the answers. " + cannotJudge}, "winner", who[best])
}

// ranking ranks the answers by their number of words.
func (p prompt) ranking() scripted.Values {
	answers := slices.Clone(p.others)
	slices.SortStableFunc(answers, func(a, b statement) int { return len(splitWords(b.text)) - len(splitWords(a.text)) })
	v := scripted.Values{"comparison": fmt.Sprintf("As an offline demo model, %s cannot compare answers, and counts their words.", p.name)}
	for i, s := range answers {
		v[path("ranking", s.name, "place")] = i + 1
		v[path("ranking", s.name, "reason")] = fmt.Sprintf("%s counts %d words from %s.", p.name, len(splitWords(s.text)), s.name)
	}
	return v
}

// finalAnswer quotes the answer with the best score.
func (p prompt) finalAnswer() scripted.Values {
	best, _, _ := strings.Cut(labeledLine(p.task, "1. "), ":")
	const answer = "As an offline demo model, I cannot write an answer."
	for _, s := range p.others {
		if s.name == best {
			return scripted.Values{"answer": fmt.Sprintf("%s The best-ranked one ends: “%s”", answer, s.lastSentence())}
		}
	}
	return scripted.Values{"answer": answer}
}

// moderation states no preference, unless nothing new was said.
func (p prompt) moderation() scripted.Values {
	all := p.speakers()
	if _, none := newWords(all); none && leader(all) != "" {
		v := p.madDecision()
		v["preference"] = true
		return v
	}
	return scripted.Values{"reasoning": "I have no preference. " + cannotJudge, "preference": false}
}

// candidates lists the last sentence of each side.
func (p prompt) candidates() scripted.Values {
	list := []string{}
	for _, s := range p.speakers() {
		list = append(list, s.points[len(s.points)-1])
	}
	return scripted.Values{"candidates": list}
}

// madDecision decides for the side with the most new words.
func (p prompt) madDecision() scripted.Values {
	v := scripted.Values{"reasoning": "I counted new words. " + cannotJudge, "answer": "There is no answer."}
	all := p.speakers()
	for _, s := range all {
		if s.name == leader(all) {
			v["answer"], v["supported"] = s.points[len(s.points)-1], s.name
		}
	}
	return v
}

// credence holds the answer with more verified quotes for more probable.
func (p prompt) credence() scripted.Values {
	verified := map[string]int{}
	for _, text := range p.heard {
		if m := verdicts.FindStringSubmatch(text); m != nil {
			verified[m[1]] += strings.Count(m[2], " verified")
		}
	}
	counts := map[string]int{}
	for _, m := range sides.FindAllStringSubmatch(p.system, -1) {
		counts[m[2]] = verified[m[1]]
	}
	first := float64(1+counts["1"]) / float64(2+counts["1"]+counts["2"])
	return scripted.Values{
		"reason": fmt.Sprintf("I counted verified quotes: %d for answer 1, %d for answer 2. %s", counts["1"], counts["2"], cannotJudge),
		"first":  first, "second": 1 - first,
	}
}

// answerChoice chooses an answer by its name.
func (p prompt) answerChoice() scripted.Values {
	if p.hasOddName() {
		return scripted.Values{"answer": "first"}
	}
	return scripted.Values{"answer": "second"}
}
