package main

import (
	"net/http"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recordedDebate runs a debate and returns its id and the path of its record, signed with the keys in k.key.
func recordedDebate(t *testing.T) (id string) {
	t.Helper()
	folder(t)
	env := server(t, func(int, http.ResponseWriter, string) string { return "Trams." })
	code, _, stderr := start(t, env, held...)
	require.Equal(t, 0, code, stderr)
	id = heads(t)[0].ID
	code, public, stderr := start(t, environment(), "keys", "example.org/d", "-o", "k.key")
	require.Equal(t, 0, code, stderr)
	require.NotContains(t, public+stderr, "PRIVATE")
	code, stdout, stderr := start(t, environment(), "export", id, "--store", "kept/d.db", "--record", "out/d.record", "--key", "k.key")
	require.Equal(t, 0, code, stderr)
	require.Empty(t, stdout)
	return id
}

// verified returns the exit code and the output of verify.
func verified(t *testing.T, args ...string) (int, string) {
	t.Helper()
	code, stdout, stderr := start(t, environment(), append([]string{"verify"}, args...)...)
	return code, stdout + stderr
}

func TestARecordIsVerified(t *testing.T) {
	id := recordedDebate(t)
	code, out := verified(t, "out/d.record", "--key", "k.key.pub")
	require.Equal(t, exitSuccess, code, out)
	require.Contains(t, out, "debate "+id+": derived and signed\n")
	require.Contains(t, out, ", 0 not derivable, 0 wrong\n")
	public, err := os.ReadFile("k.key.pub")
	require.NoError(t, err)
	code, out = verified(t, "out/d.record", "--key", strings.TrimSpace(string(public)), "--json", "--verbose")
	require.Equal(t, exitSuccess, code, out)
	require.Contains(t, out, `"verdict": "derived and signed"`)
	code, out = verified(t, "out/d.record", "--verbose")
	require.Equal(t, exitUnsigned, code, out)
	require.Contains(t, out, "entry 1, config : input the configuration\n")
	require.Contains(t, out, "not checked")

	private, err := os.ReadFile("k.key")
	require.NoError(t, err)
	record, err := os.ReadFile("out/d.record")
	require.NoError(t, err)
	require.NotContains(t, string(record), strings.SplitN(string(private), "+", 5)[4])
	if info, err := os.Stat("k.key"); runtime.GOOS != "windows" {
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
}

func TestARecordThatIsNotRightHasAnExitCode(t *testing.T) {
	id := recordedDebate(t)
	record, err := os.ReadFile("out/d.record")
	require.NoError(t, err)
	write := func(name, text string) { require.NoError(t, os.WriteFile(name, []byte(text), 0o600)) }
	write("damaged", strings.Replace(string(record), "Trams.", "Trains.", 1))
	code, out := verified(t, "damaged")
	require.Equal(t, exitDamaged, code, out)
	require.Regexp(t, `read entry \d+ of debate `+id, out)
	code, out = verified(t, "missing")
	require.Equal(t, exitInput, code, out)
	private, err := os.ReadFile("k.key")
	require.NoError(t, err)
	for key, says := range map[string]string{
		"nothing": "is neither a public key nor a file with one", "k.key": "k.key is a private key, use the public one",
		string(private): "it is a private key, use the public one", string(private[:len(private)/2]): "it is a private key",
	} {
		code, out = verified(t, "out/d.record", "--key", key)
		require.Equal(t, exitInput, code, out)
		require.Contains(t, out, says)
		require.NotContains(t, out, "PRIVATE")
	}
	code, out = verified(t, "out/d.record", "--parent", "out/d.record")
	require.Equal(t, exitWrong, code, out)
	require.Contains(t, out, "is not a fork of")

	for _, args := range [][]string{
		{"--key", "k.key"}, {"--redact", "1"}, {"--record", "x", "--redact", "1.nothing"}, {"--record", "x", "--key", "missing"}, {"--record", "x", "--key", "k.key.pub"},
	} {
		code, _, stderr := start(t, environment(), append([]string{"export", id, "--store", "kept/d.db"}, args...)...)
		require.Equal(t, exitInput, code, "%q: %s", args, stderr)
	}
	code, _, stderr := start(t, environment(), "keys", "two words")
	require.Equal(t, exitInput, code, stderr)
	code, _, stderr = start(t, environment(), "keys", "again", "-o", "k.key")
	require.Equal(t, exitInput, code, stderr)
	require.Contains(t, stderr, "make keys: k.key exists, choose another file with --output", "a key is not replaced")
}

func TestARecordIsRedacted(t *testing.T) {
	id := recordedDebate(t)
	code, _, stderr := start(t, environment(), "export", id, "--store", "kept/d.db", "--record", "r", "--redact", "1.topic", "--key", "k.key")
	require.Equal(t, 0, code, stderr)
	record, err := os.ReadFile("r")
	require.NoError(t, err)
	require.NotContains(t, string(record), topic)
	code, out := verified(t, "r", "--key", "k.key.pub")
	require.Contains(t, out, "hidden texts: ")
	require.Contains(t, []int{exitSuccess, exitPartly}, code, out)
}

// A record that hides the evidence of its ending is derived in part, because the ending has to follow.
func TestARecordIsDerivedInPart(t *testing.T) {
	id := recordedDebate(t)
	_, out := verified(t, "out/d.record", "--verbose")
	ending := regexp.MustCompile(`entry (\d+), state : derived\nentry \d+, phase : derived\nentry \d+, turn \S+/synthesis`).FindStringSubmatch(out)
	require.NotNil(t, ending, "the ending precedes the synthesis: %s", out)
	code, _, stderr := start(t, environment(), "export", id, "--store", "kept/d.db", "--record", "r", "--redact", ending[1], "--key", "k.key")
	require.Equal(t, 0, code, stderr)
	code, out = verified(t, "r", "--key", "k.key.pub")
	require.Equal(t, exitPartly, code, out)
	require.Contains(t, out, ": derived in part\n")
	require.Contains(t, out, "entry "+ending[1]+", state : not derivable")
}

// The record of a debate with templates of a folder has them, so that verify needs no folder.
func TestARecordHasTheTemplatesOfAFolder(t *testing.T) {
	folder(t, "own/skeptic-propose.tmpl", `{{define "system"}}You are {{.Me.Name}}.{{end}}Propose in verse.`)
	env := server(t, func(int, http.ResponseWriter, string) string { return "Trams." })
	code, _, stderr := start(t, env, append([]string{"--prompts", "own"}, held...)...)
	require.Equal(t, 0, code, stderr)
	id := heads(t)[0].ID
	record := func(file string) (stderr string) {
		code, _, stderr := start(t, environment(), "export", id, "--store", "kept/d.db", "--record", file)
		require.Equal(t, 0, code, stderr)
		return stderr
	}
	record("whole")
	code, out := verified(t, "whole")
	require.Equal(t, exitUnsigned, code, out)
	require.Regexp(t, `prompts: \d+ equal to their hashes, 0 not known`, out)
	require.NotContains(t, out, "lacks")

	require.NoError(t, os.RemoveAll("own"))
	require.Contains(t, record("without"), "the record lacks the templates of --prompts: ")
	code, out = verified(t, "without")
	require.Equal(t, exitUnsigned, code, out)
	require.Contains(t, out, "lacks the templates ")
	require.NotRegexp(t, `, 0 not known`, out)
}
