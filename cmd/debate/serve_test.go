package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/integrations/debatetool"
)

// serving runs a server until the test has ended, and returns the address that follows a word in its messages.
func serving(t *testing.T, env func(string) string, word string, args ...string) (address string) {
	t.Helper()
	return servingTo(t, &output{}, env, word, args...)
}

// servingTo does what serving does, and records the messages.
func servingTo(t *testing.T, stderr *output, env func(string) string, word string, args ...string) (address string) {
	t.Helper()
	interrupted := make(chan struct{})
	done := make(chan int, 1)
	printed := make(chan string, 1)
	var stdout output
	stderr.seen = func(all string) {
		if _, after, ok := strings.Cut(all, word+" "); ok {
			if line, _, whole := strings.Cut(after, "\n"); whole {
				select {
				case printed <- line:
				default:
				}
			}
		}
	}
	go func() { done <- run(t.Context(), interrupted, args, strings.NewReader(""), &stdout, stderr, env) }()
	t.Cleanup(func() {
		close(interrupted)
		require.Equal(t, 0, <-done, stderr.String())
		require.NotContains(t, stdout.String()+stderr.String(), "sk-secret")
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	select {
	case address = <-printed:
	case code := <-done:
		done <- code
		t.Fatal(stderr.String())
	}
	return address
}

// withToken adds a token to requests.
type withToken string

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if w != "" {
		r.Header.Set("Authorization", "Bearer "+string(w))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// send sends a request and returns the status and the body of the answer.
func send(t *testing.T, c *http.Client, method, url, body string, header ...string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := c.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(b)
}

func TestDebatesAreServedOverHTTP(t *testing.T) {
	folder(t, "c.json", `{"limits": {"max_rounds": 1}}`)
	env := environment("DEBATE_TOKEN", "secret")
	base := serving(t, env, "serving", "serve", "--http", "127.0.0.1:0", "--store", "d.db", "--config", "c.json", "--preset", "short=c.json")
	client := &http.Client{Transport: withToken("secret")}
	for _, token := range []withToken{"", "wrong"} { // each client reads the refusal in its own format
		for path, want := range map[string]string{"debates": `"title":"You are not signed in"`, "v1/models": `{"error":{`} {
			status, text := send(t, &http.Client{Transport: token}, http.MethodGet, base+path, "")
			require.Equal(t, http.StatusUnauthorized, status)
			require.Contains(t, text, want)
			require.NotContains(t, text, "secret")
		}
	}
	status, text := send(t, client, http.MethodGet, base+"v1/models", "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, text, `"default"`)
	require.Contains(t, text, `"short"`)
	status, text = send(t, client, http.MethodPost, base+"v1/chat/completions", `{"model": "default", "messages": [{"role": "user", "content": "Is tea healthy?"}]}`)
	require.Equal(t, http.StatusOK, status, text)
	require.Contains(t, text, "Winner: ")
	code, stdout, _ := start(t, environment(), "list", "--store", "d.db")
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "Is tea healthy?")
	require.Equal(t, 2, strings.Count(stdout, "\n"), "the server has stored a debate of its own: %s", stdout)
}

// A page of another origin may use the server if a flag says so, with the token that a preflight lacks.
func TestOptionsOfTheServer(t *testing.T) {
	folder(t, "c.json", `{"limits": {"max_rounds": 1}}`)
	base := serving(t, environment("DEBATE_TOKEN", "secret"), "serving", "serve", "--http", "127.0.0.1:0", "--store", "d.db", "--config", "c.json",
		"--origin", "https://app.example.com", "--show-turns", "--stop-on-cancel")
	origin := []string{"Origin", "https://app.example.com", "Sec-Fetch-Site", "cross-site"}
	status, _ := send(t, http.DefaultClient, http.MethodOptions, base+"v1/chat/completions", "", append(origin, "Access-Control-Request-Method", "POST")...)
	require.Equal(t, http.StatusNoContent, status)
	status, text := send(t, &http.Client{Transport: withToken("secret")}, http.MethodPost, base+"v1/chat/completions",
		`{"model": "default", "messages": [{"role": "user", "content": "Is tea healthy?"}]}`, origin...)
	require.Equal(t, http.StatusOK, status, text)
	require.Contains(t, text, `"reasoning_content":`)
}

func TestServersNeedATokenOrAWord(t *testing.T) {
	folder(t, "p.json", `{"protocol": "vote"}`, "own.json", `{"providers": {"x": {"kind": "offline"}}}`, "bad.json", `{"topics": 1}`, "few.json", `{"participants": [{"name": "Ann"}]}`)
	_, _, _ = start(t, environment(), "--store", "d.db", "--protocol", "vote", topic)
	for _, tt := range []struct {
		args string
		env  []string
		code int
		says string
	}{
		{"serve", nil, 2, "serve debates: set DEBATE_TOKEN in the environment to a token that clients must send, or use --insecure to answer everyone who reaches 127.0.0.1:8080"},
		{"mcp --http 127.0.0.1:0", nil, 2, "mcp debates: set DEBATE_TOKEN"},
		{"serve --insecure --origin app.example.com", nil, 2, "serve debates: make handler: "},
		{"serve --http 127.0.0.1:99999 --insecure", nil, 2, "serve debates: listen tcp"},
		{"mcp --preset x", nil, 2, `read preset: "x" has no name or no file, want NAME=FILE`},
		{"serve --insecure --preset =p.json", nil, 2, `read preset: "=p.json" has no name or no file, want NAME=FILE`},
		{"mcp --preset default=p.json", nil, 2, "describe the preset default, use another name"},
		{"mcp --preset x=p.json --preset x=p.json", nil, 2, "read preset: x is given twice"},
		{"mcp --preset x=none.json", nil, 2, "open none.json"},
		{"mcp --preset x=bad.json", nil, 2, "topics: the field is unknown"},
		{"mcp --preset x=own.json", nil, 2, "providers: not allowed in a preset"},
		{"mcp --preset x=few.json", nil, 2, "read preset x: "},
		{"mcp --protocol duel", nil, 2, `"duel" is unknown`},
		{"mcp --store memory", nil, 2, "which keeps no debates"},
		{"mcp --model anthropic/x", nil, 4, "set ANTHROPIC_API_KEY"},
		{"inspect --store none.db", nil, 2, "none.db does not exist"},
		{"inspect nobody", nil, 2, "no such debate"},
		{"inspect --port 99999", nil, 2, "inspect debates: listen tcp"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			args := strings.Fields(tt.args)
			if !slices.Contains(args, "--store") {
				args = append(args, "--config", "p.json", "--store", "d.db")
			}
			code, stdout, stderr := start(t, environment(tt.env...), args...)
			require.Equal(t, tt.code, code, stderr)
			require.Contains(t, stderr, tt.says)
			require.Empty(t, stdout)
		})
	}
}

// Models can hold debates with each protocol.
func TestEachProtocolIsServed(t *testing.T) {
	folder(t)
	for name := range presets {
		args := []string{"mcp", "--protocol", name, "--store", "d.db"}
		if name == "arbitration" {
			args = append(args, "--scores", "problem=5,solution=5,market=5")
		}
		code, _, stderr := execute(t, environment(), args...)
		require.Equal(t, 0, code, "%s: %s", name, stderr)
	}
}

// awaitFile waits until another process has made a file, however slow the machine is.
func awaitFile(path string) {
	for !fileExists(path) {
		time.Sleep(time.Millisecond)
	}
}

func TestTheInspectorOpensInTheBrowser(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the browser is a shell script")
	}
	folder(t)
	_, _, stderr := start(t, environment(), "--store", "d.db", "--protocol", "vote", topic)
	id := saved(t, stderr)
	browser := filepath.Join(t.TempDir(), "browser")
	opened := filepath.Join(t.TempDir(), "opened")
	require.NoError(t, os.WriteFile(browser, []byte("#!/bin/sh\nprintf %s \"$1\" > '"+opened+".new' && mv '"+opened+".new' '"+opened+"'\n"), 0o700)) //nolint:gosec // it is executable
	address := serving(t, environment("BROWSER", browser), "open", "inspect", id, "--store", "d.db")
	require.Contains(t, address, "/debates/"+id+"?token=")

	var cookies []*http.Cookie
	client := &http.Client{CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		cookies = r.Response.Cookies()
		return http.ErrUseLastResponse
	}}
	page, _, _ := strings.Cut(address, "?")
	status, _ := send(t, client, http.MethodGet, page, "")
	require.Equal(t, http.StatusUnauthorized, status)
	status, _ = send(t, client, http.MethodGet, address, "")
	require.Equal(t, http.StatusSeeOther, status)
	require.Len(t, cookies, 1)
	status, text := send(t, client, http.MethodGet, page, "", "Cookie", cookies[0].Name+"="+cookies[0].Value)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, text, "private cars?")
	status, _ = send(t, client, http.MethodPost, strings.TrimSuffix(page, "debates/"+id)+"api/debates/"+id+"/cancel", "", "Cookie", cookies[0].Name+"="+cookies[0].Value)
	require.Equal(t, http.StatusForbidden, status, "the pages are read-only")

	awaitFile(opened)
	ticket := contents(t, opened)
	require.NotEqual(t, address, ticket, "other users can see the arguments of the browser")
	status, _ = send(t, client, http.MethodGet, ticket, "")
	require.Equal(t, http.StatusSeeOther, status)
}

