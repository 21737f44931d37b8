package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/consoletest"
	"github.com/elenchus-go/debate/protocol/oversight"
)

// The demo judge counts verified quotes. Bo leaves a word out of two of its three quotes, so Ada seems more credible.
func TestAJudgeAloneAndAfterADebate(t *testing.T) {
	for seed, want := range map[string]string{
		"a": "Ada argued for the wrong answer.\nBo argued for the right answer.\nThe judge's probability of the right answer: alone 50 %, after debate 33 %\n",
		"b": "Ada argued for the right answer.\nBo argued for the wrong answer.\nThe judge's probability of the right answer: alone 50 %, after debate 67 %\n",
	} {
		code, stdout, stderr := consoletest.Run(t, run, "-seed", seed)
		require.Equal(t, 0, code, stderr)
		require.Equal(t, "What did the Fox eat at the Stork's table?\n\nright: Nothing: he could only lick the outside of a jar.\nwrong: A little soup from a shallow dish.\n\n"+want, stdout)
		require.Contains(t, stderr, "Verified: “Fox could not insert his snout, so all he could manage to do was to lick the outside of the jar.” is in [1].")
		require.Contains(t, stderr, "Verified: “So the Fox invited the Stork to dinner, and for a joke put nothing before her but some soup in a very shallow dish.” is in [1].")
		require.Contains(t, stderr, "a quote of source [1] is altered")
		require.NotContains(t, stderr, "reasked", "speeches have the length that the protocol asks for")
	}
}

func TestModes(t *testing.T) {
	for _, mode := range oversight.Modes() {
		code, stdout, stderr := consoletest.Run(t, run, "-mode", string(mode), "-seed", "a")
		if mode == oversight.Direct {
			require.Equal(t, 1, code)
			continue
		}
		require.Equal(t, 0, code, stderr)
		require.Contains(t, stdout, ", after "+strings.ReplaceAll(string(mode), "-", " "))
		require.Equal(t, map[bool]int{true: 1, false: 2}[strings.Contains(string(mode), "consultancy")], strings.Count(stdout, " argued for the "))
	}
}

func TestATextOfOnesOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "story.txt")
	require.NoError(t, os.WriteFile(path, []byte("She hid the letter under the roof of the house. The well was dry."), 0o600))
	code, stdout, stderr := consoletest.Run(t, run, "-text", path, "-right", "Under the roof.", "-wrong", "In the well.", "Where is the letter?")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "Where is the letter?\n\nright: Under the roof.\nwrong: In the well.\n")
	require.Contains(t, stderr, "She hid the letter under the roof of the house.")
	require.NotContains(t, stderr, "Stork")
}

func TestArgumentsThatAreWrong(t *testing.T) {
	for _, tt := range []struct{ args, says string }{
		{"-mode chat", `-mode: "chat" is unknown, use debate, interactive, consultancy, open-debate or open-consultancy`},
		{"-text none.txt", "none.txt"},
		{"-wrong=", "protocol.b: it is blank, set an answer"},
	} {
		code, stdout, stderr := consoletest.Run(t, run, strings.Fields(tt.args)...)
		require.Equal(t, 1, code)
		require.Empty(t, stdout)
		require.Contains(t, stderr, tt.says)
	}
}
