package main

import (
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// newDisplay returns a display for a debate that starts or continues from the tracker's state.
func (p *program) newDisplay(so *tracker) *display {
	v := plainDisplay(p.stderr)
	if p.isLive() {
		v = liveDisplay(p.terminal)
	}
	if v.tracker = so; so.title() != "" {
		v.notef("resuming: %s", so.frame().text(defaultColumns))
	}
	return v
}

// frameModel implements tea.Model for a frame.
type frameModel struct {
	frame
	width int
}

// Init implements tea.Model.
func (s frameModel) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (s frameModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width = msg.Width
	case frame:
		s.frame = msg
	}
	return s, nil
}

// View implements tea.Model.
func (s frameModel) View() tea.View { return tea.NewView(s.text(s.width)) }

// firstFrameTimeout is the time to wait for the first frame. Until then, Bubble Tea assumes that its frame fills the
// screen, and lines would overwrite what is above it.
const firstFrameTimeout = 50 * time.Millisecond

// liveDisplay returns a display that shows a debate inline on a terminal. It reads no keys, so that Ctrl-C remains a
// signal. If Bubble Tea fails, the display writes plain lines.
func liveDisplay(w io.Writer) *display {
	v := plainDisplay(w)
	lines := v.print
	program := tea.NewProgram(frameModel{width: defaultColumns}, tea.WithOutput(w), tea.WithInput(nil), tea.WithoutSignalHandler(),
		tea.WithWindowSize(defaultColumns, defaultRows))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = program.Run() // if it fails, print writes plain lines
	}()
	program.Send(frame{}) // returns when the program runs or has failed
	select {
	case <-ended:
	case <-time.After(firstFrameTimeout):
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
	v.close = func() {
		program.Send(frame{})
		program.Quit()
		<-ended
	}
	return v
}
