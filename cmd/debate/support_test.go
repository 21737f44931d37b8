package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elenchus-go/debate/internal/test/built"
)

const topic = "Should cities ban private cars?"

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// binary builds the program once and returns its path.
var binary = sync.OnceValues(func() (path string, err error) {
	return built.Program(context.Background(), home)
})

// binaryCommand returns a command that runs the built program with these variables of env and no others.
func binaryCommand(t *testing.T, env func(string) string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // Git lists the files of work trees
	for _, name := range []string{
		"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DEBATE_STORE", "XDG_DATA_HOME", "GITHUB_ACTIONS",
		"GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE",
	} {
		if value := env(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd
}

// execute runs the built program to its end.
func execute(t *testing.T, env func(string) string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, progress bytes.Buffer
	cmd := binaryCommand(t, env, args...)
	cmd.Stdout, cmd.Stderr = &out, &progress
	_ = cmd.Run() // the exit code tells
	require.NotNil(t, cmd.ProcessState)
	printable(t, out.String()+progress.String())
	return cmd.ProcessState.ExitCode(), out.String(), progress.String()
}

// keyboard is a terminal on which somebody types.
type keyboard struct {
	io.Reader
	device
}

func (k keyboard) Stat() (fs.FileInfo, error) { return k.device, nil }

// answering runs the program on a terminal on which somebody types a line.
func answering(t *testing.T, env func(string) string, line string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out output
	var screen terminal
	code = run(t.Context(), nil, args, keyboard{Reader: strings.NewReader(line + "\n")}, &out, &screen, func(name string) string {
		if name == "TERM" {
			return "dumb"
		}
		return env(name)
	})
	return code, out.String(), screen.String()
}

// environment returns an environment with only these variables. Without the variable DEBATE_STORE, nothing is stored.
func environment(pairs ...string) func(string) string {
	pairs = append(pairs, "DEBATE_STORE", memoryStore)
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// output records what the program writes. It can be read while the program runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	seen func(all string) // after each write
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	n, err := o.text.Write(b)
	all := o.text.String()
	o.mu.Unlock()
	if o.seen != nil {
		o.seen(all)
	}
	return n, err
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// terminal is an output that is a terminal.
type terminal struct{ output }

func (*terminal) Stat() (fs.FileInfo, error) { return device{}, nil }

type device struct{ fs.FileInfo }

func (device) Mode() fs.FileMode { return fs.ModeDevice | fs.ModeCharDevice }

// start runs the program to its end and checks that its output cannot control a terminal.
func start(t *testing.T, env func(string) string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, progress output
	code = run(t.Context(), nil, args, strings.NewReader(""), &out, &progress, env)
	printable(t, out.String()+progress.String())
	return code, out.String(), progress.String()
}

// printable checks that a text has no characters that could control a terminal.
func printable(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		require.False(t, unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r), "%q in %q", r, text)
	}
}

// folder changes to a new working directory with these files.
func folder(t *testing.T, files ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for i := 0; i < len(files); i += 2 {
		require.NoError(t, os.MkdirAll(filepath.Dir(files[i]), 0o750))
		require.NoError(t, os.WriteFile(files[i], []byte(files[i+1]), 0o600))
	}
}

// server starts a service with OpenAI's protocol and returns the environment for it. The function say returns the text of
// the nth reply, counted from 0. For requests that only check the key, n is -1.
func server(t *testing.T, say func(n int, w http.ResponseWriter, prompt string) string) func(string) string {
	var mu sync.Mutex
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		at := -1
		if r.Method == http.MethodPost {
			mu.Lock()
			at = n
			n++
			mu.Unlock()
		}
		text, err := json.Marshal(say(at, w, string(b)))
		if err == nil && string(text) != `""` {
			_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":`+string(text)+`}}]}`+"\n\n"+
				`data: {"choices":[{"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return environment("OPENAI_API_KEY", "sk-secret-0123456789", "OPENAI_BASE_URL", s.URL+"/v1", "OPENAI_MODEL", "tiny")
}

// home holds the folder of this package. Tests change the working directory.
var home, _ = os.Getwd()

var figures = regexp.MustCompile(`\d+\.\d+s|\d+ (tokens|input tokens|output tokens)`)

// plainly returns a text without durations and token counts. Token counts change with each word of a prompt.
func plainly(text string) string {
	return figures.ReplaceAllStringFunc(text, func(s string) string {
		if _, unit, counted := strings.Cut(s, " "); counted {
			return "N " + unit
		}
		return "0.0s"
	})
}

// saved returns the id of the debate that the program stored.
func saved(t *testing.T, stderr string) string {
	t.Helper()
	_, after, ok := strings.Cut(stderr, "saved as ")
	require.True(t, ok, stderr)
	id, _, _ := strings.Cut(after, " ")
	return id
}
