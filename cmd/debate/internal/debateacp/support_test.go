package debateacp_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/cmd/debate/internal/debateacp"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model speaks for everybody. It takes a second for each reply.
type model struct {
	mu      sync.Mutex
	prompts []string
	text    string // of a speech
}

func (m *model) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	m.mu.Lock()
	for _, part := range r.Messages {
		m.prompts = append(m.prompts, part.Text)
	}
	m.mu.Unlock()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
	if r.Schema == nil {
		return providers.Response{Text: m.text}, nil
	}
	return (&debatetest.DigestModel{Names: []string{"Ada", "Bo"}}).Generate(ctx, r)
}

// read reports whether the model has read a text.
func (m *model) read(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.prompts, func(p string) bool { return strings.Contains(p, text) })
}

// editor is a client of the SDK.
type editor struct {
	*acp.ClientSideConnection
	model *model
	hang  func()        // closes the connection
	left  chan struct{} // closed when Serve has returned

	mu    sync.Mutex
	seen  []acp.SessionUpdate
	asked []acp.RequestPermissionRequest
	files map[string]string
	// choose chooses the option of a request, or none; by default the first one.
	choose func(acp.RequestPermissionRequest) string
	// heard is called with each message of the agent.
	heard func(text string)
}

// connect connects an editor to an agent on a store, whose debates have the configuration.
func connect(t *testing.T, s store.Store, c debate.Config) *editor {
	t.Helper()
	e := &editor{model: &model{text: "I say yes."}, left: make(chan struct{})}
	engine := debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": e.model}})
	quick := debatetest.ShortPanel(1)
	o := debateacp.Options{Version: "v1", Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Presets: map[string]debatetool.Preset{
		"default": {Description: "A panel.", Config: c}, "quick": {Description: "One round.", Config: quick},
	}}
	toAgent, fromEditor := io.Pipe()
	toEditor, fromAgent := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(e.left)
		debateacp.Serve(ctx, engine, o, toAgent, fromAgent)
		debatetest.Kill(engine)
		_ = fromAgent.Close()
	}()
	e.hang = sync.OnceFunc(func() { _ = fromEditor.Close() })
	e.ClientSideConnection = acp.NewClientSideConnection(e, fromEditor, toEditor)
	e.SetLogger(slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		e.hang()
		<-e.left
		cancel()
	})
	return e
}

// begin begins a session.
func (e *editor) begin(t *testing.T) acp.SessionId {
	t.Helper()
	e.hello(t)
	s, err := e.NewSession(t.Context(), acp.NewSessionRequest{Cwd: "/src/project", McpServers: []acp.McpServer{}})
	require.NoError(t, err)
	return s.SessionId
}

// hello initializes the connection.
func (e *editor) hello(t *testing.T) acp.InitializeResponse {
	t.Helper()
	r, err := e.Initialize(t.Context(), acp.InitializeRequest{
		ProtocolVersion:    acp.ProtocolVersionNumber,
		ClientCapabilities: acp.ClientCapabilities{Fs: acp.FileSystemCapabilities{ReadTextFile: e.files != nil}},
	})
	require.NoError(t, err)
	return r
}

// prompt sends a prompt, and returns why the turn has ended and what the agent has said.
func (e *editor) prompt(t *testing.T, id acp.SessionId, text string, more ...acp.ContentBlock) (acp.StopReason, string) {
	t.Helper()
	e.forget()
	r, err := e.Prompt(t.Context(), acp.PromptRequest{SessionId: id, Prompt: append([]acp.ContentBlock{acp.TextBlock(text)}, more...)})
	require.NoError(t, err)
	return r.StopReason, e.said()
}

func (e *editor) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen, e.asked = nil, nil
}

// said returns the messages of the agent.
func (e *editor) said() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, u := range e.seen {
		if u.AgentMessageChunk != nil {
			b.WriteString(u.AgentMessageChunk.Content.Text.Text)
		}
	}
	return b.String()
}

// plans returns the plans, each in a line for each entry.
func (e *editor) plans() (list []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, u := range e.seen {
		if u.Plan == nil {
			continue
		}
		var lines []string
		for _, entry := range u.Plan.Entries {
			lines = append(lines, fmt.Sprintf("%s %s", entry.Content, entry.Status))
		}
		list = append(list, strings.Join(lines, "\n"))
	}
	return list
}

// options returns the options of the requests for permission.
func (e *editor) options() (list [][]string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.asked {
		var names []string
		for _, o := range r.Options {
			names = append(names, fmt.Sprintf("%s: %s (%s)", o.OptionId, o.Name, o.Kind))
		}
		list = append(list, names)
	}
	return list
}

// SessionUpdate implements acp.Client.
func (e *editor) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	e.mu.Lock()
	e.seen = append(e.seen, n.Update)
	heard := e.heard
	e.mu.Unlock()
	if heard != nil && n.Update.AgentMessageChunk != nil {
		heard(n.Update.AgentMessageChunk.Content.Text.Text)
	}
	return nil
}

// RequestPermission implements acp.Client.
func (e *editor) RequestPermission(_ context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, r)
	option := string(r.Options[0].OptionId)
	if e.choose != nil {
		option = e.choose(r)
	}
	if option == "" {
		return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, nil
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(acp.PermissionOptionId(option))}, nil
}

// ReadTextFile implements acp.Client.
func (e *editor) ReadTextFile(_ context.Context, r acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	text, found := e.files[r.Path]
	if !found {
		return acp.ReadTextFileResponse{}, &acp.RequestError{Code: -32002, Message: "no such file"}
	}
	return acp.ReadTextFileResponse{Content: text}, nil
}

func (*editor) WriteTextFile(context.Context, acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	panic("the agent writes a file")
}

func (*editor) CreateTerminal(context.Context, acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error) {
	panic("the agent opens a terminal")
}

func (*editor) KillTerminal(context.Context, acp.KillTerminalRequest) (acp.KillTerminalResponse, error) {
	panic("the agent uses a terminal")
}

func (*editor) TerminalOutput(context.Context, acp.TerminalOutputRequest) (acp.TerminalOutputResponse, error) {
	panic("the agent uses a terminal")
}

func (*editor) ReleaseTerminal(context.Context, acp.ReleaseTerminalRequest) (acp.ReleaseTerminalResponse, error) {
	panic("the agent uses a terminal")
}

func (*editor) WaitForTerminalExit(context.Context, acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error) {
	panic("the agent uses a terminal")
}
