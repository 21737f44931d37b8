package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/protocol/skeptic"
)

// A debater says no sentence that was said before in its debate. A speech is about an aspect of the topic, which no other seat has,
// and its lines are those of the round. So a debater need not know what others say at the same time.

// aspects lists what seats speak about. Each seat has an aspect of its own.
var aspects = []string{
	"health", "safety", "fairness", "trust", "freedom", "privacy", "learning", "comfort",
	"access", "choice", "order", "quality", "variety", "care", "peace", "honesty",
}

// speechLines contains the speeches of each side by round. A line has placeholders for the aspect, %[1]s, and for a keyword of the
// topic, %[2]s.
var speechLines = map[string][][]string{
	"for": {
		{
			"My answer is yes, and my reason is %[1]s.",
			"Arguments about “%[2]s” often pass over what the status quo does to %[1]s.",
			"Where %[1]s suffers, people with little influence bear most of the harm.",
		},
		{
			"Most reforms look expensive until somebody asks what they do for %[1]s.",
			"With “%[2]s”, too, there will be resistance, and later people will judge by the effects on %[1]s.",
			"Few who have gained in %[1]s want to go back.",
		},
		{
			"Let us compare the two risks, with %[1]s in mind.",
			"If we act too early on “%[2]s”, we can correct a mistake about %[1]s next year.",
			"If we wait too long, nobody can make up for the %[1]s that is lost.",
		},
	},
	"against": {
		{
			"My answer is no, and the reason is %[1]s.",
			"A rule about “%[2]s” is easy to write, but its effects on %[1]s depend on how people live with it.",
			"Those whose circumstances are unusual notice first when a rule forgets %[1]s.",
		},
		{
			"A good aim does not justify a blunt tool, least of all at the expense of %[1]s.",
			"If “%[2]s” is the problem, we should start with prices and incentives, which leave %[1]s alone.",
			"Incentives also show soon whether %[1]s gets worse.",
		},
		{
			"The burden of proof is on the side that wants to restrict others, also where %[1]s is concerned.",
			"I have heard of benefits, but nobody has measured what “%[2]s” does to %[1]s.",
			"Until somebody does, I would keep what protects %[1]s.",
		},
	},
}

// replyLines contains the answers to the previous speech, by round. Each has placeholders for the name of its speaker, for a
// quotation, and for the aspect.
var replyLines = []string{
	"%s says “%s”, which is a fair point, but it leaves out %s.",
	"%s argues “%s”, and I agree in part, but it proves little about %s.",
	"%s's strongest point is “%s”, and it does not settle the question of %s.",
}

// lastLines contains what a debater says in the rounds after that, in which it has nothing new to say.
var lastLines = []string{
	"My answer is the same, and so is my reason, %s.",
	"What I said about %s still holds.",
	"My last word about %s is said.",
	"About %s, I say what I said.",
	"Nothing here is new about %s.",
	"As for %s, I said it all.",
}

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
	case strings.Contains(who, "experts who answer the same question"):
		return p.expertise()
	case strings.Contains(who, "you argue for one of two answers"):
		return p.advocacy()
	case strings.Contains(who, "the judge who decides which of two answers"):
		return "Which passage of the text shows it? Please quote it word for word."
	}
	return p.speech()
}

// speech returns a speech for the actor's stance and the current round. It first answers the previous speech, if any.
func (p prompt) speech() string {
	n := max(p.round-1, 0)
	aspect := p.aspect()
	lines := speechLines[p.stance()]
	parts := []string{fmt.Sprintf(nth(lastLines, max(n-len(lines), 0)), aspect)}
	if n < len(lines) {
		parts[0] = fmt.Sprintf(strings.Join(lines[n], " "), aspect, p.word(n))
		if len(p.others) > 0 {
			last := p.others[len(p.others)-1]
			answer := fmt.Sprintf(replyLines[n], last.name, strings.TrimRight(last.lastSentence(), ".?! "), aspect)
			parts = slices.Insert(parts, 0, answer)
		}
	}
	if quote := p.quotation(); quote != "" {
		parts = slices.Insert(parts, len(parts)-1, "The documents say: "+quote)
	}
	text := strings.Join(parts, "\n\n")
	if strings.Contains(p.task, "you are the devil's advocate") {
		text = fmt.Sprintf("In round %d, I speak as the devil's advocate. ", p.round) + text
	}
	return text
}

// aspect returns what the actor speaks about: another one for each seat, and other ones when the lines of the rounds begin anew.
func (p prompt) aspect() string {
	again := max(p.round-1, 0) / (len(speechLines["for"]) + len(lastLines))
	return nth(aspects, p.seat()+again*len(aspects)/2)
}

// seat returns the place of the actor among the participants by name. If the prompt does not list them, it depends on the first
// letter of the name.
func (p prompt) seat() int {
	names := append(listed(p.system, "The other participants:"), listed(p.system, "The other experts:")...)
	switch who, _, _ := strings.Cut(p.system, "\n"); {
	case len(names) > 0:
		slices.Sort(names)
		at, _ := slices.BinarySearch(names, p.name)
		return at
	case strings.Contains(who, "the affirmative side"):
		return 0
	case strings.Contains(who, "the negative side"):
		return 1
	case p.name == "":
		return 0
	}
	return int(p.name[0]+31) % 32 // A and a are 0
}

