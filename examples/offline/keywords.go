package offline

import (
	"strings"
	"unicode"
)

// nth returns the nth item of a list, and starts over at the end of the list.
func nth(list []string, n int) string { return list[n%len(list)] }

// keywords returns the words that a text may be about.
func keywords(text string) (list []string) {
	for _, w := range splitWords(text) {
		if len(w) > 3 && !strings.Contains(stopWords, " "+strings.ToLower(w)+" ") {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		list = []string{"the topic"}
	}
	return list
}

// stopWords lists words that do not tell what a text is about.
const stopWords = " should would could must will with that than this from have does what when which where there your their "

func splitWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}
