package forks

import (
	"slices"
	"strings"
	"unicode"

	"github.com/elenchus-go/debate/providers"
)

// runLength words in a row tell a quote from a coincidence.
const runLength = 8

// remains reports whether a text of a prompt holds eight words in a row of a text that was left out, whatever their case and
// what stands between them. Of a shorter text, it looks for all words, if there are at least three.
func remains(omitted []string, prompt []providers.Message) bool {
	runs := map[string]bool{}
	sizes := map[int]bool{}
	for _, text := range omitted {
		list := wordsOf(text)
		size := min(runLength, len(list))
		if size < 3 {
			continue
		}
		sizes[size] = true
		for run := range runsOf(list, size) {
			runs[run] = true
		}
	}
	holds := func(text string) bool {
		list := wordsOf(text)
		for size := range sizes {
			for run := range runsOf(list, size) {
				if runs[run] {
					return true
				}
			}
		}
		return false
	}
	return slices.ContainsFunc(prompt, func(m providers.Message) bool {
		return holds(m.Text) || slices.ContainsFunc(m.Parts, func(p providers.Part) bool { return holds(p.Text) })
	})
}

// runsOf yields each run of so many words.
func runsOf(list []string, size int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := 0; i+size <= len(list); i++ {
			if !yield(strings.Join(list[i:i+size], " ")) {
				return
			}
		}
	}
}

// wordsOf returns the words of a text in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}
