package view

import (
	"io"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/elenchus-go/debate/report/printer"
)

// Options configure a view.
type Options struct {
	Output io.Writer // where to show the debate; the view is live if it is a terminal
	// Input is a terminal that does not show what is typed while the view is live. The view does not read it, and Ctrl-C
	// remains a signal. Nil, and anything that is not a file, has no effect.
	Input io.Reader
	Env   func(string) string // looks up variables such as TERM and NO_COLOR, like os.Getenv; nil if there are none
	Plain bool                // write plain lines even to a terminal
	// HideTexts shows who speaks, but no text and no score, for a reader who takes part in the debate and may not read
	// everything.
	HideTexts bool
	Elapsed   time.Duration // running time of the debate before the view starts
	Currency  string        // currency of the debate's prices, such as "USD"; may be empty
	Hint      string        // what the reader can do, such as "Ctrl-C pauses"
}

// defaultColumns and defaultRows are the size of a terminal that does not report its size.
const defaultColumns, defaultRows = 80, 24

// isLive reports whether the output is a terminal that can show changes.
func (o *Options) isLive() bool {
	return !o.Plain && printer.IsTerminal(o.Output) && o.variable("TERM") != "dumb"
}

// profile returns the colours of the terminal. Any value of NO_COLOR turns them off.
func (o *Options) profile() colorprofile.Profile {
	p := colorprofile.Env(o.environ())
	if o.variable("NO_COLOR") != "" {
		p = min(p, colorprofile.ASCII)
	}
	return p
}

// environ returns the variables that describe the terminal.
func (o *Options) environ() (pairs []string) {
	for _, name := range []string{
		"TERM", "COLORTERM", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "GOOGLE_CLOUD_SHELL", "TMUX", "WT_SESSION", "ConEmuANSI", "ANSICON", "ANSICON_VER",
	} {
		if value := o.variable(name); value != "" {
			pairs = append(pairs, name+"="+value)
		}
	}
	return pairs
}

// wrapsAgain reports whether the terminal wraps lines again when it gets narrower, as most do. xterm and GNU Screen cut
// them off.
func (o *Options) wrapsAgain() bool {
	return o.variable("TMUX") != "" || o.variable("XTERM_VERSION") == "" && o.variable("STY") == ""
}

func (o *Options) variable(name string) string {
	if o.Env == nil {
		return ""
	}
	return o.Env(name)
}