// The browser may be the user's own, with other pages, so it stays open when the inspector ends.
func TestTheBrowserStaysOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the browser is a shell script")
	}
	dir := t.TempDir()
	browser := filepath.Join(dir, "browser")
	end := filepath.Join(dir, "end")
	ended := filepath.Join(dir, "ended")
	script := "#!/bin/sh\nuntil mv '" + end + "' '" + ended + "' 2>/dev/null; do [ -e \"$0\" ] || exit; sleep 0.01; done\n"
	require.NoError(t, os.WriteFile(browser, []byte(script), 0o700)) //nolint:gosec // it is executable
	ctx, cancel := context.WithCancel(t.Context())
	p := &program{env: environment("BROWSER", browser)}
	require.NoError(t, p.openBrowser(ctx, "http://127.0.0.1/"))
	cancel()
	require.NoError(t, os.WriteFile(end, nil, 0o600))
	awaitFile(ended)
}

func TestTheInspectorControlsDebates(t *testing.T) {
	folder(t)
	_, _, stderr := start(t, environment(), "--store", "d.db", "--me", "Ada", topic)
	id := saved(t, stderr)
	address := serving(t, environment(), "open", "inspect", "--no-open", "--controls", "--store", "d.db")
	base, token, _ := strings.Cut(address, "?token=")
	status, text := send(t, &http.Client{Transport: withToken(token)}, http.MethodPost, base+"api/debates/"+id+"/cancel", "")
	require.Less(t, status, 300, text)
	_, stdout, _ := start(t, environment(), "list", "--store", "d.db")
	require.Contains(t, stdout, id+"  canceled")
}

