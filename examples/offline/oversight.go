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

// advocacyLines fill a speech. They have placeholders for the name of the speaker, %[1]s, and the round, %[2]d.
var advocacyLines = []string{
	"%[1]s is an offline demo model that does not understand the text, and quotes in round %[2]d a sentence that has words of the answer.",
	"In speech %[2]d, a real model would explain here why this passage supports the answer of %[1]s, and why the passage that the other side quotes does not.",
	"In place of %[1]s, it would also answer what was said before speech %[2]d, and concede what it cannot refute.",
	"A judge who has not read the text can check only the quotes of %[1]s in round %[2]d, and whether the argument holds together.",
	"What %[1]s says without a quote in round %[2]d should count for little.",
}

// verdicts matches a statement and the verdicts on its quotes.
var verdicts = regexp.MustCompile(`(?s)^<<<\d+ begin: (.*?), round .*\n<<<\d+ checked: ([^\n]*)>>>`)

// sides matches who argues for which answer.
var sides = regexp.MustCompile(`(?m)^(.*) argues for answer ([12])\.$`)
