package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/providers/scripted"
)

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

// sentencesAbout returns the sentences of texts, those with the most words of an answer first.
func sentencesAbout(answer string, texts []passage) (list []passage) {
	for _, x := range texts {
		for _, s := range sentence.FindAllString(x.text, -1) {
			list = append(list, passage{x.source, s})
		}
	}
	shared := func(s passage) (n int) {
		for _, w := range keywords(strings.ToLower(answer)) {
			if strings.Contains(strings.ToLower(s.text), w) {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(list, func(a, b passage) int { return shared(b) - shared(a) })
	return list
}

// advocacyLines fill a speech.
var advocacyLines = []string{
	"I am an offline demo model, so I do not understand the text: I quote a sentence that has words of the answer.",
	"A real model would explain here why this passage supports the answer, and why the passage that the other side quotes does not.",
	"It would also answer what was said against it before, and concede what it cannot refute.",
	"A judge who has not read the text can check only the quotes, and whether the argument holds together.",
	"What is said without a quote should count for little.",
}

// verdicts matches a statement and the verdicts on its quotes.
var verdicts = regexp.MustCompile(`(?s)^<<<\d+ begin: (.*?), round .*\n<<<\d+ checked: ([^\n]*)>>>`)

// sides matches who argues for which answer.
var sides = regexp.MustCompile(`(?m)^(.*) argues for answer ([12])\.$`)

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
