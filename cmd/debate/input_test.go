package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers/tool"
)

const change = `diff --git a/cmd/main.go b/cmd/main.go
index 1..2 100644
--- a/cmd/main.go
+++ b/cmd/main.go
@@ -1,3 +1,3 @@
 package main
 
-var limit = 10
+var limit = 0 // no limit at all
`

// piped runs the built program with a text on standard input.
func piped(t *testing.T, env func(string) string, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, progress bytes.Buffer
	cmd := binaryCommand(t, env, args...)
	cmd.Stdin = strings.NewReader(input)
	cmd.Stdout = &out
	cmd.Stderr = &progress
	_ = cmd.Run() // the exit code tells
	require.NotNil(t, cmd.ProcessState)
	printable(t, out.String()+progress.String())
	return cmd.ProcessState.ExitCode(), out.String(), progress.String()
}

// listening returns the environment of a service that keeps the prompts it gets.
func listening(t *testing.T, reply func(prompt string) string) (env func(string) string, prompts func() string) {
	t.Helper()
	var mu sync.Mutex
	var all strings.Builder
	env = server(t, func(_ int, _ http.ResponseWriter, prompt string) string {
		mu.Lock()
		defer mu.Unlock()
		all.WriteString(prompt)
		return reply(prompt)
	})
	return env, func() string {
		mu.Lock()
		defer mu.Unlock()
		return all.String()
	}
}

const approval = `{"summary": "It is small.", "option": 1, "confidence": 80, "reasons": [{"text": "It is small."}]}`

// decider replies with speeches, and decides as judges do.
func decider(decision string) func(string) string {
	return func(prompt string) string {
		if strings.Contains(prompt, "json_schema") {
			return decision
		}
		return "I weigh both options. The change sets a limit to zero."
	}
}

func TestADiffOfAPipe(t *testing.T) {
	folder(t)
	env, prompts := listening(t, decider(approval))
	code, stdout, stderr := piped(t, env, change, "--docs", "-", "--option", "approve", "--option", "request changes", "--rounds", "1",
		"Merge this?")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "approve")
	require.Contains(t, stderr, "document stdin.diff: read by all\n")
	require.Contains(t, prompts(), `9| +var limit = 0 // no limit at all`, "the model reads the lines with their numbers")
	require.Contains(t, prompts(), "Each line of code begins with its number and a bar")
}

func TestTextsOfAPipe(t *testing.T) {
	folder(t, "more.md", "More background.")
	for name, tt := range map[string]struct {
		args []string
		says string
	}{
		"the topic":                {[]string{"-f", "-"}, "Should trams be free?"},
		"the topic without a flag": {nil, "Should trams be free?"},
		"the background":           {[]string{"--background", "-", topic}, "Should trams be free?"},
		"one of several": {
			[]string{"--background", "-", "--background", "more.md", topic},
			`standard input:\n\nShould trams be free?`,
		},
		"a document":                {[]string{"--docs", "-", topic}, "document stdin"},
		"a document beside a topic": {[]string{"--docs", "-", "--file", "more.md"}, "document stdin"},
	} {
		t.Run(name, func(t *testing.T) {
			env, prompts := listening(t, decider(approval))
			code, _, stderr := piped(t, env, "\ufeff Should trams be free?\r\n",
				append([]string{"--rounds", "1", "--option", "yes", "--option", "no"}, tt.args...)...)
			require.Equal(t, 0, code, stderr)
			require.Contains(t, prompts(), tt.says)
		})
	}
}

