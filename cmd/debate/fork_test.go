package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// seqOf returns the seq of a participant's turn in the table of show --verbose.
func seqOf(t *testing.T, table, round, phase, actor string) string {
	t.Helper()
	for line := range strings.SplitSeq(table, "\n") {
		if f := strings.Fields(line); len(f) > 3 && f[1] == round && f[2] == phase && f[3] == actor {
			return f[0]
		}
	}
	t.Fatalf("no turn of %s in %s", actor, table)
	return ""
}

// A fork has the beginning of its parent without another call, and continues with what the flags change.
func TestADebateIsForked(t *testing.T) {
	folder(t)
	var calls atomic.Int64
	var last atomic.Value
	env := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		if n >= 0 {
			calls.Add(1)
			last.Store(prompt)
		}
		return echo(prompt)
	})
	code, _, stderr := start(t, env, append([]string{"--rounds", "2"}, held...)...)
	require.Equal(t, 0, code, stderr)
	parent := saved(t, stderr)
	whole := calls.Load()
	_, shown, table := start(t, env, "show", parent, "--verbose", "--store", "kept/d.db")
	at := seqOf(t, table, "1", "attack", "Skeptic")
	fork := func(args ...string) (id string) {
		code, stdout, stderr := start(t, env, append([]string{"fork", parent, "--store", "kept/d.db", "--paused", "--at", at}, args...)...)
		require.Equal(t, 0, code, stderr)
		id, _, _ = strings.Cut(stdout, " ")
		require.Equal(t, "continue with: debate resume "+id+" --store kept/d.db\n", stderr)
		return id
	}

	same := fork()
	require.Equal(t, whole, calls.Load(), "a fork calls no model")
	code, _, stderr = start(t, env, "resume", same, "--store", "kept/d.db")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, whole+whole-2, calls.Load(), "two turns are the parent's")
	_, again, _ := start(t, env, "show", same, "--store", "kept/d.db")
	require.Equal(t, shown, strings.Replace(again, "fork of "+parent+" at entry "+at+"\n", "", 1))
	require.NotEqual(t, shown, again)

	edited := fork("--reply", "Trams are quieter.", "--topic", "Ban cars at night?", "--rounds", "1", "--model", "openai/huge")
	code, _, stderr = start(t, env, "resume", edited, "--store", "kept/d.db", "--json")
	require.Equal(t, 2, code, "OPENAI_MODEL names another model, which must be confirmed")
	require.Contains(t, stderr, "Proposer uses huge, as stored with the debate, and not tiny")
	code, stdout, stderr := start(t, env, "resume", edited, "--store", "kept/d.db", "--json", "--yes")
	require.Equal(t, 0, code, stderr)
	r := state(t, []byte(stdout)).Result
	require.Equal(t, "Ban cars at night?", r.Topic)
	require.Equal(t, 1, r.Round)
	require.Equal(t, parent, r.Parent.ID)
	var said []string
	for _, turn := range r.Turns {
		said = append(said, turn.Text)
	}
	require.Contains(t, said, "Trams are quieter.")
	require.Contains(t, last.Load(), `"model":"huge"`)
	silent := fork("--silent", at)
	code, _, stderr = start(t, env, "resume", silent, "--store", "kept/d.db")
	require.Equal(t, 0, code, stderr)
	_, again, _ = start(t, env, "show", silent, "--store", "kept/d.db")
	require.Contains(t, again, "Skeptic (attack): silent in this fork")
	code, _, stderr = start(t, env, "fork", parent, "--store", "kept/d.db", "--at", at, "--silent", "Proposer")
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, "at least two participants must remain")
	_, again, _ = start(t, env, "show", parent, "--store", "kept/d.db")
	require.Equal(t, shown, again, "the parent stays as it is")
}

func TestForksThatCannotBe(t *testing.T) {
	folder(t)
	_, _, stderr := start(t, environment(), held...)
	id := saved(t, stderr)
	for args, says := range map[string]string{
		"--at 99999":                        "seq",
		"--at 1 --reply No.":                "--at 1 is no turn, want one of ",
		"--reply No.":                       "--at 0 is no turn, want one of ",
		"--at 3 --file none.md":             "read reply: open none.md",
		"--at 3 --reply No. --file none.md": "want one of --reply and --file",
		"--at 3 --rounds 0":                 "--rounds 0, use 1 or more",
		"--at 3 --model x":                  "want PROVIDER/MODEL",
		"--at 3 --topic":                    "flag needs an argument",
		"--at x":                            "read arguments: --at x, want a whole number; see debate fork --help",
		"extra":                             `unexpected argument after "fork"`,
	} {
		code, stdout, stderr := start(t, environment(), append([]string{"fork", id, "--store", "kept/d.db"}, strings.Fields(args)...)...)
		require.Equal(t, 2, code, stderr)
		require.Contains(t, stderr, says)
		require.Empty(t, stdout)
	}
	require.Len(t, heads(t), 1)
}

// A wrong seat or folder of prompts is refused before a debate is made, whether or not it would run at once.
func TestADebateIsMadeOnlyWithFlagsThatItCanRunWith(t *testing.T) {
	folder(t)
	_, _, said := start(t, environment(), topic, "--rounds", "1", "--store", "kept/d.db")
	id := saved(t, said)
	for _, command := range [][]string{
		{"fork", id},
		{"fork", id, "--paused"},
		{"fork", id, "--at", "4"},
		{"fork", id, "--at", "4", "--paused"},
		{"rejudge", id},
		{"rejudge", id, "--paused"},
	} {
		for wrong, says := range map[string]string{
			"--me=Zoe": "--me Zoe is unknown, use one of", "--me=Ada": "Ada is a model in this debate", "--prompts=none": "read prompts",
		} {
			code, stdout, stderr := start(t, environment(), append(command, wrong, "--store", "kept/d.db")...)
			require.Equal(t, exitInput, code, stderr)
			require.Contains(t, stderr, says)
			require.Empty(t, stdout)
		}
	}
	require.Len(t, heads(t), 1)
}
