package view

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"

	"github.com/elenchus-go/debate/report/printer"
)

// Wrap returns a text with lines that fit into a terminal, and without what could control it. A line that begins with "> "
// keeps this mark on each of its lines. For an output that is not a
// terminal, it returns the text as it is.
func Wrap(output io.Writer, text string) string {
	if !printer.IsTerminal(output) {
		return text
	}
	columns := defaultColumns
	if f, ok := output.(*os.File); ok {
		if n, _, err := term.GetSize(f.Fd()); err == nil && n > 0 {
			columns = n
		}
	}
	var lines []string
	for line := range strings.SplitSeq(cleanText(text), "\n") {
		said, quoted := strings.CutPrefix(line, quoteMark)
		if !quoted {
			lines = append(lines, wrap(line, textColumns(columns))...)
			continue
		}
		for _, part := range wrap(said, max(textColumns(columns)-len(quoteMark), 1)) {
			lines = append(lines, quoteMark+part)
		}
	}
	return strings.Join(lines, "\n")
}

// quoteMark begins each line of a quotation.
const quoteMark = "> "
