package main

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// On a terminal, replies appear word by word, and the lines of finished steps remain above.
func TestLiveProgress(t *testing.T) {
	folder(t)
	synctest.Test(t, func(t *testing.T) {
		var stdout output
		var stderr terminal
		code := run(t.Context(), nil, []string{topic, "--rounds", "1"}, strings.NewReader(""), &stdout, &stderr, environment("TERM", "xterm"))
		require.Equal(t, 0, code, stderr.String())
		seen := stderr.String()
		for _, want := range []string{"── round 1 of 1 ──", "round 1 of 1 · respond 0/2", "Ada", "│ ", "what the status quo does", " · verdict · ", "Ctrl-C cancels", "completed in round 1"} {
			require.Contains(t, seen, want)
		}
		require.Contains(t, seen, "\x1b[?25h", "the cursor is visible again")
		require.NotRegexp(t, `\x1b\[2\dA`, seen, "only the frame is overwritten")
		require.NotContains(t, seen, "summary", "the frame does not show the judge's JSON")
		printable(t, stdout.String())
	})
}

func TestATerminalIsLiveUnlessToldOtherwise(t *testing.T) {
	for _, tt := range []struct {
		name  string
		p     program
		plain bool
	}{
		{"a terminal", program{terminal: &terminal{}, env: environment("TERM", "xterm")}, false},
		{"no terminal", program{terminal: &output{}, env: environment("TERM", "xterm")}, true},
		{"--plain", program{terminal: &terminal{}, env: environment("TERM", "xterm"), options: options{plain: true}}, true},
		{"a terminal that can do nothing", program{terminal: &terminal{}, env: environment("TERM", "dumb")}, true},
	} {
		require.Equal(t, !tt.plain, tt.p.isLive(), tt.name)
	}
}
