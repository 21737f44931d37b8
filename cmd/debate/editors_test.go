package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"
)

// editor is an editor that talks to debate acp. It grants the first option of each request.
type editor struct {
	acp.Client // nil: the agent uses nothing else
	*acp.ClientSideConnection

	mu    sync.Mutex
	said  []string
	asked []string
	plan  []acp.PlanEntry
	heard func(text string) // called with each message; may be nil
}

// newEditor connects an editor to an agent that reads from in and writes to out.
func newEditor(t *testing.T, in io.Writer, out io.Reader) *editor {
	t.Helper()
	e := &editor{}
	e.ClientSideConnection = acp.NewClientSideConnection(e, in, out)
	e.SetLogger(slog.New(slog.DiscardHandler))
	_, err := e.Initialize(t.Context(), acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber})
	require.NoError(t, err)
	return e
}

func (e *editor) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	e.mu.Lock()
	heard := e.heard
	text := ""
	switch u := n.Update; {
	case u.AgentMessageChunk != nil:
		text = u.AgentMessageChunk.Content.Text.Text
		e.said = append(e.said, text)
	case u.Plan != nil:
		e.plan = u.Plan.Entries
	}
	e.mu.Unlock()
	if heard != nil && text != "" {
		heard(text)
	}
	return nil
}

func (e *editor) RequestPermission(_ context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, *r.ToolCall.Title)
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(r.Options[0].OptionId)}, nil
}

// prompt sends a prompt, and returns why the turn has ended and what the agent has said.
func (e *editor) prompt(ctx context.Context, id acp.SessionId, text string) (acp.StopReason, string, error) {
	e.mu.Lock()
	e.said = nil
	e.mu.Unlock()
	r, err := e.Prompt(ctx, acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
	e.mu.Lock()
	defer e.mu.Unlock()
	return r.StopReason, strings.Join(e.said, ""), err
}

// withEditor runs debate acp with the flags for an editor, until use has returned. It returns what the command has written to stderr.
func withEditor(t *testing.T, env func(string) string, args []string, use func(*editor)) string {
	t.Helper()
	toAgent, fromEditor := io.Pipe()
	toEditor, fromAgent := io.Pipe()
	var stderr output
	done := make(chan int, 1)
	go func() {
		done <- run(context.Background(), nil, append([]string{"acp"}, args...), toAgent, fromAgent, &stderr, env)
		_ = fromAgent.Close()
	}()
	use(newEditor(t, fromEditor, toEditor))
	require.NoError(t, fromEditor.Close())
	require.Equal(t, 0, <-done, stderr.String())
	return stderr.String()
}

func TestDebatesAreHeldInAnEditor(t *testing.T) {
	folder(t, "short.json", `{"description": "For a quick look.", "protocol": "vote", "limits": {"max_rounds": 1}}`)
	withEditor(t, environment(), []string{"--store", "d.db", "--preset", "short=short.json", "--protocol", "skeptic"}, func(e *editor) {
		s, err := e.NewSession(t.Context(), acp.NewSessionRequest{Cwd: t.TempDir(), McpServers: []acp.McpServer{}})
		require.NoError(t, err)
		modes := map[string]string{}
		for _, m := range s.Modes.AvailableModes {
			modes[m.Name] = *m.Description
		}
		require.Equal(t, "For a quick look.", modes["short"])
		for name, about := range purposes {
			if name == "evaluation" {
				require.NotContains(t, modes, name, "a topic does not suffice for it")
				continue
			}
			require.Equal(t, about, modes[name])
		}
		for _, name := range sortedKeys(modes) { // each kind of debate holds one of a topic alone
			_, err := e.SetSessionMode(t.Context(), acp.SetSessionModeRequest{SessionId: s.SessionId, ModeId: acp.SessionModeId(name)})
			require.NoError(t, err)
			reason, said, err := e.prompt(t.Context(), s.SessionId, topic)
			require.NoError(t, err, name)
			require.Equal(t, acp.StopReasonEndTurn, reason, name)
			require.Contains(t, said, ": completed, ", name)
			require.NotEmpty(t, e.plan, name)
			for _, entry := range e.plan {
				require.Equal(t, acp.PlanEntryStatusCompleted, entry.Status, "%s: %s", name, entry.Content)
			}
		}
	})
	_, stdout, _ := start(t, environment(), "list", "--store", "d.db")
	require.Equal(t, 12, strings.Count(stdout, "\n"), "a heading, nine purposes, default and short: %s", stdout)
}

// The process is killed in the middle of a turn. Another one on the same database has the session, and continues its debate.
func TestAKilledEditorLosesNoTurn(t *testing.T) {
	db := filepath.Join(t.TempDir(), "d.db")
	folder(t)
	killed := make(chan struct{})
	slow := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		if n == 3 {
			<-killed
		}
		return echo(prompt)
	})
	launch := func() (*editor, *exec.Cmd) {
		cmd := binaryCommand(t, slow, "acp", "--store", db, "--protocol", "skeptic")
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Wait() })
		t.Cleanup(func() { _ = in.Close() })
		return newEditor(t, in, out), cmd
	}
	first, process := launch()
	request := acp.NewSessionRequest{Cwd: t.TempDir(), McpServers: []acp.McpServer{}}
	s, err := first.NewSession(t.Context(), request)
	require.NoError(t, err)
	turns := make(chan string, 100)
	first.heard = func(text string) { turns <- text }
	left := make(chan error, 1)
	go func() {
		_, _, err := first.prompt(t.Context(), s.SessionId, "Ban cars?")
		left <- err
	}()
	var before []string
	for range 2 {
		select {
		case text := <-turns:
			before = append(before, text)
		case err := <-left:
			t.Fatal("the debate was over: ", err)
		}
	}
	require.NoError(t, process.Process.Kill())
	close(killed)
	require.Error(t, <-left)

	second, _ := launch()
	list, err := second.ListSessions(t.Context(), acp.ListSessionsRequest{Cwd: &request.Cwd})
	require.NoError(t, err)
	require.Len(t, list.Sessions, 1)
	require.Equal(t, s.SessionId, list.Sessions[0].SessionId)
	_, err = second.LoadSession(t.Context(),
		acp.LoadSessionRequest{SessionId: s.SessionId, Cwd: request.Cwd, McpServers: []acp.McpServer{}})
	require.NoError(t, err)
	replayed := slices.Clone(second.said)
	require.GreaterOrEqual(t, len(replayed), len(before))
	require.Equal(t, before, replayed[:len(before)])
	reason, said, err := second.prompt(t.Context(), s.SessionId, "Go on.")
	require.NoError(t, err)
	require.Equal(t, acp.StopReasonEndTurn, reason)
	require.Contains(t, said, ": completed, ")
	for _, text := range before {
		require.NotContains(t, said, text)
	}
}
