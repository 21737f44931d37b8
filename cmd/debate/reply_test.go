package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A reply can be given without a terminal, in one command, and another command continues the debate.
func TestRepliesAreGivenInACommand(t *testing.T) {
	folder(t, "c.json", `{"store": "kept/d.db", "providers": {"p": {"kind": "offline"}}, "protocol": "vote", "participants":
		[{"name": "Ada", "human": true}, {"name": "Bo", "human": true}, {"name": "Cy"}]}`, "reply.md", `{"reasoning": "Noise.", "answer": "no", "confidence": 90}`)
	code, _, stderr := start(t, environment(), "--config", "c.json", topic)
	require.Equal(t, 1, code, stderr)
	id := saved(t, stderr)
	reply := func(args ...string) (int, string, string) {
		return start(t, environment(), append([]string{"answer", id, "--store", "kept/d.db"}, args...)...)
	}
	for says, args := range map[string][]string{
		"it waits for Ada, Bo, choose one with --me":            {"No."},
		"it does not wait for Cy, but for Ada, Bo":              {"--me", "Cy", "No."},
		"no reply of Ada given, want TEXT, --file or --decline": {"--me", "Ada"},
		"want one of TEXT, --file and --decline":                {"--me", "Ada", "No.", "--decline", "busy"},
		"put a text of several words in quotes":                 {"--me", "Ada", "No,", "never"},
		"read reply: open none.md":                              {"--me", "Ada", "--file", "none.md"},
		"unexpected argument after \"answer\": \"is\"":          {"this", "is", "is"},
		"missing properties":                                    {"--me", "Ada", "{}"},
	} {
		code, stdout, stderr := reply(args...)
		require.Equal(t, 2, code, stderr)
		require.Contains(t, stderr, says)
		require.Empty(t, stdout)
	}
	code, stdout, stderr := reply("--me", "Ada", "--file", "reply.md")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, id+" paused\n", stdout)
	require.Empty(t, stderr)
	code, stdout, stderr = reply("--decline", "no time")
	require.Equal(t, 0, code, stderr)
	require.True(t, strings.HasPrefix(stdout, id+" running"), stdout)
	require.Equal(t, "continue with: debate resume "+id+" --store kept/d.db\n", stderr)
}