// connect connects an MCP client, whose progress goes to the function.
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

// Each protocol that the defaults of debate mcp offer holds a debate of a question alone.
func TestMCPOffersProtocolsThatRun(t *testing.T) {
	folder(t)
	url := serving(t, environment(), "serving", "mcp", "--http", "127.0.0.1:0", "--insecure", "--store", "d.db")
	session := connect(t, &mcp.StreamableClientTransport{Endpoint: url}, func(string) {})
	tools, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	tried := 0
	for _, tool := range tools.Tools {
		if tool.Name != "debate" {
			continue
		}
		for _, p := range tool.InputSchema.(map[string]any)["properties"].(map[string]any)["protocol"].(map[string]any)["enum"].([]any) {
			out, err := call(t, session, "debate", map[string]any{"topic": "Ban cars?", "protocol": p})
			for err == nil && out.Status == "running" { // the machine may be slow
				out, err = call(t, session, "debate", map[string]any{"id": out.ID})
			}
			require.NoError(t, err)
			require.Equal(t, "completed", out.Status, p)
			tried++
		}
	}
	require.Equal(t, 7, tried, "all but arbitration, which needs scores")
	require.NoError(t, session.Close())
}

// An MCP server on standard input and output is killed during a call. Another one on the same database continues the debate.
func TestAKilledMCPServerLosesNoTurn(t *testing.T) {
	db := filepath.Join(t.TempDir(), "d.db")
	folder(t)
	killed := make(chan struct{})
	slow := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		if n == 3 {
			<-killed
		}
		return echo(prompt)
	})
	args := []string{"mcp", "--store", db, "--protocol", "skeptic"}
	spoken := make(chan string, 100)
	first := binaryCommand(t, slow, args...)
	session := connect(t, &mcp.CommandTransport{Command: first}, func(s string) { spoken <- s })
	left := make(chan error, 1)
	go func() {
		_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "debate", Meta: mcp.Meta{"progressToken": "p"}, Arguments: map[string]any{"topic": "Ban cars?"}})
		left <- err
	}()
	var id string
	for range 3 { // that the debate runs, and two turns
		select {
		case text := <-spoken:
			id = strings.TrimSuffix(strings.Fields(text)[1], ":")
		case err := <-left:
			t.Fatal("the debate was over: ", err)
		}
	}
	before, err := call(t, session, "debate_status", map[string]any{"id": id})
	require.NoError(t, err)
	require.NotEmpty(t, before.Turns)
	require.NoError(t, first.Process.Kill())
	close(killed)
	require.Error(t, <-left)

	session = connect(t, &mcp.CommandTransport{Command: binaryCommand(t, slow, args...)}, func(string) {})
	out, err := call(t, session, "debate", map[string]any{"id": id})
	for err == nil && out.Status == "running" { // a call waits for 45 seconds, and the machine may be slow
		out, err = call(t, session, "debate", map[string]any{"id": id})
	}
	require.NoError(t, err)
	require.Equal(t, "completed", out.Status)
	after, err := call(t, session, "debate_status", map[string]any{"id": id})
	require.NoError(t, err)
	require.Greater(t, len(after.Turns), len(before.Turns))
	require.Equal(t, before.Turns, after.Turns[:len(before.Turns)])
	require.NoError(t, session.Close())
}

