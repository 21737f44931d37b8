package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

// No argument that may be meant as a command starts a debate. The environment has a key, so a debate would cost money.
func TestWordsStartNoDebate(t *testing.T) {
	folder(t)
	var calls atomic.Int64
	env := server(t, func(int, http.ResponseWriter, string) string {
		calls.Add(1)
		return "Yes."
	})
	for _, args := range [][]string{
		{"help"},
		{"version"},
		{"Help"},
		{"delete"},
		{"delete", "x"},
		{"delte", "x"},
		{"rm", "x"},
		{"export"},
		{"import"},
		{"lst"},
		{"list"},
		{"stop", "x"},
		{"--protocol", "vote", "status"},
		{"init", "--store", "d.db"},
		{"export_all"},
		{"v2"},
	} {
		code, stdout, stderr := start(t, env, args...)
		require.NotContains(t, stderr, "round 1")
		if args[0] == "help" {
			require.Equal(t, 0, code)
			require.Contains(t, stdout, "Usage:")
			continue
		}
		require.Equal(t, 2, code, args)
		require.Empty(t, stdout)
	}
	require.Zero(t, calls.Load())
	require.False(t, fileExists("d.db"))

	code, stdout, stderr := start(t, env, "--protocol", "skeptic", "--rounds", "1", "--", "Privacy")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, "Yes.\n", stdout)
}

func TestADebateIsExportedDeletedAndImported(t *testing.T) {
	folder(t)
	code, _, stderr := start(t, environment(), held...)
	require.Equal(t, 0, code, stderr)
	id := saved(t, stderr)
	_, shown, _ := start(t, environment(), "show", id, "--store", "kept/d.db")
	require.Contains(t, shown, "== round 1 ==")

	code, _, stderr = start(t, environment(), "export", id, "--store", "kept/d.db", "--output", "moved/d.json")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, "debate "+id+" written to moved/d.json\n", stderr)
	code, stdout, _ := start(t, environment(), "export", id, "--store", "kept/d.db")
	require.Equal(t, 0, code)
	require.Equal(t, contents(t, "moved/d.json"), stdout)

	code, _, stderr = start(t, environment(), "import", "moved/d.json", "--store", "kept/d.db")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "the id is taken")

	code, _, stderr = start(t, environment(), "delete", id, "--store", "kept/d.db")
	require.Equal(t, 2, code)
	require.Equal(t, "debate: delete debate "+id+": Delete debate "+id+" (completed, "+topic+")? Use --yes to answer yes\n", stderr)
	code, stdout, stderr = start(t, environment(), "delete", id, "--store", "kept/d.db", "--yes")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, id+" deleted\n", stdout)
	for _, command := range []string{"show", "export", "delete"} {
		code, _, stderr = start(t, environment(), command, id, "--store", "kept/d.db")
		require.Equal(t, 2, code)
		require.Contains(t, stderr, "no such debate in kept/d.db", command)
	}

	code, stdout, stderr = start(t, environment(), "import", "moved/d.json", "--store", "new/e.db")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, id+" imported into new/e.db\n", stdout)
	_, again, _ := start(t, environment(), "show", id, "--store", "new/e.db")
	require.Equal(t, shown, again)

	require.NoError(t, os.WriteFile("bad.json", []byte("{"), 0o600))
	code, _, stderr = start(t, environment(), "import", "bad.json", "--store", "new/e.db")
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, "import debate: read bad.json: ")
	code, _, stderr = start(t, environment(), "import", "no.json", "--store", "new/e.db")
	require.Equal(t, 2, code, stderr)
}

func TestDeletionIsConfirmedOnATerminal(t *testing.T) {
	folder(t)
	_, _, stderr := start(t, environment(), held...)
	id := saved(t, stderr)
	for _, line := range []string{"", "n", "no", "maybe"} {
		code, _, screen := answering(t, environment(), line, "delete", id, "--store", "kept/d.db")
		require.Equal(t, 1, code)
		require.Contains(t, screen, "Delete debate "+id+" (completed, "+topic+")? [y/N] ")
		require.Contains(t, screen, "not confirmed")
		require.Len(t, heads(t), 1)
	}
	code, stdout, _ := answering(t, environment(), "Y", "delete", id, "--store", "kept/d.db")
	require.Equal(t, 0, code)
	require.Equal(t, id+" deleted\n", stdout)
	require.Empty(t, heads(t))
}