func TestWrongInput(t *testing.T) {
	folder(t)
	large := strings.Repeat("x", 64<<20+1)
	for _, tt := range []struct {
		name, input string
		args        []string
		says        string
	}{
		{
			"twice", "x",
			[]string{"--docs", "-", "--background", "-", topic},
			"--background - and --docs - both read standard input, want only one of them",
		},
		{"a document twice", "x", []string{"--docs", "-", "--docs", "-", topic}, "--docs - and --docs - both read standard input"},
		{"a document and no topic", "x", []string{"--docs", "-"}, "no topic given, want an argument, --file or standard input"},
		{
			"a person", "x",
			[]string{"--docs", "-", "--me", "Ada", "--store", "d.db", topic},
			"--docs - reads standard input, on which --me asks for replies; use a file",
		},
		{"nothing", "", []string{"--docs", "-", topic}, "standard input is blank"},
		{"blanks", " \n", []string{"-f", "-"}, "read topic: standard input is blank"},
		{"no text", "\xff\x00", []string{"--docs", "-", topic}, "standard input is not UTF-8 text"},
		{"no topic", "", nil, "no topic given, want an argument, --file or standard input"},
		{"too much", large, []string{"--docs", "-", topic}, "it has more than 67108864 bytes"},
		{"no tasks", "", []string{"eval", "-", "--arm", "single"}, "read tasks: standard input is blank"},
		{"no pairs", "{", []string{"audit", "judge", "-", "--judge", "openai/x"}, "-: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := piped(t, environment(), tt.input, tt.args...)
			require.Equal(t, exitInput, code, stderr)
			require.Contains(t, stderr, tt.says)
			require.Empty(t, stdout)
		})
	}
}

func TestAClosedPipe(t *testing.T) {
	folder(t)
	path, err := binary()
	require.NoError(t, err)
	for name, shell := range map[string]string{
		"nobody writes":       `"$0" --docs - "Merge this?" <&-`,
		"the writer has died": `sh -c 'printf "diff --git a/x b/x\n"; kill -9 $$' | "$0" --rounds 1 --docs - "Merge this?"`,
		"the reader has gone": `yes diff | head -c 100000 | "$0" --rounds 1 --docs - "Merge this?" | true`,
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", shell, path)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "DEBATE_STORE=" + memoryStore}
			said, _ := cmd.CombinedOutput()
			require.NotContains(t, string(said), "panic")
			if name == "nobody writes" {
				require.Equal(t, exitInput, cmd.ProcessState.ExitCode(), string(said))
				require.Contains(t, string(said), "standard input")
			}
		})
	}
}

// A document of 50 MB is searched, and not stored. It is read from standard input again.
func TestALargeInput(t *testing.T) {
	folder(t)
	line := "Item %d of the log is about nothing at all, and it goes on and on and on until the end of the line.\n"
	var b strings.Builder
	for i := 0; b.Len() < 50_000_000; i++ {
		fmt.Fprintf(&b, line, i)
	}
	env, _ := listening(t, decider(approval)) // a model that does not search, which would take seconds
	code, _, stderr := piped(t, env, b.String(), "--store", "d.db", "--rounds", "1", "--option", "yes", "--option", "no", "--docs", "-",
		topic)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, plainLine(stderr), "searched with the tool search_documents, because the prompts have no room: stdin")
	info, err := os.Stat("d.db")
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(2<<20))
}

func TestInputIsReadAgain(t *testing.T) {
	folder(t, "c.json", `{"providers": {"offline": {"kind": "offline"}}}`)
	run := func(input string, args ...string) (int, string) {
		t.Helper()
		code, _, stderr := piped(t, environment(), input, append([]string{"--store", "d.db"}, args...)...)
		return code, stderr
	}
	seats := `{"participants": [{"name": "Ada"}, {"name": "Bo", "human": true}], "judges": [{"name": "Judge"}], "protocol": "panel"}`
	code, stderr := run(minutes(), "--docs", "-", "--rounds", "1", "--config", config(t, seats), topic)
	require.Equal(t, 1, code, stderr)
	id := saved(t, stderr)
	code, stderr = run("", "answer", id, "--me", "Bo", "Cars bring people to work.")
	require.Equal(t, 0, code, stderr)
	code, stderr = run("", "resume", "--config", "c.json", id)
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, "standard input is blank")
	code, stderr = run("Another text.", "resume", "--config", "c.json", id)
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, "standard input is not the text that the debate has read from it")
	code, stderr = run(minutes(), "resume", "--config", "c.json", id)
	require.Equal(t, 0, code, stderr)
}

