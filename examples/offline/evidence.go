package offline

import (
	"regexp"
	"strings"
)

// delimiter matches the line before a document or the result of a tool, up to the line after it.
var delimiter = regexp.MustCompile(`(?s)<<<(\d+) begin: (?:document|result of) [^\n]*>>>\n(.*?)\n<<<\d+ end>>>`)

// enclosed returns the texts of documents and results of tools between their delimiters.
func enclosed(text string) (list []string) {
	for _, m := range delimiter.FindAllStringSubmatch(text, -1) {
		list = append(list, m[2])
	}
	return list
}

// sentence matches a sentence on one line.
var sentence = regexp.MustCompile(`\p{Lu}[^.!?\n]{10,200}[.!?]`)

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