func TestMCPOverHTTP(t *testing.T) {
	folder(t, "short.json", `{"description": "For a quick look.", "participants": [{"name": "Ann", "side": "for"}, {"name": "Ben", "side": "against"}], "judges": [{"name": "Jo"}], "limits": {"max_rounds": 1}}`)
	url := serving(t, environment("DEBATE_TOKEN", "secret"), "serving", "mcp", "--http", "127.0.0.1:0", "--store", "d.db", "--preset", "short=short.json")
	session := connect(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: withToken("secret")}}, func(string) {})
	tools, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	raw, err := json.Marshal(tools)
	require.NoError(t, err)
	require.Less(t, len(raw), 8_000, "it stands in the context of each conversation")
	require.Contains(t, string(raw), `\ndefault: panel with Ada, Bo before Judge. Up to 7 replies, 7 in a row.\nshort: For a quick look. Up to 4 replies, 4 in a row.`)
	for preset, rounds := range map[string]int{"short": 1, "default": 2} {
		got, err := call(t, session, "debate", map[string]any{"topic": "Ban cars?", "preset": preset})
		require.NoError(t, err)
		require.Equal(t, "completed", got.Status)
		require.Equal(t, rounds, got.Rounds)
	}
	for _, token := range []withToken{"", "wrong"} {
		status, _ := send(t, &http.Client{Transport: token}, http.MethodPost, url, "{}")
		require.Equal(t, http.StatusUnauthorized, status)
	}
	status, _ := send(t, &http.Client{Transport: withToken("secret")}, http.MethodPost, url, "{}", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusForbidden, status)
	require.NoError(t, session.Close())
}

// With --show-turns, OpenAI clients see the turns while the debate runs.
func TestTurnsAreShownToOpenAIClients(t *testing.T) {
	folder(t, "c.json", `{"limits": {"max_rounds": 1}}`)
	for _, flags := range [][]string{nil, {"--show-turns"}} {
		args := append([]string{"serve", "--http", "127.0.0.1:0", "--store", "d.db", "--config", "c.json", "--insecure"}, flags...)
		base := serving(t, environment(), "serving", args...)
		status, text := send(t, http.DefaultClient, http.MethodPost, base+"v1/chat/completions", `{"model": "default", "messages": [{"role": "user", "content": "Is tea healthy?"}]}`)
		require.Equal(t, http.StatusOK, status, text)
		require.Equal(t, flags != nil, strings.Contains(text, "reasoning_content"), text)
	}
}

// The help of a command offers the store memory only where the command takes it.
func TestOnlyANewDebateMayUseMemory(t *testing.T) {
	folder(t)
	for _, command := range []string{"", "serve", "mcp", "inspect", "list", "show", "resume", "fork", "import"} {
		args := append(strings.Fields(command), "--help")
		code, stdout, stderr := start(t, environment(), args...)
		require.Equal(t, 0, code, stderr)
		require.Equal(t, command == "", strings.Contains(plainLine(stdout), "memory keeps nothing"), command)
	}
}

// With --model client, debates use the model of the client, and need no key. Without it, no client is asked.
func TestMCPUsesTheModelOfTheClient(t *testing.T) {
	for _, flags := range [][]string{nil, {"--model", "client"}, {"--model", "client/clever", "--judge-model", "offline"}} {
		folder(t)
		url := serving(t, environment(), "serving",
			append([]string{"mcp", "--http", "127.0.0.1:0", "--insecure", "--store", "d.db"}, flags...)...)
		var asked atomic.Int64
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
			CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
				asked.Add(1)
				last := r.Params.Messages[len(r.Params.Messages)-1].Content.(*mcp.TextContent)
				said := echo(r.Params.SystemPrompt + last.Text)
				return &mcp.CreateMessageResult{Role: "assistant", Model: "mine", Content: &mcp.TextContent{Text: said}}, nil
			},
		}).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, nil)
		require.NoError(t, err)
		out, err := call(t, session, "debate", map[string]any{"topic": "Ban cars?", "protocol": "skeptic"})
		for err == nil && out.Status == "running" { // the machine may be slow
			out, err = call(t, session, "debate", map[string]any{"id": out.ID})
		}
		require.NoError(t, err)
		require.Equal(t, "completed", out.Status)
		require.Equal(t, flags != nil, asked.Load() > 0)
		require.NoError(t, session.Close())
	}
	code, _, stderr := start(t, environment(), "serve", "--insecure", "--store", "d.db", "--model", "client")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "choose model: --model client")
}
