package main

import (
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// view shows how a debate goes on from where it stands.
func (p *program) view(so *tracker) *view {
	v := plain(p.stderr)
	if p.live() {
		v = live(p.screen)
	}
	if v.tracker = so; so.title() != "" {
		v.note("going on: %s", so.frame().text(columns))
	}
	return v
}

// screen is the frame as Bubble Tea wants it.
type screen struct {
	frame
	width int
}

// Init implements tea.Model.
func (s screen) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (s screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width = msg.Width
	case frame:
		s.frame = msg
	}
	return s, nil
}

// View implements tea.Model.
func (s screen) View() tea.View { return tea.NewView(s.text(s.width)) }

// firstFrame is how long the first frame takes at most. Lines that come before it take the place of what stands above:
// Bubble Tea takes its frame to fill the screen until then.
const firstFrame = 50 * time.Millisecond

// live shows a debate inline on a terminal. It reads no keys, so that Ctrl-C stays a signal. Where the terminal fails,
// lines are written as they are.
func live(w io.Writer) *view {
	v := plain(w)
	lines := v.print
	program := tea.NewProgram(screen{width: columns}, tea.WithOutput(w), tea.WithInput(nil), tea.WithoutSignalHandler(),
		tea.WithWindowSize(columns, rows))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = program.Run() // lines go on without it
	}()
	program.Send(frame{}) // returns when the program runs, or has failed
	select {
	case <-ended:
	case <-time.After(firstFrame):
	}
	v.draw = func(f frame) { program.Send(f) }
	v.print = func(text ...string) {
		select {
		case <-ended:
			lines(text...)
		default:
			program.Send(tea.Println(strings.Join(text, "\n"))())
		}
	}
	v.leave = func() {
		program.Send(frame{})
		program.Quit()
		<-ended
	}
	return v
}
