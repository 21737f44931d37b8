package pairwise

import (
	"regexp"
	"strings"
)

// ReadVerdict reads which of two answers a reply in prose says is better, for replies that others have recorded. first and second
// are what the reply calls the answers, such as "Output (a)". It returns First or Second, and false if the reply does not say
// so in a sentence that leaves no doubt: the whole reply is the name of an answer, or its last sentence says no more than that
// the answer is better, and the reply says of no other that it is better, or of neither or both anything at all.
//
// Judges of a debate reply in JSON, with a margin that prose does not have.
func ReadVerdict(reply, first, second string) (winner string, ok bool) {
	reply = strings.TrimSpace(reply)
	for _, x := range []struct{ winner, name, other string }{{First, first, second}, {Second, second, first}} {
		if strings.TrimSuffix(reply, ".") == x.name {
			return x.winner, true
		}
		name, other := regexp.QuoteMeta(x.name), regexp.QuoteMeta(x.other)
		last := regexp.MustCompile(`(?:^|[.!\n]\s*)(?:Therefore, (?:[^.\n]*, )?)?` + name + ` is (?:the )?better(?: output| answer)?\.?$`)
		doubt := regexp.MustCompile(other + ` is (?:the )?better|[Nn]either|[Bb]oth`)
		if last.MatchString(reply) && !doubt.MatchString(reply) {
			return x.winner, true
		}
	}
	return "", false
}
