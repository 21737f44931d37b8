package view

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"

	"github.com/elenchus-go/debate/examples/console"
)

// Wrap returns a text with lines that fit into a terminal, and without what could control it. For an output that is not a
// terminal, it returns the text as it is.
func Wrap(output io.Writer, text string) string {
	if !console.IsTerminal(output) {
		return text
	}
	columns := defaultColumns
	if f, ok := output.(*os.File); ok {
		if n, _, err := term.GetSize(f.Fd()); err == nil && n > 0 {
			columns = n
		}
	}
	return strings.Join(wrap(cleanText(text), textColumns(columns)), "\n")
}
