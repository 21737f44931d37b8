package view

import (
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/elenchus-go/debate/examples/console"
)

// Options configure a view.
type Options struct {
	Output io.Writer // where to show the debate; the view is live if it is a terminal
	// Input is a terminal that does not show what is typed while the view is live. The view does not read it, and Ctrl-C
	// remains a signal. Nil, and anything that is not a file, has no effect.
	Input   io.Reader
	Environ []string // variables such as os.Environ returns: TERM, NO_COLOR, COLORTERM and others
	Plain   bool     // write plain lines even to a terminal
	// HideTexts shows who speaks, but no text and no score, for a reader who takes part in the debate and may not read
	// everything.
	HideTexts bool
	Elapsed   time.Duration // running time of the debate before the view starts
	Currency  string        // currency of the debate's prices, such as "USD"
	Hint      string        // what the reader can do, such as "Ctrl-C pauses"
}

// defaultColumns and defaultRows are the size of a terminal that does not report its size.
const defaultColumns, defaultRows = 80, 24

// isLive reports whether the output is a terminal that can show changes.
func isLive(o Options) bool {
	return !o.Plain && console.IsTerminal(o.Output) && variable(o.Environ, "TERM") != "dumb"
}

// profileOf returns the colours of a terminal. Any value of NO_COLOR turns them off.
func profileOf(environ []string) colorprofile.Profile {
	p := colorprofile.Env(environ)
	if variable(environ, "NO_COLOR") != "" {
		p = min(p, colorprofile.ASCII)
	}
	return p
}

// variable returns the value of an environment variable.
func variable(environ []string, name string) (value string) {
	for _, pair := range environ {
		if k, v, ok := strings.Cut(pair, "="); ok && k == name {
			value = v
		}
	}
	return value
}
