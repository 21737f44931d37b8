package view

import (
	"bytes"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/transcript"
)

// fakeTerminal is an output that says that it is a terminal.
type fakeTerminal struct {
	fs.FileInfo
	mu   sync.Mutex
	text bytes.Buffer
}

func (f *fakeTerminal) Stat() (fs.FileInfo, error) { return f, nil }

func (f *fakeTerminal) Mode() fs.FileMode { return fs.ModeCharDevice }

func (f *fakeTerminal) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.Write(b)
}

func (f *fakeTerminal) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.String()
}

var _ fs.FileInfo = (*fakeTerminal)(nil)

// env returns a function that looks up variables.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if value, ok := strings.CutPrefix(p, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestATerminalIsLiveUnlessToldOtherwise(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		live bool
	}{
		{"a terminal", Options{Output: &fakeTerminal{}, Env: env("TERM=xterm")}, true},
		{"no terminal", Options{Output: &bytes.Buffer{}, Env: env("TERM=xterm")}, false},
		{"plain", Options{Output: &fakeTerminal{}, Env: env("TERM=xterm"), Plain: true}, false},
		{"a terminal that can do nothing", Options{Output: &fakeTerminal{}, Env: env("TERM=dumb")}, false},
	} {
		require.Equal(t, tt.live, New(tt.o).Live(), tt.name)
	}
}

func TestColoursCanBeTurnedOff(t *testing.T) {
	for _, tt := range []struct {
		environ []string
		colours bool
	}{
		{[]string{"TERM=xterm-256color"}, true},
		{[]string{"TERM=xterm"}, true},
		{[]string{"TERM=xterm-256color", "NO_COLOR=1"}, false},
		{[]string{"TERM=xterm-256color", "NO_COLOR=please"}, false},
		{[]string{"TERM=xterm-256color", "NO_COLOR="}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out fakeTerminal
			v := New(Options{Output: &out, Env: env(tt.environ...)})
			v.Start()
			for _, ev := range tale() {
				v.Show(ev)
			}
			time.Sleep(time.Second)
			v.Stop()
			require.Equal(t, tt.colours, strings.Contains(out.String(), "\x1b[36"), "%v: in %q", tt.environ, out.String())
			require.Contains(t, out.String(), "\x1b[1", "bold text is no colour")
		})
	}
}

// Output that is not a terminal gets the transcript as plain lines, without escape sequences.
func TestPlainLines(t *testing.T) {
	var out bytes.Buffer
	v := New(Options{Output: &out, Env: env("TERM=xterm", "CLICOLOR_FORCE=1")})
	events := tale()
	v.Skip(events[0])
	v.Start()
	for _, ev := range events {
		v.Show(ev)
		v.Show(ev) // durable events are shown once
	}
	v.Notef("interrupted: %s\x1b[2J", "wait")
	v.Stop()
	require.NotContains(t, out.String(), "\x1b")
	golden.Require(t, "testdata/output.txt", out.String())
}

// On a terminal, the frame changes and the transcript remains. In the end, the frame is gone and the cursor is visible.
// The view can start again.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out fakeTerminal
		v := New(Options{Output: &out, Env: env("TERM=xterm"), Elapsed: time.Minute, Hint: "Ctrl-C pauses"})
		events := tale()
		v.Start()
		v.Start() // has no effect
		for _, ev := range events {
			v.Show(ev)
		}
		time.Sleep(5 * time.Second)
		v.Notef("a note")
		v.Stop()
		v.Stop() // has no effect
		seen := ansi.Strip(out.String())
		for _, want := range []string{"round 1 of 3", "Ada · for · argue · 300 tokens, 1.5s", "Ada had figures.", "7.25 of 10", "Buses are rare", "1:04", "Ctrl-C pauses", "a note"} {
			require.Contains(t, seen, want)
		}
		require.Greater(t, strings.LastIndex(out.String(), "\x1b[?25h"), strings.LastIndex(out.String(), hideCursor), "the cursor is visible")

		time.Sleep(time.Hour) // somebody takes a turn
		v.Start()
		v.Show((&story{seq: 100}).turn(key(2, "argue", "Ada", ""), transcript.Speech, "", "", "After a pause."))
		time.Sleep(time.Second)
		v.Stop()
		require.Contains(t, ansi.Strip(out.String()), "│ After a pause.")
		require.Equal(t, time.Minute+6*time.Second, v.canvas.elapsed.Truncate(time.Second), "the pause does not count")
	})
}

// A terminal that fails does not stop anything.
func TestAClosedTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := New(Options{Output: &brokenTerminal{}, Env: env("TERM=xterm")})
		v.Start()
		for _, ev := range tale() {
			v.Show(ev)
		}
		time.Sleep(time.Second)
		v.Stop()
	})
}

type brokenTerminal struct{ fakeTerminal }

func (*brokenTerminal) Write([]byte) (int, error) { return 0, fs.ErrClosed }

func TestMostTerminalsWrapAgain(t *testing.T) {
	for _, tt := range []struct {
		pairs []string
		want  bool
	}{{nil, true}, {[]string{"XTERM_VERSION=XTerm(390)"}, false}, {[]string{"STY=1.pts"}, false}, {[]string{"XTERM_VERSION=XTerm(390)", "TMUX=/x,1,0"}, true}} {
		require.Equal(t, tt.want, (&Options{Env: env(tt.pairs...)}).wrapsAgain(), tt.pairs)
	}
}

func TestATerminalWithoutASize(t *testing.T) {
	var c canvas
	c.resize(0, 0)
	require.Equal(t, []int{79, 24}, []int{c.board.columns, c.rows})
}

// When a terminal gets narrower, it wraps the lines of the frame.
func TestAWrappedFrameIsErased(t *testing.T) {
	frame := []string{"", strings.Repeat("x", 79), "short", "status"}
	require.Empty(t, eraseWrapped(frame, 79))
	require.Empty(t, eraseWrapped(nil, 40))
	require.Equal(t, "\r\x1b[J"+strings.Repeat("\x1b[A\x1b[2K", 3+1)+"\x1b[3B", eraseWrapped(frame, 40))
	require.Equal(t, "\r\x1b[J"+strings.Repeat("\x1b[A\x1b[2K", 3+3)+"\x1b[3B", eraseWrapped(frame, 20))
}
