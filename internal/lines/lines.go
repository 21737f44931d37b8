// Package lines shows code with the numbers of its lines, as models read it in prompts, and finds lines again.
package lines

import (
	"regexp"
	"strconv"
	"strings"
)

// separator stands between the number of a line and its text.
const separator = "| "

// Number returns a text with the number of each line before it, from first on.
func Number(text string, first int) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/4)
	for line := range strings.Lines(text) {
		b.WriteString(strconv.Itoa(first))
		b.WriteString(separator)
		b.WriteString(line)
		first++
	}
	return b.String()
}

var numbered = regexp.MustCompile(`^\s*[0-9]+\| ?`)

// Strip returns a text without the numbers that Number has put before its lines. It returns the text as it is if a line has
// none.
func Strip(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		at := numbered.FindStringIndex(line)
		if at == nil {
			return text
		}
		b.WriteString(line[at[1]:])
	}
	return b.String()
}

// Range returns the numbers of the first and the last line of a part of a text, from 1. The part has at least one byte.
func Range(text string, start, end int) (first, last int) {
	first = 1 + strings.Count(text[:start], "\n")
	last = first + strings.Count(text[start:end-1], "\n")
	return first, last
}
