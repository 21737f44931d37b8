package main

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The size of a character and of the margin in pixels.
const (
	charWidth, lineHeight = 8.4, 18
	margin                = 16
)

// The colours of the picture. Their contrast with the background is at least 4.5.
const (
	background = "#0d1117"
	foreground = "#e6edf3"
	faint      = "#9198a1"
)

// palette has the colours of the escape sequences 30 to 37.
var palette = []string{"#6e7681", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#d2a8ff", "#39c5cf", "#e6edf3"}

// style is how text looks.
type style struct {
	color       string
	bold, faint bool
}

// attributes returns the style as attributes of SVG.
func (s style) attributes() string {
	color := s.color
	if color == "" && s.faint {
		color = faint
	}
	text := ""
	if color != "" {
		text += fmt.Sprintf(" fill=%q", color)
	}
	if s.bold {
		text += ` font-weight="bold"`
	}
	return text
}

var escape = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// draw returns an SVG picture of a screen. The screen is what "tmux capture-pane -e" prints: one character per column, and
// escape sequences for styles.
func draw(screen string, columns int) string {
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	width, height := float64(columns)*charWidth+2*margin, len(lines)*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" role="img" aria-labelledby="title">
<title id="title">The command debate in a terminal: a transcript with the scores of a judge, and a reply that is streaming</title>
<rect width="100%%" height="100%%" rx="8" fill="%s"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="%s">
`, width, height, width, height, background, foreground)
	var now style
	for i, line := range lines {
		now = drawLine(&b, line, now, margin+i*lineHeight+lineHeight-4)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// drawLine draws a line that begins in a style, and returns the style at its end.
func drawLine(b *strings.Builder, line string, now style, y int) style {
	column := 0
	text := func(part string) { // viewers of SVG differ in what they do with spaces: each text begins and ends with a character
		for part != "" {
			rest := strings.TrimLeft(part, " ")
			column += len(part) - len(rest)
			word, _, _ := strings.Cut(rest, "  ")
			part = rest[len(word):]
			if word = strings.TrimRight(word, " "); word != "" {
				n := utf8.RuneCountInString(word)
				fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f"%s>`, margin+float64(column)*charWidth, y, float64(n)*charWidth, now.attributes())
				_ = xml.EscapeText(b, []byte(word)) // a Builder does not fail
				b.WriteString("</text>\n")
			}
			column += utf8.RuneCountInString(rest) - utf8.RuneCountInString(part)
		}
	}
	for {
		at := escape.FindStringSubmatchIndex(line)
		if at == nil {
			text(line)
			return now
		}
		text(line[:at[0]])
		now = now.apply(line[at[2]:at[3]])
		line = line[at[1]:]
	}
}

// apply returns the style after an escape sequence with these codes.
func (s style) apply(codes string) style {
	for code := range strings.SplitSeq(codes, ";") {
		n, _ := strconv.Atoi(code) // an empty code is 0
		switch {
		case n == 0:
			s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.faint = true
		case n == 22:
			s.bold, s.faint = false, false
		case n >= 30 && n <= 37:
			s.color = palette[n-30]
		case n == 39:
			s.color = ""
		}
	}
	return s
}
