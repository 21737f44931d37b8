package offline

import (
	"regexp"
	"slices"
	"strings"
)

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
