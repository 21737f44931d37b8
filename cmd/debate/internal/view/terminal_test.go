package view

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/built"
)

// tmux is a real terminal without a window.
type tmux struct {
	*testing.T
	socket string
}

// newTmux starts a shell command in a terminal of a size. The command can use $DEMO, which runs a debate whose replies
// take one second, and $FAST and $SLOW.
func newTmux(t *testing.T, columns, rows int, command string) *tmux {
	t.Helper()
	if os.Getenv("DEBATE_TERMINAL") == "" {
		t.Skip("make proofs ONLY=terminal runs the tests that need tmux")
	}
	t.Parallel()
	dir, err := os.MkdirTemp("", "tmux") //nolint:usetesting // a short path: that of a socket is limited
	require.NoError(t, err)
	s := &tmux{t, filepath.Join(dir, "s")}
	t.Cleanup(func() {
		_, _ = s.try("kill-server")
		require.NoError(t, os.RemoveAll(dir))
	})
	self, err := os.Executable()
	require.NoError(t, err)
	s.do("-f", os.DevNull, "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows),
		fmt.Sprintf("demo() { env %s=$1 %s; }; export LC_ALL=C.UTF-8 DEMO='demo 1000' FAST='demo 50' SLOW='demo 20000'; %s; echo exit $?; stty -a | grep -o ' echo '; exec sleep 1000", demoVariable, self, command))
	return s
}

func (s *tmux) try(args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "tmux", append([]string{"-S", s.socket}, args...)...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=", "TMUX=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *tmux) do(args ...string) string {
	s.Helper()
	out, err := s.try(args...)
	require.NoError(s, err, "tmux %q: %s", args, out)
	return out
}

// screen returns what the terminal shows.
func (s *tmux) screen() string { return s.do("capture-pane", "-p") }

// all returns what the terminal shows and what was scrolled out of it. Lines that the terminal has wrapped are whole.
func (s *tmux) all() string { return s.do("capture-pane", "-p", "-J", "-S", "-") }

// await waits until the text that get returns contains all words.
func (s *tmux) await(get func() string, words ...string) string {
	s.Helper()
	var text string
	require.Eventually(s, func() bool {
		text = get()
		for _, w := range words {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return true
	}, 5*time.Minute, 20*time.Millisecond, "%q in %s", words, get())
	return text
}

// requireRestored requires that the terminal is usable again and that nothing of the frame is left.
func (s *tmux) requireRestored() {
	s.Helper()
	text := s.await(s.all, "exit ", " echo ")
	require.NotContains(s, text, "Ctrl-C pauses")
	require.False(s, strings.ContainsAny(text, spinner), text)
	require.Equal(s, "1\n", s.do("display-message", "-p", "#{cursor_flag}"), "the cursor is visible")
}

// requireOneFrame requires that nothing is left of earlier frames.
func (s *tmux) requireOneFrame() {
	s.Helper()
	text, n := s.all(), 0
	for _, r := range text {
		if strings.ContainsRune(spinner, r) {
			n++
		}
	}
	require.Equal(s, 1, n, text)
	require.LessOrEqual(s, len(streaming.FindAllString(text, -1)), 1, text)
}

// streaming matches the heading of a reply in flight.
var streaming = regexp.MustCompile(`(?m) · respond *$`)

// The live view in a real terminal: the text streams, and in the end the transcript is in the scrollback.
func TestTerminal(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			s := newTmux(t, size[0], size[1], "$DEMO")
			s.await(s.screen, "Ada · for · respond\n│ ", "round 1 of 2") // the heading of a complete reply has more
			s.do("send-keys", "typed", "Enter", "text", "Enter")
			s.await(s.screen, "round 2 of 2")
			text := s.await(s.all, "answer: completed", "exit 0")
			s.requireRestored()
			require.Equal(t, demoSpeakers, speakersIn(text), text)
			require.NotContains(t, text, "typed", "what is typed is not shown while the view is live")
			if size[0] >= 80 {
				require.Equal(t, 4, strings.Count(text, "\n│ - Buses stop in time.\n│ - Children walk.\n"), "each text is complete")
			}
		})
	}
}

// speaker matches the heading of a committed turn.
var speaker = regexp.MustCompile(`(?m)^(\S.*?) · .*(?:respond|assess|verdict) · \d+ tok`)

