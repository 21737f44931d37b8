package offline

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/protocol/skeptic"
)

// prose returns a statement for the role that the first line of the system prompt describes.
func (p prompt) prose() string {
	who, _, _ := strings.Cut(p.system, "\n")
	switch {
	case strings.Contains(who, ", the skeptic."):
		return p.attack()
	case strings.Contains(who, ", the synthesizer."):
		return p.synthesis()
	case strings.Contains(who, "You propose an answer"):
		return p.proposal()
	case strings.Contains(who, "experts who work on the same problem"):
		return p.design()
	case strings.Contains(who, "you argue for one of two answers"):
		return p.advocacy()
	case strings.Contains(who, "the judge who decides which of two answers"):
		return "Which passage of the text shows it? Please quote it word for word."
	}
	return p.speech()
}

// speechLines contains the speeches of each side by round. Each has a placeholder for a keyword of the topic.
var speechLines = map[string][]string{
	"for": {
		"My answer is yes. Arguments about “%s” often treat the status quo as if it cost nothing. " +
			"Keeping things as they are also has a price, and the people with the least influence pay most of it.",
		"Most reforms look expensive on the day before they start. On “%s”, too, there will be resistance at first. " +
			"Once people see the results, few of them will want to go back.",
		"Let us compare the two risks, with “%s” in mind. If we act too early, we can correct the mistake next year. " +
			"If we wait too long, we cannot undo the damage.",
	},
	"against": {
		"My answer is no. A rule about “%s” is easy to write. " +
			"A rule that is meant to fit everyone is hardest on people whose circumstances are unusual.",
		"A good aim does not justify a blunt tool. If “%s” is the problem, we should start with prices and incentives. " +
			"Incentives leave people room to adapt.",
		"The burden of proof is on the side that wants to restrict others, and “%s” is no exception. " +
			"So far, I have heard about benefits, but nothing shows that they outweigh the costs.",
	},
}

// replyLines contains the openings that refer to the previous speech, by round. Each has placeholders for the name of
// the previous speaker and for a quotation.
var replyLines = []string{
	"%s says: “%s” That is a fair point, but it skips a step.",
	"%s argues: “%s” I agree in part, but this proves less than it seems to.",
	"%s's strongest point is this: “%s” It deserves an answer, but it does not settle the question.",
}

// speech returns a speech for the actor's stance and the current round. It first answers the previous speech, if any.
func (p prompt) speech() string {
	n := max(p.round-1, 0)
	text := fmt.Sprintf(nth(speechLines[p.stance()], n), p.word(n))
	at := 2 * n
	if p.stance() == "against" {
		at++ // other quotations than those of the other side
	}
	if quote := p.quotation(at); quote != "" {
		text = "The documents say: " + quote + "\n\n" + text
	}
	if len(p.others) > 0 {
		last := p.others[len(p.others)-1]
		text = fmt.Sprintf(nth(replyLines, n), last.name, last.lastSentence()) + "\n\n" + text
	}
	if strings.Contains(p.task, "you are the devil's advocate") {
		text = "I speak as the devil's advocate. " + text
	}
	return text
}

// quotation returns the nth sentence with a word of the topic in documents and results of tools, or an empty text if there
// is none. From the second round on, the side against leaves a word out, so that readers see what the check of quotes finds.
func (p prompt) quotation(n int) string {
	var fitting []string
	words := keywords(strings.ToLower(p.topic))
	for _, x := range append(p.texts, enclosed(p.system)...) {
		for _, s := range sentence.FindAllString(x.text, -1) {
			if lower := strings.ToLower(s); len(strings.Fields(s)) > 3 && containsAny(lower, words) {
				if p.round > 1 && p.stance() == "against" && x.source != "" {
					s = misquote(s)
				}
				fitting = append(fitting, x.quote(s))
			}
		}
	}
	if len(fitting) == 0 {
		return ""
	}
	return nth(fitting, n)
}

// stance returns "for" or "against". It depends on the side, or else on the first word of the position, or else on the
// name.
func (p prompt) stance() string {
	position := splitWords(strings.ToLower(labeledLine(p.system, "Your position: ")))
	switch {
	case speechLines[p.side] != nil:
		return p.side
	case len(position) > 0 && position[0] == "no":
		return "against"
	case len(position) > 0 && position[0] == "yes", p.hasOddName():
		return "for"
	}
	return "against"
}