// listed returns the names of a list of participants. Texts between delimiter lines may stand between them.
func listed(text, heading string) (names []string) {
	_, rest, _ := strings.Cut(text, heading+"\n")
	enclosed := false
	for line := range strings.Lines(rest) {
		name, isItem := strings.CutPrefix(strings.TrimSpace(line), "- ")
		switch {
		case strings.HasPrefix(line, "<<<"):
			enclosed = !enclosed
		case enclosed:
		case !isItem:
			return names
		default:
			name, _, _ = strings.Cut(name, ", ")
			names = append(names, strings.TrimSuffix(name, ":"))
		}
	}
	return names
}

// quotation returns a sentence with a word of the topic in documents and results of tools that nobody has quoted yet, or an empty
// text if there is none. From the second round on, the side against leaves a word out, so that readers see what the check of quotes
// finds.
func (p prompt) quotation() string {
	statements := slices.Clone(p.own)
	for _, s := range p.others {
		statements = append(statements, s.text)
	}
	said := strings.Join(statements, "\n")
	words := keywords(strings.ToLower(p.topic))
	var fresh []string
	for _, x := range append(p.texts, enclosed(p.system)...) {
		for _, s := range sentence.FindAllString(x.text, -1) {
			if len(strings.Fields(s)) <= 3 || !containsAny(strings.ToLower(s), words) {
				continue
			}
			if p.round > 1 && p.stance() == "against" && x.source != "" {
				s = misquote(s)
			}
			if !strings.Contains(said, s) {
				fresh = append(fresh, x.quote(s))
			}
		}
	}
	if len(fresh) == 0 {
		return ""
	}
	return nth(fresh, p.seat())
}

// stances has the stance of a side, and of the first or the last word of a position.
var stances = map[string]string{"for": "for", "pro": "for", "yes": "for", "against": "against", "con": "against", "no": "against"}

// stance returns "for" or "against". It depends on the side, or else on the position, or else on the name.
func (p prompt) stance() string {
	who, _, _ := strings.Cut(p.system, "\n")
	_, position, _ := strings.Cut(p.system, "begin: your position>>>\n")
	position, _, _ = strings.Cut(position, "\n<<<")
	words := append(splitWords(strings.ToLower(position)), "")
	named := cmp.Or(stances[p.side], stances[words[0]], stances[words[max(len(words)-2, 0)]])
	switch {
	case named != "":
		return named
	case strings.Contains(who, "the negative side"):
		return "against"
	case strings.Contains(who, "the affirmative side"), p.hasOddName():
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

// expertise returns the answer of an expert, who does not know who the others are.
func (p prompt) expertise() string {
	answer := "yes"
	if p.stance() == "against" {
		answer = "no"
	}
	return fmt.Sprintf("I am %s, and my answer is %s, because of %s.\n\nAs for “%s”, %s would start with a small step and look at its effects.",
		p.name, answer, p.aspect(), p.word(0), p.name)
}

// proposal returns the proposer's answer or, from round 2 on, its defence against the last critique.
func (p prompt) proposal() string {
	if len(p.others) == 0 {
		return fmt.Sprintf("I propose a pilot that starts with “%s”. The pilot runs in one place for one year, and we measure its results. "+
			"It is easy to stop, and the results show whether to continue.", p.word(0))
	}
	return fmt.Sprintf("I accept critique %d.\n\nVersion %d of the pilot ends automatically unless the figures for “%s” have improved by then.",
		p.round-1, p.round, p.word(p.round-1))
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
	if p.round > 3 {
		critique.Issues[0].Text = fmt.Sprintf("Version %d still omits the cost of measuring the results.", p.round)
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
		return fmt.Sprintf("In the %s role, I would start round %d with “%s” and with %s. We should build the smallest part that can be shown to help %s in step %d.",
			role, p.round, p.word(p.round-1), p.aspect(), p.aspect(), p.round)
	}
	return fmt.Sprintf("In the %s role, I keep the order of the steps for %s in round %d. As %s suggested, “%s” now has an owner for %s from step %d on.",
		role, p.aspect(), p.round, p.last().name, p.word(p.round), p.aspect(), p.round)
}

// advocacy returns a speech for an answer about a text, as long as the task asks for. It quotes the sentence that has the most
// words of the answer, and in later rounds the next ones. From the second round on, a participant with an even name leaves a word
// out, so that readers see what the check of quotes finds.
func (p prompt) advocacy() string {
	_, own, _ := strings.Cut(p.system, "begin: the answer that you argue for>>>\n")
	own, _, _ = strings.Cut(own, "\n<<<")
	text := fmt.Sprintf("In round %d, %s argues for this answer: “%s” ", p.round, p.name, own)
	if quotes := sentencesAbout(own, enclosed(p.system)); len(quotes) > 0 {
		q := quotes[max(p.round-1, 0)%len(quotes)]
		if p.round > 1 && !p.hasOddName() {
			q.text = misquote(q.text)
		}
		text += fmt.Sprintf("The text, for speech %d of %s, says: %s ", p.round, p.name, q.quote(q.text))
	}
	least := 0
	_, _ = fmt.Sscanf(between(p.task, "Write ", "\n"), "%d to", &least) // 0 if the task names no number
	for n := 0; len(strings.Fields(text)) < least; n++ {
		text += fmt.Sprintf(nth(advocacyLines, n), p.name, p.round) + " "
	}
	return strings.TrimSpace(text)
}