func TestTasksOfAPipe(t *testing.T) {
	folder(t)
	tasks := `{"question": "2+2?", "gold": "4"}` + "\n" + `{"question": "3+3?", "gold": "6"}` + "\n"
	code, stdout, stderr := piped(t, environment(), tasks, "eval", "-", "--arm", "single", "--budget", "none")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "stdin-")
	pairs := `{"question": "2+2?", "a": "4", "b": "5", "gold": "a"}` + "\n"
	env, _ := listening(t, decider(`{"winner": "A", "reasons": "It is right."}`))
	code, _, stderr = piped(t, env, pairs, "audit", "judge", "-", "--judge", "openai/tiny", "--max-tokens", "100000")
	require.NotEqual(t, exitInput, code, stderr)
}

func TestDiffFiles(t *testing.T) {
	for text, want := range map[string][]string{
		change: {"cmd/main.go"},
		"--- a/old.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n--- /dev/null\n+++ b/new.go\n@@ -0,0 +1 @@\n+x\n": {"old.go", "new.go"},
		"--- \"a/gr\\303\\274n.go\"\n+++ \"b/gr\\303\\274n.go\"\r\n@@ -1 +1 @@\n":                          {"grün.go"},
		"--- x.c\t2024-01-01 00:00:00\n+++ x.c\t2024-01-02 00:00:00\n@@ -1 +1 @@\n":                        {"x.c"},
		"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a comment\n+++ more\n--- a/x\n+++ b/x\n":                   {"x", "more"},
		"Prose.\n--- \n":     nil,
		"+++ b/x\n--- a/x\n": nil,
		"":                   nil,
	} {
		require.Equal(t, want, diffFiles(text), "%q", text)
	}
}

// Files that a diff changes have room in the prompts before others.
func TestAChangedFileIsReadFirst(t *testing.T) {
	l := &library{documents: []*document{
		{place: "a.go", text: "package a\n", readers: []string{"*"}},
		{place: "cmd/main.go", text: "package main\n\nvar limit = 0\n", readers: []string{"*"}},
		{place: "stdin.diff", text: change, readers: []string{"*"}, named: true},
	}}
	var order []string
	for _, d := range l.ranked() {
		order = append(order, d.place)
	}
	require.Equal(t, []string{"stdin.diff", "cmd/main.go", "a.go"}, order)
}

func TestReadDocument(t *testing.T) {
	long := strings.Repeat("x := 1\n", 500)
	read := documentTools(t.Context(), []*document{{place: "a.go", text: long}, {place: "b.md", text: "One.\n\nTwo."}})[1]
	ask := func(arguments string) (string, int, error) {
		r, err := read.Call(t.Context(), tool.Call{Arguments: []byte(arguments)})
		if err != nil {
			return "", 0, err
		}
		return r.Sources[0].Text, r.Sources[0].Line, nil
	}
	text, line, err := ask(`{"name": "a.go", "line": 490}`)
	require.NoError(t, err)
	require.Equal(t, 490, line)
	require.Equal(t, strings.Repeat("x := 1\n", 11), text)
	text, line, err = ask(`{"name": "a.go"}`)
	require.NoError(t, err)
	require.Equal(t, 1, line)
	require.Equal(t, maxReadLines, strings.Count(text, "\n"))
	text, line, err = ask(`{"name": "b.md"}`)
	require.NoError(t, err)
	require.Equal(t, "One.\n\nTwo.", text)
	require.Zero(t, line, "prose has no lines")
	_, _, err = ask(`{"name": "a.go", "line": 501}`)
	require.ErrorContains(t, err, "The document has 500 lines.")
	_, _, err = ask(`{"name": "../etc/passwd"}`)
	require.ErrorContains(t, err, "There is no document of this name.")
}