func TestFiltersSelectDebates(t *testing.T) {
	folder(t, "labeled.json", `{"providers": {"p": {"kind": "offline"}}, "labels": {"team": "blue"}}`)
	env := server(t, func(_ int, w http.ResponseWriter, _ string) string {
		w.WriteHeader(http.StatusBadRequest)
		return ""
	})
	_, _, _ = start(t, env, held...) // fails
	_, _, stderr := start(t, environment(), "--store", "kept/d.db", "--config", "labeled.json", "--protocol", "vote", topic)
	labeled := saved(t, stderr)
	_, _, stderr = start(t, environment(), "--store", "kept/d.db", "--protocol", "procon", topic)
	plain := saved(t, stderr)

	list := func(args ...string) (ids []string) {
		code, stdout, stderr := start(t, environment(), append([]string{"list", "--store", "kept/d.db"}, args...)...)
		require.Equal(t, 0, code, stderr)
		for _, line := range strings.Split(strings.TrimSpace(stdout), "\n")[1:] {
			ids = append(ids, strings.Fields(line)[0])
		}
		return ids
	}
	require.Len(t, list(), 3)
	require.Equal(t, []string{plain, labeled}, list("--state", "completed"))
	require.Len(t, list("--state", "completed", "--state", "error"), 3)
	require.Equal(t, []string{labeled}, list("--label", "team=blue"))
	require.Equal(t, []string{plain}, list("--outcome", "round_limit", "--limit", "1"))
	require.Len(t, list("--failure", "invalid_request"), 1)
	require.Empty(t, list("--state", "running"))
	require.Empty(t, list("--before", "1h"))
	require.Empty(t, list("--updated-before", "999999d"), "the age is longer than a time.Duration")
	require.Len(t, list("--since", "1h", "--updated-since", "2026-01-31"), 3)
	require.Empty(t, list("--updated-before", "2026-01-31T12:00:00Z"))

	count := func(args ...string) string {
		_, stdout, _ := start(t, environment(), append([]string{"list", "--count", "--store", "kept/d.db"}, args...)...)
		return stdout
	}
	require.Equal(t, "debates: 3 (completed 2, error 1)\n", count())
	require.Equal(t, "debates: 0\n", count("--state", "paused"))
	require.JSONEq(t, `{"error": 1}`, count("--json", "--failure", "invalid_request"))
	sums := func(args ...string) string {
		_, stdout, _ := start(t, environment(), append([]string{"list", "--by", "team", "--store", "kept/d.db"}, args...)...)
		return stdout
	}
	lines := strings.Split(sums(), "\n")
	require.Regexp(t, `^team +DEBATES +INPUT TOKENS +OUTPUT TOKENS +COST +RUNNING TIME$`, lines[0])
	require.Regexp(t, `^\(none\) +2 +[1-9]\d* +[1-9]\d* +0 +\d+\.\ds$`, lines[1])
	require.Regexp(t, `^blue +1 +[1-9]\d* +[1-9]\d* +0 +\d+\.\ds$`, lines[2])
	require.Len(t, strings.Split(sums("--label", "team=blue"), "\n"), 3)
	var totals map[string]store.Totals
	require.NoError(t, json.Unmarshal([]byte(sums("--json", "--state", "completed")), &totals))
	require.Len(t, totals, 2)
	require.Equal(t, 1, totals[""].Debates)
	require.Positive(t, totals["blue"].Usage.Input)
	for args, says := range map[string]string{
		"--by team --count": "--count and --by exclude one another",
		"--state done":      "--state done is unknown, use running or one of configuring, ",
		"--outcome won":     "--outcome won is unknown, use one of judge_decided, ",
		"--label team":      "--label team, want NAME=VALUE",
	} {
		code, _, stderr := start(t, environment(), append([]string{"list", "--store", "kept/d.db"}, strings.Fields(args)...)...)
		require.Equal(t, 2, code)
		require.Contains(t, stderr, says)
	}

	code, _, stderr := start(t, environment(), "delete", "--state", "completed", "--store", "kept/d.db")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "Delete debates: 2 (completed 2)? Use --yes to answer yes")
	code, stdout, stderr := start(t, environment(), "delete", "--label", "team=blue", "--store", "kept/d.db", "--yes")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, "debates deleted: 1\n", stdout)
	require.Equal(t, "debates: 2 (completed 1, error 1)\n", count())
	_, _, _ = start(t, environment(), "delete", "--updated-since", "1h", "--store", "kept/d.db", "--yes")
	require.Equal(t, "debates: 0\n", count())
}

