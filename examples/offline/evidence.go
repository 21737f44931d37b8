package offline

import (
	"regexp"
	"strings"
)

// passage is a text that the model has read, and the name or the number of its source, which is empty if it has none.
type passage struct{ source, text string }

// delimiter matches the line before a document or the result of a tool, up to the line after it. numbered matches the number and
// the name of a source in that line.
var (
	delimiter = regexp.MustCompile(`(?s)<<<(\d+) begin: (document|result of) ([^\n]*)>>>\n(.*?)\n<<<\d+ end>>>`)
	numbered  = regexp.MustCompile(`(?:, source|;) \[(\d+)\] ?([^;]*)`)
)

// enclosed returns the texts of documents and results of tools between their delimiters.
func enclosed(text string) (list []passage) {
	for _, m := range delimiter.FindAllStringSubmatch(text, -1) {
		if m[2] == "document" {
			list = append(list, passage{m[3], m[4]})
			continue
		}
		list = append(list, passages(numbered.FindAllStringSubmatch(m[3], -1), m[4])...)
	}
	return list
}

// passages returns the parts of a result. A part of a source begins with a paragraph whose first line is the source's name.
func passages(sources [][]string, text string) (list []passage) {
	for part := range strings.SplitSeq(text, "\n\n") {
		name, _, _ := strings.Cut(part, "\n")
		switch n := len(list); {
		case len(sources) > 0 && (n == 0 || name == sources[0][2]):
			list, sources = append(list, passage{sources[0][1], part}), sources[1:]
		case n == 0:
			list = append(list, passage{"", part})
		default:
			list[n-1].text += "\n\n" + part
		}
	}
	return list
}

// quote returns words as a quote of the passage.
func (p passage) quote(words string) string {
	if p.source == "" {
		return "“" + words + "”"
	}
	return `<quote source="` + p.source + `">` + words + "</quote>"
}

// misquote returns a sentence without its middle word, and without a mark.
func misquote(sentence string) string {
	words := strings.Fields(sentence)
	at := len(words) / 2
	return strings.Join(append(words[:at:at], words[at+1:]...), " ")
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
