package view

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// output is an output that reports the first frame.
type output struct {
	io.Writer
	once  sync.Once
	drawn chan struct{}
}

// hideCursor holds what Bubble Tea writes with its first frame.
const hideCursor = "\x1b[?25l"

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if bytes.Contains(b, []byte(hideCursor)) {
		o.once.Do(func() { close(o.drawn) })
	}
	return n, err //nolint:wrapcheck // a transparent writer
}

// terminal is an output whose size Bubble Tea can ask for. If a terminal wraps lines again when it gets narrower, the
// frame gets higher. Bubble Tea does not know that, so terminal erases the frame.
type terminal struct {
	*os.File
	output     *output
	canvas     *canvas
	wrapsAgain bool
	mu         sync.Mutex
	columns    int      // at the last write
	frame      []string // at the last write
}

func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if columns, _, err := term.GetSize(t.Fd()); err == nil && columns > 0 {
		if t.wrapsAgain && columns < t.columns {
			_, _ = t.File.WriteString(eraseWrapped(t.frame, columns))
		}
		t.columns, t.frame = columns, t.canvas.lastFrame()
	}
	return t.output.Write(b)
}

// eraseWrapped returns what erases a frame that a narrower terminal has wrapped, with the cursor in its last line, and
// moves the cursor to where it would be without the additional rows. It erases the rows one by one: tmux keeps a whole
// screen that is erased at once.
func eraseWrapped(frame []string, columns int) string {
	above, extra := max(0, len(frame)-1), 0
	for _, l := range frame[:above] {
		extra += max(ansi.StringWidth(l)-1, 0) / columns
	}
	if extra == 0 {
		return ""
	}
	return "\r" + ansi.EraseScreenBelow + strings.Repeat(ansi.CUU1+ansi.EraseEntireLine, above+extra) + ansi.CursorDown(above)
}

// watch returns an output for Bubble Tea, and a channel that is closed after the first frame.
func watch(w io.Writer, c *canvas, wrapsAgain bool) (out io.Writer, drawn <-chan struct{}) {
	o := &output{Writer: w, drawn: make(chan struct{})}
	if f, ok := w.(*os.File); ok && term.IsTerminal(f.Fd()) {
		return &terminal{File: f, output: o, canvas: c, wrapsAgain: wrapsAgain}, o.drawn
	}
	return o, o.drawn
}
