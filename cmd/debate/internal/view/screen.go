package view

import (
	"cmp"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// screen is the part of a live view that Bubble Tea draws: the frame, and lines above it.
type screen struct {
	canvas  *canvas
	out     io.Writer
	program *tea.Program
	ended   chan struct{} // closed when Bubble Tea ends
	running sync.WaitGroup
	restore func() // makes the terminal show again what is typed
}

// interval holds the time between two frames.
const interval = 80 * time.Millisecond

// newScreen starts to draw. If Bubble Tea fails, there is no frame, and lines are written plainly.
func newScreen(c *canvas, o Options, profile colorprofile.Profile) *screen {
	s := &screen{canvas: c, out: o.Output, ended: make(chan struct{}), restore: func() {}}
	if in, ok := o.Input.(*os.File); ok {
		s.restore = muteEcho(in)
	}
	out, drawn := watch(o.Output, c, o.wrapsAgain())
	s.program = tea.NewProgram(&model{canvas: c}, tea.WithOutput(out), tea.WithInput(nil), tea.WithoutSignalHandler(),
		tea.WithEnvironment(o.environ()), tea.WithColorProfile(profile), tea.WithWindowSize(defaultColumns, defaultRows))
	s.running.Go(func() {
		defer close(s.ended)
		_, _ = s.program.Run()
	})
	s.running.Go(s.tick)
	select { // until the first frame, Bubble Tea assumes that the frame fills the terminal, and lines would overwrite others
	case <-drawn:
	case <-s.ended:
	}
	return s
}

// tick asks for frames until Bubble Tea ends.
func (s *screen) tick() {
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.program.Send(redraw{})
		case <-s.ended:
			return
		}
	}
}

// print writes lines above the frame. Bubble Tea can insert as many lines at once as the terminal has above the frame.
func (s *screen) print(lines []string) {
	for room := s.canvas.room(); len(lines) > 0; {
		part := lines[:min(room, len(lines))]
		lines = lines[len(part):]
		text := strings.Join(part, "\n")
		select {
		case <-s.ended:
			_, _ = io.WriteString(s.out, text+"\n")
		default:
			s.program.Send(tea.Println(cmp.Or(text, " "))()) // Bubble Tea ignores an empty line
		}
	}
}

// close removes the frame.
func (s *screen) close() {
	s.program.Send(closed{})
	s.program.Quit()
	s.running.Wait()
	s.restore()
}

// model implements tea.Model.
type model struct {
	canvas *canvas
	frame  string
	closed bool
}

type (
	redraw struct{} // it is time for a new frame
	closed struct{} // the view stops
)

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.canvas.resize(msg.Width, msg.Height)
	case closed:
		m.closed = true
	}
	m.frame = ""
	if !m.closed {
		m.frame = strings.Join(m.canvas.draw(), "\n")
	}
	return m, nil
}

// View implements tea.Model.
func (m *model) View() tea.View { return tea.View{Content: m.frame, DisableBracketedPasteMode: true} }
