// Package view shows a debate in a terminal while it runs: the transcript of what is committed, which remains, and below
// it the replies in flight, which change.
//
//	v := view.New(view.Options{Output: os.Stderr, Input: os.Stdin, Env: os.Getenv})
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
	"strings"
	"sync"

	"github.com/charmbracelet/colorprofile"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/report/printer"
)

// View shows one debate. Its methods may be called concurrently.
type View struct {
	options Options
	profile colorprofile.Profile
	canvas  canvas
	plain   *printer.Printer // prints the transcript if the view is not live

	mu      sync.Mutex // held while lines are printed, so that they are in order
	began   bool       // Start was called
	printed bool       // a line was printed
	screen  *screen    // nil unless the view is live and has started
}

// New returns a view. It shows nothing before the first call of Start, Show or Notef.
func New(o Options) *View {
	v := &View{options: o, profile: colorprofile.NoTTY}
	v.plain = &printer.Printer{Output: o.Output, HideTexts: o.HideTexts}
	v.canvas.board.hidden = o.HideTexts
	v.canvas.status = status{elapsed: o.Elapsed, currency: o.Currency, hint: o.Hint}
	if v.Live() {
		v.profile = o.profile()
		v.canvas.resize(defaultColumns, defaultRows)
	}
	return v
}

// Live reports whether the view draws on a terminal.
func (v *View) Live() bool { return v.options.isLive() }

// Skip records an event of the past without showing it.
func (v *View) Skip(ev debate.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.plain.Skip(ev)
	v.canvas.skip(ev)
}

// Show shows an event. It ignores durable events that it has recorded before.
func (v *View) Show(ev debate.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.Live() {
		v.plain.Show(ev)
		return
	}
	v.print(v.canvas.record(ev))
}

// Notef shows a line that is not part of the debate.
func (v *View) Notef(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.note(fmt.Sprintf(format, args...))
}

func (v *View) note(text string) {
	if !v.Live() {
		v.plain.Notef("%s", text)
		return
	}
	v.print(v.canvas.note(text))
}

// Start begins to draw the replies in flight if the view is live.
func (v *View) Start() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if title := v.canvas.resuming(); title != "" && !v.began {
		v.note("resuming: " + title)
	}
	v.began = true
	if v.Live() && v.screen == nil {
		v.canvas.start()
		v.screen = newScreen(&v.canvas, v.options, v.profile)
	}
}

// Stop removes what changes from the terminal, which remains usable for others. Start begins anew.
func (v *View) Stop() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.screen != nil {
		v.screen.close()
		v.screen = nil
		v.canvas.stop()
	}
}

// print writes lines with the colours of the terminal.
func (v *View) print(lines []string) {
	if len(lines) == 0 {
		return
	}
	if !v.printed && lines[0] == "" {
		lines = lines[1:]
	}
	v.printed = true
	var b bytes.Buffer
	fmt.Fprint(&colorprofile.Writer{Forward: &b, Profile: v.profile}, strings.Join(lines, "\n"))
	if v.screen != nil {
		v.screen.print(strings.Split(b.String(), "\n"))
		return
	}
	b.WriteByte('\n')
	_, _ = v.options.Output.Write(b.Bytes()) // the debate continues without its display
}
