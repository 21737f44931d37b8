package offline

import (
	"strings"
	"unicode"
)

// nth is the nth of a list that begins anew at its end.
func nth(list []string, n int) string { return list[n%len(list)] }

// keywords are the words that a text may be about.
func keywords(text string) (list []string) {
	for _, w := range splitWords(text) {
		if len(w) > 3 && !strings.Contains(stopWords, " "+strings.ToLower(w)+" ") {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		list = []string{"the question"}
	}
	return list
}

// stopWords words say nothing of what a text is about.
const stopWords = " should would could must will with that than this from have does what when which there "

func splitWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}
