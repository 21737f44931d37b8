package offline

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/protocol/skeptic"
)

// prose is what the script says in prose, by who it is told to be.
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
	}
	return p.speech()
}

// speechLines are what each side says, round by round; each has a place for a word of the topic.
var speechLines = map[string][]string{
	"for": {
		"I say yes. The topic says “%s”, and there too leaving things as they are is a choice, whose price is paid by those with the least say.",
		"Every change looks costly on the day before it. With “%s” it will be fought first, and defended afterwards.",
		"So weigh both errors, with “%s” in mind. Acting too early can be undone next year, waiting too long cannot.",
	},
	"against": {
		"I say no. A rule about “%s” is simple to write, and hard on everybody whose case is different.",
		"Good aims do not make a good tool. Whoever worries about “%s” can begin with prices and offers, which bend where a rule breaks.",
		"What remains is the burden of proof. It lies with those who would command others in the name of “%s”, and I have not seen it met.",
	},
}

// replyLines come before them; each has a place for who spoke last, and what.
var replyLines = []string{
	"%s tells us: “%s” That sounds finished, but it skips a step.",
	"I have listened to %s: “%s” Granted, and yet it proves less than it seems to.",
	"Let me take %s at that word: “%s” It is the best point so far, and still not enough.",
}

func (p prompt) speech() string {
	n := max(p.round-1, 0)
	text := fmt.Sprintf(nth(speechLines[p.stance()], n), p.word(n))
	if len(p.others) > 0 {
		last := p.others[len(p.others)-1]
		text = fmt.Sprintf(nth(replyLines, n), last.name, last.lastSentence()) + "\n\n" + text
	}
	return text
}

// stance is "for" or "against": the side, else what the position begins with, else one or the other.
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

// word is the nth that the topic may be about.
func (p prompt) word(n int) string { return nth(keywords(p.topic), n) }

// last is what somebody else said last.
func (p prompt) last() statement {
	if len(p.others) == 0 {
		return statement{"nobody", "Nothing was said."}
	}
	return p.others[len(p.others)-1]
}

// proposal is the proposer's answer, and its defence.
func (p prompt) proposal() string {
	text := fmt.Sprintf("My answer: try it with “%s” first, in one place, for one year, and measure it.", p.word(0))
	if len(p.others) == 0 {
		return text + " What is tried can be undone, and what is measured can be learned from."
	}
	return fmt.Sprintf("The last critique was the %s. I take it up: the trial ends by itself unless the figures for “%s” are better by then.\n\n%s",
		nth([]string{"first", "second", "third", "fourth"}, p.round-2), p.word(p.round-1), text)
}

// attack is a critique, which finds less from round to round.
func (p prompt) attack() string {
	score := func(f float64) *float64 { return &f }
	word := p.word(p.round - 1)
	critique := []skeptic.Critique{
		{Score: score(4), Issues: []skeptic.Issue{{Severity: skeptic.Critical, Text: "Nothing says when the trial with “" + word + "” has failed."}}},
		{Score: score(6.5), Issues: []skeptic.Issue{{Severity: skeptic.Major, Text: "One place may not stand for others where “" + word + "” is concerned."}}},
		{Score: score(8.5), Ready: true, Issues: []skeptic.Issue{{Severity: skeptic.Minor, Text: "The cost of measuring is left out."}}},
	}[min(max(p.round, 1), 3)-1]
	mark, end := "", ""
	if critique.Issues[0].Severity == skeptic.Critical {
		mark = "🔴 "
	}
	if critique.Ready {
		end = "\n\nReady for Synthesis ✅"
	}
	block, _ := json.MarshalIndent(critique, "", "  ") // a plain struct always encodes
	return fmt.Sprintf("I have read: “%s”\n\n%s%s%s\n\n```json\n%s\n```", p.last().lastSentence(), mark, critique.Issues[0].Text, end, block)
}

func (p prompt) synthesis() string {
	said := p.speakers()
	if len(said) == 0 {
		return "There is nothing to sum up."
	}
	return fmt.Sprintf("On the question “%s”, this is left after %d attacks.\n\n%s\n\nI am a script: how sure one can be of it, I cannot tell.",
		p.topic, len(said[len(said)-1].points), said[0].points[len(said[0].points)-1])
}

// design is an expert's proposal, or its refinement.
func (p prompt) design() string {
	role := strings.TrimSuffix(labeledLine(p.system, "Your role: "), ".")
	if !strings.Contains(p.task, "Refine your proposal") {
		return fmt.Sprintf("As %s I begin with “%s”. Build the smallest part that can be shown to work, then the next.", role, p.word(p.round-1))
	}
	return fmt.Sprintf("As %s I keep the order of steps. %s was right to ask for an owner: “%s” has one from the first step on.", role, p.last().name, p.word(p.round))
}
