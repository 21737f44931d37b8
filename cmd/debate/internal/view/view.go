// Package view shows a debate in a terminal while it runs: the transcript of what is committed, which remains, and below
// it the replies in flight, which change.
//
//	v := view.New(view.Options{Output: os.Stderr, Input: os.Stdin, Environ: os.Environ()})
//	for m, err := range d.Replay(ctx) { // what happened before
//		if err == nil {
//			v.Skip(m.Event)
//		}
//	}
//	v.Start()
//	defer v.Stop()
//	for event, err := range d.Run(ctx) {
//		if err == nil {
//			v.Show(event)
//		}
//	}
//
// If the output is not a terminal, the view writes the transcript as plain lines.
package view

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/elenchus-go/debate"
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

// View shows one debate. Its methods may be called concurrently.
type View struct {
	options Options
	live    bool
	profile colorprofile.Profile
	started time.Time

	mu      sync.Mutex // held while lines are printed, so that they are in order
	printed bool       // a line was printed
	screen  *screen    // nil unless the view is live and has started
	shared             // what the screen also reads
}

// shared holds a board and the size of the terminal.
type shared struct {
	state         sync.Mutex
	board         board
	columns, rows int
	frame         []string // what was drawn last
	turn          int      // number of frames so far
}

// New returns a view. It shows nothing before the first call of Start, Show or Notef.
func New(o Options) *View {
	v := &View{options: o, live: isLive(o), profile: profileOf(o.Environ)}
	v.board.hidden = o.HideTexts
	if v.live {
		v.resize(defaultColumns, defaultRows)
	}
	return v
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

// Live reports whether the view draws on a terminal.
func (v *View) Live() bool { return v.live }

// Skip records an event of the past without showing it.
func (v *View) Skip(ev debate.Event) {
	v.state.Lock()
	defer v.state.Unlock()
	if v.board.isNew(ev) {
		v.board.record(ev)
	}
}

// Show shows an event. It ignores durable events that it has recorded before.
func (v *View) Show(ev debate.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.print(v.record(ev))
}

// record records an event and returns the lines to print.
func (v *View) record(ev debate.Event) []string {
	v.state.Lock()
	defer v.state.Unlock()
	if !v.board.isNew(ev) {
		return nil
	}
	before := v.board.title()
	v.board.record(ev)
	lines := v.board.lines(ev)
	if title := v.board.title(); title != before && title != "" {
		lines = append(v.board.headingLines(title), lines...)
	}
	return lines
}

// Notef shows a line that is not part of the debate.
func (v *View) Notef(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.Lock()
	lines := v.board.noteLines(plainStyle, fmt.Sprintf(format, args...))
	v.state.Unlock()
	v.print(lines)
}

// print writes lines with the colours of the terminal.
func (v *View) print(lines []string) {
	if len(lines) > 0 && !v.printed {
		v.printed = true
		if lines[0] == "" {
			lines = lines[1:]
		}
	}
	if len(lines) == 0 {
		return
	}
	var b bytes.Buffer
	profile := v.profile
	if !v.live {
		profile = colorprofile.NoTTY
	}
	fmt.Fprint(&colorprofile.Writer{Forward: &b, Profile: profile}, strings.Join(lines, "\n"))
	if v.screen != nil {
		v.screen.print(strings.Split(b.String(), "\n"))
		return
	}
	b.WriteByte('\n')
	_, _ = v.options.Output.Write(b.Bytes()) // the debate continues without its display
}

// Start begins to draw the replies in flight if the view is live.
func (v *View) Start() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.live && v.screen == nil {
		v.started = time.Now()
		v.screen = newScreen(v)
	}
}

// Stop removes what changes from the terminal, which remains usable for others. Start begins anew.
func (v *View) Stop() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.screen != nil {
		v.screen.close()
		v.screen = nil
		v.options.Elapsed += time.Since(v.started)
	}
}

// draw makes the lines that change anew and returns them.
func (v *View) draw() []string {
	v.state.Lock()
	defer v.state.Unlock()
	v.turn++
	v.frame = v.board.frame(frameRows(v.rows), status{
		turn: v.turn, elapsed: v.options.Elapsed + time.Since(v.started), currency: v.options.Currency, hint: v.options.Hint,
	})
	return v.frame
}

// lastFrame returns the frame that was drawn last.
func (v *View) lastFrame() []string {
	v.state.Lock()
	defer v.state.Unlock()
	return v.frame
}

// resize sets the size of the terminal.
func (v *View) resize(columns, rows int) {
	v.state.Lock()
	defer v.state.Unlock()
	v.columns, v.rows = columns, rows
	v.board.resize(textColumns(columns))
}

// size returns the size of the terminal.
func (v *View) size() (columns, rows int) {
	v.state.Lock()
	defer v.state.Unlock()
	return v.columns, v.rows
}