// Only the owner can read a database, and the files next to it while a debate runs.
func TestDatabasesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	folder(t)
	modes := map[string]os.FileMode{}
	env := server(t, func(int, http.ResponseWriter, string) string {
		files, _ := filepath.Glob("kept/d.db*")
		for _, path := range files {
			if info, err := os.Stat(path); err == nil {
				modes[path] = info.Mode().Perm()
			}
		}
		return "Yes."
	})
	code, _, stderr := start(t, env, held...)
	require.Equal(t, 0, code, stderr)
	require.GreaterOrEqual(t, len(modes), 2, "the write-ahead log is a file too")
	for path, mode := range modes {
		require.Equal(t, os.FileMode(0o600), mode, path)
	}

	require.NoError(t, os.Chmod("kept/d.db", 0o644)) //nolint:gosec // the mode is what is tested
	_, _, stderr = start(t, env, "list", "--store", "kept/d.db")
	require.Equal(t, "warning: other users could access kept/d.db; its mode is 0600 now\n", stderr)
	_, _, stderr = start(t, env, "list", "--store", "kept/d.db")
	require.Empty(t, stderr)
}

// A stored debate names its models. It continues with them, and only after a confirmation if others are configured now.
func TestAChangedModelIsConfirmed(t *testing.T) {
	folder(t)
	var mu sync.Mutex
	var asked []string
	models := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(asked)
	}
	env := server(t, func(n int, w http.ResponseWriter, prompt string) string {
		if n >= 0 {
			_, after, _ := strings.Cut(prompt, `"model":"`)
			model, _, _ := strings.Cut(after, `"`)
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, model)
		}
		if n == 2 {
			w.WriteHeader(http.StatusBadRequest)
			return ""
		}
		return echo(prompt)
	})
	other := func(name string) string {
		if name == "OPENAI_MODEL" {
			return "large"
		}
		return env(name)
	}
	code, _, stderr := start(t, env, held...)
	require.Equal(t, 3, code, stderr)
	id := saved(t, stderr)

	code, stdout, stderr := start(t, other, "retry", id, "--store", "kept/d.db")
	require.Equal(t, 2, code, stderr)
	require.Empty(t, stdout)
	for _, name := range []string{"Proposer", "Skeptic", "Synthesizer"} {
		require.Contains(t, stderr, "warning: "+name+" uses tiny, as stored with the debate, and not large, which is configured now.\n")
	}
	require.Contains(t, stderr, "debate: retry debate "+id+": Continue debate "+id+"? Use --yes to answer yes\n")
	code, _, screen := answering(t, other, "n", "retry", id, "--store", "kept/d.db")
	require.Equal(t, 1, code)
	require.Contains(t, screen, "Continue debate "+id+"? [y/N] debate: retry debate "+id+": not confirmed\n")
	require.Equal(t, "error", string(heads(t)[0].State), "nothing has changed")
	require.Len(t, models(), 3)

	code, _, stderr = start(t, other, "retry", id, "--store", "kept/d.db", "--yes")
	require.Equal(t, 0, code, stderr)
	require.Len(t, models(), 12)
	for _, model := range models() {
		require.Equal(t, "tiny", model)
	}
}