// word returns the nth keyword of the topic.
func (p prompt) word(n int) string { return nth(keywords(p.topic), n) }

// last returns the last statement of another actor.
func (p prompt) last() statement {
	if len(p.others) == 0 {
		return statement{"nobody", "Nothing has been said yet."}
	}
	return p.others[len(p.others)-1]
}

// proposal returns the proposer's answer and, from round 2 on, its defence against the last critique.
func (p prompt) proposal() string {
	text := fmt.Sprintf("I propose a pilot that starts with “%s”. The pilot runs in one place for one year, and we measure its results.", p.word(0))
	if len(p.others) == 0 {
		return text + " A pilot is easy to stop, and the results show whether to continue."
	}
	return fmt.Sprintf("I accept the %s critique. The pilot now ends automatically unless the figures for “%s” have improved by then.\n\n%s",
		nth([]string{"first", "second", "third", "fourth"}, p.round-2), p.word(p.round-1), text)
}

// attack returns a critique. Its issues become less severe from round to round.
func (p prompt) attack() string {
	score := func(f float64) *float64 { return &f }
	word := p.word(p.round - 1)
	critique := []skeptic.Critique{
		{Score: score(4), Issues: []skeptic.Issue{{Severity: skeptic.Critical, Text: "The proposal does not say when the pilot for “" + word + "” counts as a failure."}}},
		{Score: score(6.5), Issues: []skeptic.Issue{{Severity: skeptic.Major, Text: "One place may not be representative where “" + word + "” is concerned."}}},
		{Score: score(8.5), Ready: true, Issues: []skeptic.Issue{{Severity: skeptic.Minor, Text: "The proposal omits the cost of measuring the results."}}},
	}[min(max(p.round, 1), 3)-1]
	mark, end := "", ""
	if critique.Issues[0].Severity == skeptic.Critical {
		mark = "🔴 "
	}
	if critique.Ready {
		end = "\n\nReady for Synthesis ✅"
	}
	block, _ := json.MarshalIndent(critique, "", "  ") // a plain struct always encodes
	return fmt.Sprintf("The proposal says: “%s”\n\n%s%s%s\n\n```json\n%s\n```", p.last().lastSentence(), mark, critique.Issues[0].Text, end, block)
}

// synthesis returns the last sentence of the proposer, who spoke first.
func (p prompt) synthesis() string {
	said := p.speakers()
	if len(said) == 0 {
		return "There is nothing to summarize."
	}
	return fmt.Sprintf("On the topic “%s”, this proposal remains after the critiques (%d):\n\n%s\n\nAs an offline demo model, I cannot say how reliable it is.",
		p.topic, len(said[len(said)-1].points), said[0].points[len(said[0].points)-1])
}

// design returns the proposal of an expert, or its refinement.
func (p prompt) design() string {
	role := strings.TrimSuffix(labeledLine(p.system, "Your role: "), ".")
	if !strings.Contains(p.task, "Refine your proposal") {
		return fmt.Sprintf("In the %s role, I would start with “%s”. We should build the smallest part that can be shown to work, and then the next one.",
			role, p.word(p.round-1))
	}
	return fmt.Sprintf("In the %s role, I keep the order of the steps. As %s suggested, “%s” now has an owner from the first step.",
		role, p.last().name, p.word(p.round))
}

// advocacy returns a speech for an answer about a text, as long as the task asks for. It quotes the sentence that has the most
// words of the answer, and in later rounds the next ones. From the second round on, a participant with an even name leaves a word
// out, so that readers see what the check of quotes finds.
func (p prompt) advocacy() string {
	_, own, _ := strings.Cut(p.system, "begin: the answer that you argue for>>>\n")
	own, _, _ = strings.Cut(own, "\n<<<")
	text := fmt.Sprintf("This answer is right: “%s” ", own)
	if quotes := sentencesAbout(own, enclosed(p.system)); len(quotes) > 0 {
		q := quotes[max(p.round-1, 0)%len(quotes)]
		if p.round > 1 && !p.hasOddName() {
			q.text = misquote(q.text)
		}
		text += "The text says: " + q.quote(q.text) + " "
	}
	least := 0
	_, _ = fmt.Sscanf(between(p.task, "Write ", "\n"), "%d to", &least) // 0 if the task names no number
	for n := 0; len(strings.Fields(text)) < least; n++ {
		text += nth(advocacyLines, n) + " "
	}
	return strings.TrimSpace(text)
}
