package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/debatetool"
)

// asServer tells the test's program to be the command.
const asServer = "DEBATEMCP_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// command returns the command with arguments, without keys.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = []string{asServer + "=1", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	return cmd
}

// connect connects a client, whose progress goes to the function.
func connect(t *testing.T, transport mcp.Transport, progress func(string)) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress(r.Params.Message) },
	}).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func call(t *testing.T, s *mcp.ClientSession, tool string, input map[string]any) (out debatetool.Output, err error) {
	t.Helper()
	p := &mcp.CallToolParams{Name: tool, Arguments: input}
	p.SetProgressToken("p")
	r, err := s.CallTool(t.Context(), p)
	if err != nil {
		return out, err
	}
	require.False(t, r.IsError, "%v", r.Content)
	raw, err := json.Marshal(r.StructuredContent)
	require.NoError(t, err)
	return out, json.Unmarshal(raw, &out)
}

// A server on standard input and output is killed during a call. Another one on the same file continues the debate.
func TestAKilledServerLosesNoTurn(t *testing.T) {
	db := filepath.Join(t.TempDir(), "debates.db")
	spoken := make(chan string, 100)
	first := command(t, "-db", db)
	session := connect(t, &mcp.CommandTransport{Command: first}, func(s string) { spoken <- s })
	left := make(chan error, 1)
	go func() {
		_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "debate", Meta: mcp.Meta{"progressToken": "p"}, Arguments: map[string]any{"question": "Ban cars?"}})
		left <- err
	}()
	var id string
	for range 3 { // that the debate runs, and two turns
		select {
		case text := <-spoken:
			id = strings.TrimSuffix(strings.Fields(text)[1], ":")
		case <-time.After(time.Minute):
			t.Fatal("there is no progress")
		}
	}
	before, err := call(t, session, "debate_status", map[string]any{"id": id})
	require.NoError(t, err)
	require.NotEmpty(t, before.Turns)
	require.NoError(t, first.Process.Kill())
	require.Error(t, <-left)

	session = connect(t, &mcp.CommandTransport{Command: command(t, "-db", db)}, func(string) {})
	out, err := call(t, session, "debate", map[string]any{"id": id})
	require.NoError(t, err)
	require.Equal(t, "completed", out.Status)
	after, err := call(t, session, "debate_status", map[string]any{"id": id})
	require.NoError(t, err)
	require.Greater(t, len(after.Turns), len(before.Turns))
	require.Equal(t, before.Turns, after.Turns[:len(before.Turns)])
	seen := map[string]bool{}
	for _, turn := range after.Turns {
		key := strings.Split(turn.Text, "\n")[0] + string(turn.Kind)
		require.False(t, seen[key], "%s is there twice", key)
		seen[key] = true
	}
	require.NoError(t, session.Close())
}

// withToken adds a token to requests.
type withToken string

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(w))
	return http.DefaultTransport.RoundTrip(r)
}

func TestOverHTTP(t *testing.T) {
	preset := filepath.Join(t.TempDir(), "short.json")
	require.NoError(t, os.WriteFile(preset, []byte(`{"participants": [{"name": "Ann", "side": "for"}, {"name": "Ben", "side": "against"}], "judges": [{"name": "Jo"}], "limits": {"max_rounds": 1}}`), 0o600))
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"-db", filepath.Join(t.TempDir(), "debates.db"), "-http", "127.0.0.1:0", "-preset", "short=" + preset}, in, func(name string) string {
			return map[string]string{"DEBATE_MCP_TOKEN": "secret"}[name]
		})
	}()
	lines := bufio.NewScanner(out)
	url := ""
	for url == "" && lines.Scan() {
		_, url, _ = strings.Cut(lines.Text(), "debatemcp: ")
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	session := connect(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: withToken("secret")}}, func(string) {})
	got, err := call(t, session, "debate", map[string]any{"question": "Ban cars?", "preset": "short"})
	require.NoError(t, err)
	require.Equal(t, "completed", got.Status)
	for token, origin := range map[string]string{"wrong": "", "": "", "secret": "https://evil.example"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
		require.NoError(t, err)
		r.Header.Set("Origin", origin)
		res, err := (&http.Client{Transport: withToken(token)}).Do(r)
		require.NoError(t, err)
		_ = res.Body.Close()
		want := http.StatusUnauthorized
		if origin != "" {
			want = http.StatusForbidden
		}
		require.Equal(t, want, res.StatusCode)
	}
	require.NoError(t, session.Close())
	stop()
	require.NoError(t, <-done)
}

func TestWrongArguments(t *testing.T) {
	db := filepath.Join(t.TempDir(), "debates.db")
	for want, args := range map[string][]string{
		`other machines can reach it, set DEBATE_MCP_TOKEN`: {"-http", ":0"},
		`read preset: "x" has no file, want name=file`:      {"-preset", "x"},
		`read preset: open missing.json`:                    {"-preset", "x=missing.json"},
		`flag provided but not defined`:                     {"-x"},
	} {
		err := run(t.Context(), append([]string{"-db", db}, args...), io.Discard, func(string) string { return "" })
		require.ErrorContains(t, err, want)
	}
	bad := filepath.Join(t.TempDir(), "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte(`{"topics": 1}`), 0o600))
	err := run(t.Context(), []string{"-db", db, "-preset", "x=" + bad}, io.Discard, func(string) string { return "" })
	require.ErrorContains(t, err, "topics: the field is unknown")
}

func TestTheDefaultFileIsInTheUsersFolder(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(name, home)
	}
	file, err := databaseFile("")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(file, home))
	require.DirExists(t, filepath.Dir(file))
}
