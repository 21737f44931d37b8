package canonical

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// letterPatterns match answers that name a letter, the surest first. They are large, because of the letters and digits of all
// languages, and compiled on first use.
var letterPatterns = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		letterAlone(),
		regexp.MustCompile(`^[^\pL\pN]*(\pL)[).:\]]`), // "B) Paris", "(B) Paris"
		regexp.MustCompile(letterStated),
		regexp.MustCompile(`[(\[](\pL)[)\]]`), // "It is (B)"
	}
})

// letterAlone matches "(b)" and "B.".
var letterAlone = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^\pL\pN]*(\pL)[^\pL\pN]*$`) })

// letterStated matches the statement of an answer, such as "the answer is B because". A capital I that another word
// follows is a word.
const letterStated = `(?:(?i:\b(?:answer|choice)(?:\s+(?:is|was|would be|must be|should be|remains)\b|\s*:)|` +
	`\b(?:choose|chose|pick|picked|select|selected|go with|going with)\b)[^\pL\pN]*(?i:(?:option|letter|choice|answer)\s*)?[^\pL\pN]*` +
	`(?:([A-HJ-Z])(?:[^\pL\pN'’]|$)|(I)[^\pL\pN]*(?:$|[.,;:)\]]|\s(?:because|since|as|for)\b)|(\pL)[^\pL\pN]*$)|` +
	`\b([A-Z])[^\pL\pN]{1,4}is\s+(?:(?:clearly|definitely|also)\s+)?(?:the answer|(?:the\s+)?(?:correct|right|best))\b)`

// Letter returns the letter of an option: the only letter of the answer; else its first letter if ")", ".", ":" or
// "]" follows; else the letter of the last statement such as "the answer is A" or "A is correct"; else the last letter in
// brackets; else the last single capital letter, except "A" and "I", which are words unless they are at the end.
func Letter(answer string) string {
	for _, re := range letterPatterns() {
		if all := re.FindAllStringSubmatch(answer, -1); len(all) > 0 {
			return strings.ToUpper(strings.Join(all[len(all)-1][1:], "")) // one group has matched
		}
	}
	words := strings.FieldsFunc(answer, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’' })
	for i, w := range slices.Backward(words) {
		if len(w) == 1 && w >= "A" && w <= "Z" && (i == len(words)-1 || w != "A" && w != "I") {
			return w
		}
	}
	return ""
}