// A model that a participant of the configuration names is no change.
func TestAConfiguredModelIsNoChange(t *testing.T) {
	folder(t, "c.json", `{"providers": {"main": {"kind": "openai"}}, "protocol": "skeptic", "judges": [{"name": "J", "model": "huge"}],
		"participants": [{"name": "A", "model": "mini"}, {"name": "B"}]}`)
	env := server(t, func(n int, w http.ResponseWriter, prompt string) string {
		if n == 2 {
			w.WriteHeader(http.StatusBadRequest)
			return ""
		}
		return echo(prompt)
	})
	code, _, stderr := start(t, env, topic, "--config", "c.json", "--store", "kept/d.db")
	require.Equal(t, 3, code, stderr)
	code, _, stderr = start(t, env, "retry", saved(t, stderr), "--config", "c.json", "--store", "kept/d.db")
	require.Equal(t, 0, code, stderr)
	require.NotContains(t, stderr, "as stored")
}

// The scores of an arbitration are asked for on a terminal.
func TestScoresAreAskedFor(t *testing.T) {
	folder(t)
	code, stdout, screen := answering(t, environment(), "problem=7, solution=6, market=5", topic, "--protocol", "arbitration")
	require.Equal(t, 0, code, screen)
	require.Contains(t, screen, "Scores of the evaluation, such as problem=5,solution=5,market=7: ")
	require.Contains(t, stdout, "7")
	code, _, screen = answering(t, environment(), "", topic, "--protocol", "arbitration")
	require.Equal(t, 2, code)
	require.Contains(t, screen, `"" is not a score, want NAME=NUMBER, such as problem=5,solution=5,market=7`)
}

func TestAnInterruptEndsAQuestion(t *testing.T) {
	folder(t)
	_, _, stderr := start(t, environment(), held...)
	interrupted := make(chan struct{})
	close(interrupted)
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	var screen terminal
	code := run(t.Context(), interrupted, []string{"delete", saved(t, stderr), "--store", "kept/d.db"}, keyboard{Reader: reader}, &output{}, &screen, environment())
	require.NoError(t, writer.Close())
	require.NoError(t, reader.Close())
	require.Equal(t, 1, code)
	require.Contains(t, screen.String(), "interrupted\n")
	require.Len(t, heads(t), 1)
}

// A stored debate continues with the prompts that it began with.
func TestPromptsAreReplaced(t *testing.T) {
	folder(t, "mine/skeptic-attack.tmpl", `{{define "system"}}Attack.{{end}}Say what is wrong in round {{.Round}}. MINE`)
	var mine atomic.Int64
	env := server(t, func(n int, w http.ResponseWriter, prompt string) string {
		if strings.Contains(prompt, "MINE") {
			mine.Add(1)
		}
		if n == 4 {
			w.WriteHeader(http.StatusBadRequest)
			return ""
		}
		return "So."
	})
	code, _, stderr := start(t, env, append([]string{"--prompts", "mine", "--rounds", "3"}, held...)...)
	require.Equal(t, 3, code, stderr)
	require.EqualValues(t, 2, mine.Load())
	id := saved(t, stderr)
	require.NoError(t, os.Rename("mine", "moved"))
	code, _, stderr = start(t, env, "retry", id, "--store", "kept/d.db")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "read prompts: open ")
	code, _, stderr = start(t, env, "retry", id, "--store", "kept/d.db", "--prompts", "moved")
	require.Equal(t, 0, code, stderr)
	require.EqualValues(t, 3, mine.Load(), fmt.Sprint(stderr))
}

// The id of a debate that somebody else wrote follows the rule of ids, so that it has one line in a list and shells do not
// read it.
func TestTheIDOfAnImportedDebateIsHarmless(t *testing.T) {
	folder(t)
	_, _, stderr := start(t, environment(), "--me", "Ada", "--store", "own.db", topic)
	mine := saved(t, stderr)
	_, journal, _ := start(t, environment(), "export", mine, "--store", "own.db")
	quoted, err := json.Marshal("$(reboot)\n`now`\x1b[31m?")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("j.json", []byte(strings.ReplaceAll(journal, `"`+mine+`"`, string(quoted))), 0o600))
	code, _, stderr := start(t, environment(), "import", "j.json", "--store", "kept/d.db")
	require.Equal(t, 1, code, stderr)
	require.Contains(t, stderr, "is not valid, use up to 128 letters")
	require.NotContains(t, stderr, "\x1b")
	require.Empty(t, heads(t))
}
