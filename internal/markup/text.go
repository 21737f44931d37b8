package markup

import (
	"strings"
	"unicode"
)

// lineBreaks replaces all kinds of line breaks by \n.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// Clean removes control characters and characters that change the direction of text, and normalizes line breaks to \n.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Bidi_Control, unicode.Noncharacter_Code_Point) {
			return -1
		}
		return r
	}, lineBreaks.Replace(strings.ToValidUTF8(text, "\uFFFD")))
}

// Paragraphs cleans a text and splits it at blank lines.
func Paragraphs(text string) (list []string) {
	var lines []string
	for l := range strings.Lines(Clean(text) + "\n\n") {
		switch {
		case strings.TrimSpace(l) != "":
			lines = append(lines, strings.TrimRightFunc(l, unicode.IsSpace))
		case len(lines) > 0:
			list, lines = append(list, strings.Join(lines, "\n")), nil
		}
	}
	return list
}

// Fold splits a text in Markdown that is longer than 2n bytes in two, so that a page can show the first lines and fold
// the rest. It splits between paragraphs, or at the end of a sentence if the paragraph is long, after about n bytes. It
// does not split lists, tables and code, nor a heading from the text below it. The rest is "" if the text is shorter or
// cannot be split.
func Fold(text string, n int) (first, rest string) {
	text = strings.Trim(Clean(text), "\n")
	if len(text) <= 2*n {
		return text, ""
	}
	start, end := 0, len(text) // of the paragraph that the text is split in or after
	pos := 0
	fence := ""
	blank := false
	for l := range strings.Lines(text) {
		if blank && fence == "" && !strings.HasPrefix(l, " ") && !strings.HasPrefix(l, "\t") {
			last := strings.TrimSpace(text[start:pos])
			isHeading := strings.HasPrefix(last, "#") && !strings.Contains(last, "\n")
			end = pos
			if end >= n/2 && !isHeading {
				break
			}
			start = pos
		}
		switch mark := fenceMark(l); {
		case fence == "":
			fence = mark
		case strings.HasPrefix(mark, fence):
			fence = ""
		}
		blank = strings.TrimSpace(l) == ""
		pos += len(l)
		end = pos
	}
	if end > 2*n && start < n {
		if at := sentenceEnd(text[start:end], n-start); at > 0 {
			end = start + at
		}
	}
	return strings.TrimSpace(text[:end]), strings.Trim(text[end:], "\n")
}

// fenceMark returns the mark at the start of a line that opens or closes code.
func fenceMark(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range "`~" {
		if rest := strings.TrimLeft(line, string(c)); len(line)-len(rest) >= 3 {
			return line[:len(line)-len(rest)]
		}
	}
	return ""
}

// sentenceEnd returns the end of the first sentence that ends after n bytes of a paragraph, or the end of a word if the
// sentence is long. It returns 0 if the paragraph has several lines, which may be a list, or no such end.
func sentenceEnd(paragraph string, n int) int {
	paragraph = strings.TrimRight(paragraph, "\n")
	if strings.Contains(paragraph, "\n") {
		return 0
	}
	word := 0
	for i := n; i < len(paragraph); i++ {
		switch {
		case strings.HasPrefix(paragraph[i:], "。"):
			return i + len("。")
		case paragraph[i] != ' ':
		case strings.IndexByte(".!?", paragraph[i-1]) >= 0:
			return i
		case word == 0:
			word = i
		}
		if word > 0 && i > 2*n {
			return word
		}
	}
	return word
}