// speakersIn returns the speakers of the committed turns in a text.
func speakersIn(text string) (names []string) {
	for _, m := range speaker.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// demoSpeakers names who speaks in the demo debate.
var demoSpeakers = []string{"Ada", "Bo 文字", "Jo", "Ada", "Bo 文字", "Jo", "Jo"}

// When the size of a terminal changes while replies stream, nothing is lost, and what follows fits.
func TestTerminalResize(t *testing.T) {
	s := newTmux(t, 120, 40, "$DEMO")
	s.await(s.screen, "Ada · for · respond\n│ A parked car")
	s.do("resize-window", "-x", "80", "-y", "24")
	s.await(s.screen, "Bo 文字 · against · respond\n│ A parked car")
	s.requireOneFrame()
	s.await(func() string {
		_, text, _ := strings.Cut(s.screen(), "Bo 文字 · against · respond\n")
		return text
	}, "families came back", "0:0") // the frame has several long lines
	s.do("resize-window", "-x", "50", "-y", "30")
	s.await(s.screen, "round 2 of 2 · respond 0/2")
	s.requireOneFrame()
	s.do("resize-window", "-x", "100", "-y", "15")
	s.await(s.screen, "round 2 of 2 · respond 1/2")
	s.requireOneFrame()
	text := s.await(s.all, "answer: completed", "exit 0")
	s.await(s.all, " echo ")
	require.Equal(t, demoSpeakers, speakersIn(text), text)
}

// The first Ctrl-C pauses the debate after the call in flight. The second one ends the call.
func TestTerminalInterrupt(t *testing.T) {
	t.Run("once", func(t *testing.T) {
		s := newTmux(t, 80, 24, "trap : INT; $DEMO")
		s.await(s.screen, "Ada · for · respond\n│ A parked car")
		s.do("send-keys", "C-c")
		text := s.await(s.all, "interrupted: waiting for the calls in flight", "answer: paused", "exit 0")
		require.Equal(t, 1, strings.Count(text, "Ada · for · respond · 150 tokens"), "the call was committed:\n%s", text)
		require.NotContains(t, text, "^C")
		s.requireRestored()
	})
	t.Run("twice", func(t *testing.T) {
		s := newTmux(t, 80, 24, "trap : INT; $SLOW")
		s.await(s.screen, "Ada · for · respond\n│ A parked car")
		s.do("send-keys", "C-c")
		s.await(s.all, "press Ctrl-C again")
		s.do("send-keys", "C-c")
		text := s.await(s.all, "answer: ", "exit 0")
		require.NotContains(t, text, "150 tokens", "the call was cut off")
		s.requireRestored()
	})
}

// Those who speak at the same time are all in the frame.
func TestTerminalParallel(t *testing.T) {
	s := newTmux(t, 80, 24, demoVariable+"_PARALLEL=1 $DEMO")
	s.await(s.screen, "Ada · for · respond\n│ A parked", "Bo 文字 · against · respond\n│ A parked")
	text := s.await(s.all, "answer: completed", "exit 0")
	require.ElementsMatch(t, demoSpeakers, speakersIn(text), text)
	s.requireRestored()
}

func TestTerminalColours(t *testing.T) {
	for _, tt := range []struct {
		command string
		colours bool
	}{{"$FAST", true}, {"NO_COLOR=1 $FAST", false}} {
		t.Run(tt.command, func(t *testing.T) {
			s := newTmux(t, 80, 24, tt.command)
			s.await(s.all, "answer: completed", "exit 0")
			text := s.do("capture-pane", "-p", "-e", "-S", "-")
			require.Equal(t, tt.colours, regexp.MustCompile("\x1b\\[[0-9;]*3[0-7]m").MatchString(text), text)
			require.Contains(t, text, "\x1b[1m", "bold text is no colour")
			for _, colour := range []string{"\x1b[36m│", "\x1b[35m│"} {
				require.Equal(t, tt.colours, strings.Contains(text, colour), text)
			}
		})
	}
}

// Plain lines go to a pipe, also in a terminal.
func TestTerminalPipe(t *testing.T) {
	s := newTmux(t, 80, 24, "$FAST 2>&1 | cat -v")
	text := s.await(s.all, "answer: completed", "exit 0")
	require.NotContains(t, text, "^[", text)
	require.NotContains(t, text, "│")
	require.Contains(t, text, "== round 1 of 2 ==")
	require.Contains(t, text, "  A parked car")
}

// The command pauses a debate at the first Ctrl-C, and resumes it later.
func TestTerminalCommand(t *testing.T) {
	if os.Getenv("DEBATE_TERMINAL") == "" {
		t.Skip("make proofs ONLY=terminal runs the tests that need tmux")
	}
	dir := t.TempDir()
	program, err := built.Program(t.Context(), "../..")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(program, filepath.Join(dir, "debate")))
	s := newTmux(t, 80, 24, fmt.Sprintf(
		"cd %s; unset OPENAI_API_KEY ANTHROPIC_API_KEY MISTRAL_API_KEY GEMINI_API_KEY OPENROUTER_API_KEY OLLAMA_HOST; "+
			"trap : INT; ./debate --store d.db --rounds 1 'Should cities ban private cars?'; read go; ./debate resume --store d.db $(./debate list --store d.db | tail -n 1 | cut -d ' ' -f 1)", dir))
	s.await(s.screen, "Ada · for · respond\n│ My answer")
	s.do("send-keys", "C-c")
	s.await(s.all, "interrupted: waiting for the calls in flight", "debate paused", "continue with: debate resume ")
	s.do("send-keys", "Enter")
	text := s.await(s.all, "resuming: round 1 of 1", "completed in round 1", "exit 0")
	require.Len(t, speakersIn(text), 4, text)
	s.requireRestored()
}
