package main

import (
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// newDisplay shows how a debate goes on from where it stands.
func (p *program) newDisplay(so *tracker) *display {
	v := plainDisplay(p.stderr)
	if p.isLive() {
		v = liveDisplay(p.terminal)
	}
	if v.tracker = so; so.title() != "" {
		v.notef("going on: %s", so.frame().text(defaultColumns))
	}
	return v
}

// frameModel is the frame as Bubble Tea wants it.
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

// firstFrameTimeout is how long the first frame takes at most. Lines that come before it take the place of what stands above:
// Bubble Tea takes its frame to fill the screen until then.
const firstFrameTimeout = 50 * time.Millisecond

// liveDisplay shows a debate inline on a terminal. It reads no keys, so that Ctrl-C stays a signal. Where the terminal fails,
// lines are written as they are.
func liveDisplay(w io.Writer) *display {
	v := plainDisplay(w)
	lines := v.print
	program := tea.NewProgram(frameModel{width: defaultColumns}, tea.WithOutput(w), tea.WithInput(nil), tea.WithoutSignalHandler(),
		tea.WithWindowSize(defaultColumns, defaultRows))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = program.Run() // lines go on without it
	}()
	program.Send(frame{}) // returns when the program runs, or has failed
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
