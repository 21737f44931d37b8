package view

import (
	"os"

	"github.com/charmbracelet/x/term"
)

// showCursor shows the cursor, which Bubble Tea hides.
const showCursor = "\x1b[?25h"

// Save returns a function that makes the terminal of a view usable again, for a process that ends without Stop.
func Save(o Options) (restore func()) {
	in, out := asTerminal(o.Input), asTerminal(o.Output)
	var before *term.State
	if in != nil {
		before, _ = term.GetState(in.Fd())
	}
	return func() {
		if before != nil && inForeground(in) {
			_ = term.SetState(in.Fd(), before)
		}
		if out != nil && o.isLive() {
			_, _ = out.WriteString(showCursor + "\r\n")
		}
	}
}

// asTerminal returns the terminal that a file is, or nil.
func asTerminal(file any) *os.File {
	if f, ok := file.(*os.File); ok && term.IsTerminal(f.Fd()) {
		return f
	}
	return nil
}
