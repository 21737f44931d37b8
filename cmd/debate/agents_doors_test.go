package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/integrations/skill"
)

// The tests of this file run programs from npm, which make proofs ONLY=agents installs. Their models are a server of this process.

// agentProgram returns the first of several paths that exists, below the folder of the programs from npm. It skips the test if make
// proofs ONLY=agents has not started it.
func agentProgram(t *testing.T, paths ...string) string {
	t.Helper()
	if os.Getenv("DEBATE_AGENTS") != "1" {
		t.Skip("no agents: run make proofs ONLY=agents")
	}
	bin, err := filepath.Abs(os.Getenv("DEBATE_AGENTS_BIN"))
	require.NoError(t, err)
	for _, path := range paths {
		if program := filepath.Join(bin, path); fileExists(program) {
			return program
		}
	}
	require.FailNow(t, "a program is missing", "%s has none of %v", bin, paths)
	return ""
}

// exampleClients lists where npm puts the example client of the SDK: beside the adapter for Claude Code, which requires version 0.28 of
// the SDK, or below it.
var exampleClients = []string{
	"../@agentclientprotocol/sdk/dist/examples/client.js",
	"../@agentclientprotocol/claude-agent-acp/node_modules/@agentclientprotocol/sdk/dist/examples/client.js",
}

// modelService is a service with the protocols of Anthropic, OpenAI and Google. Its model calls the tool debate once, if a request
// offers it and call is set, and then replies with a text.
type modelService struct {
	*httptest.Server
	call bool

	mu       sync.Mutex
	requests []string // bodies of the requests for replies
}

func newModelService(t *testing.T, call bool) *modelService {
	t.Helper()
	m := &modelService{call: call}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// said returns the bodies of all requests.
func (m *modelService) said() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.requests...)
}

// debateTool matches the name that an agent gives the tool debate in a request, with or without that of the server.
var debateTool = regexp.MustCompile(`"name":\s*"((?:mcp_+debate_+)?debate)"`)

// ServeHTTP implements http.Handler.
func (m *modelService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	body := string(b)
	answers := strings.HasSuffix(r.URL.Path, "/messages") || strings.HasSuffix(r.URL.Path, "/responses") ||
		strings.Contains(r.URL.Path, "enerateContent")
	if !answers {
		_, _ = io.WriteString(w, "{}")
		return
	}
	m.mu.Lock()
	m.requests = append(m.requests, body)
	m.mu.Unlock()
	tool := ""
	found := debateTool.FindStringSubmatch(body)
	called := strings.Contains(body, "Ban cars?\\\"") || strings.Contains(body, `"Ban cars?"`)
	if m.call && found != nil && !called {
		tool = found[1]
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range events(r.URL.Path, tool, body) {
		if kind := textField(event, "type"); kind != "" { // Google's events have no names
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		fmt.Fprintf(w, "data: %s\n\n", event)
	}
}

// textField returns a field of an object that is a text.
func textField(object, field string) string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal([]byte(object), &fields)
	return strings.Trim(string(fields[field]), `"`)
}

// events returns a reply that calls a tool, or else a text, in the protocol of a path.
func events(path, tool, body string) []string {
	const input = `{"topic": "Ban cars?"}`
	quoted, _ := json.Marshal(input)
	switch {
	case strings.HasSuffix(path, "/messages"):
		block := `{"type":"text","text":""}`
		delta := `{"type":"text_delta","text":"All done."}`
		reason := "end_turn"
		if tool != "" {
			block = `{"type":"tool_use","id":"toolu_0123456789","name":"` + tool + `","input":{}}`
			delta, reason = `{"type":"input_json_delta","partial_json":`+string(quoted)+`}`, "tool_use"
		}
		return []string{
			`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":` + block + `}`,
			`{"type":"content_block_delta","index":0,"delta":` + delta + `}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":{"output_tokens":9}}`,
			`{"type":"message_stop"}`,
		}
	case strings.HasSuffix(path, "/responses"):
		item := `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"All done.","annotations":[]}]}`
		if tool != "" {
			namespace := ""
			if within := regexp.MustCompile(`"name":"(mcp__debate(?:__)?)"`).FindStringSubmatch(body); within != nil {
				namespace = `"namespace":"` + within[1] + `",`
			}
			item = `{"type":"function_call","id":"fc_1","call_id":"call_0123456789abcdef",` + namespace + `"name":"` + tool +
				`","arguments":` + string(quoted) + `,"status":"completed"}`
		}
		return []string{
			`{"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","model":"m","output":[]}}`,
			`{"type":"response.output_item.done","output_index":0,"item":` + item + `}`,
			`{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","model":"m","output":[` +
				item + `],"usage":{"input_tokens":9,"output_tokens":9,"total_tokens":18,` +
				`"input_tokens_details":{"cached_tokens":0},"output_tokens_details":{"reasoning_tokens":0}}}}`,
		}
	}
	part := `{"text":"All done."}`
	if tool != "" {
		part = `{"functionCall":{"name":"` + tool + `","args":` + input + `}}`
	}
	return []string{`{"candidates":[{"index":0,"content":{"role":"model","parts":[` + part +
		`]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":9,"totalTokenCount":18}}`}
}

// agentHome makes a home folder with the settings of the three agents, whose models are a service, and returns the environment. mcp
// is the command of an MCP server, or nil.
func agentHome(t *testing.T, service *modelService, mcp []string) (home string, env []string) {
	t.Helper()
	home = t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	servers, codexServers := "{}", ""
	if mcp != nil {
		command, err := json.Marshal(mcp[0])
		require.NoError(t, err)
		args, err := json.Marshal(mcp[1:])
		require.NoError(t, err)
		servers = fmt.Sprintf(`{"debate": {"command": %s, "args": %s, "trust": true, "timeout": 120000}}`, command, args)
		codexServers = fmt.Sprintf("[mcp_servers.debate]\ncommand = %s\nargs = %s\n", command, args)
	}
	write(".codex/config.toml", fmt.Sprintf("model = \"m\"\nmodel_provider = \"fake\"\n[model_providers.fake]\nname = \"fake\"\nbase_url = %q\nenv_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\n%s",
		service.URL+"/v1", codexServers))
	write(".gemini/settings.json", fmt.Sprintf(`{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}}, "mcpServers": %s, "privacy": {"usageStatisticsEnabled": false}, "general": {"disableAutoUpdate": true}}`, servers))
	write("mcp.json", `{"mcpServers": `+strings.ReplaceAll(servers, `, "trust": true, "timeout": 120000`, "")+`}`)
	return home, []string{
		"HOME=" + home, "TMPDIR=" + home, "PATH=" + os.Getenv("PATH"), "TERM=dumb", "NO_COLOR=1", "IS_SANDBOX=1",
		"ANTHROPIC_BASE_URL=" + service.URL, "ANTHROPIC_API_KEY=x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
		// Claude Code waits for the server, and does not begin without it.
		"MCP_TIMEOUT=120000", "MCP_CONNECT_TIMEOUT_MS=120000", "MCP_CONNECTION_NONBLOCKING=false",
		"OPENAI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + service.URL, "GEMINI_API_KEY=x",
	}
}

// agentCommands has the arguments with which each agent takes a prompt and asks its user nothing.
var agentCommands = map[string][]string{
	"claude": {
		"-p", "Ask for a debate.", "--mcp-config", "HOME/mcp.json", "--strict-mcp-config", "--allowedTools", "mcp__debate__debate",
		"--output-format", "json",
	},
	"codex":  {"exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "Ask for a debate."},
	"gemini": {"-p", "Ask for a debate.", "--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-o", "json"},
}

// runAgent runs an agent in a folder, and returns what it has printed.
func runAgent(t *testing.T, name, dir, home string, env []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	args := append([]string(nil), agentCommands[name]...)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "HOME", home)
	}
	c := exec.CommandContext(ctx, agentProgram(t, name), args...)
	c.Dir = dir
	c.Env = env
	c.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	require.NoError(t, err, out.String())
	return out.String()
}

// Claude Code, Codex and Gemini CLI call debate mcp, and their models read the answer.
func TestAgentsCallDebates(t *testing.T) {
	for name := range agentCommands {
		t.Run(name, func(t *testing.T) {
			agentProgram(t, name)
			command, err := binary()
			require.NoError(t, err)
			db := filepath.Join(t.TempDir(), "d.db")
			service := newModelService(t, true)
			home, env := agentHome(t, service, []string{command, "mcp", "--store", db, "--model", "offline", "--rounds", "1"})
			said := runAgent(t, name, t.TempDir(), home, env)
			require.Contains(t, said, "All done.")
			all := service.said()
			require.Regexp(t, `: completed, |status\\*": ?\\*"completed`, all[len(all)-1], "the model reads the answer: %s", said)
			folder(t)
			_, stdout, _ := start(t, environment(), "list", "--store", db)
			require.Regexp(t, `completed.*Ban cars\?`, stdout)
		})
	}
}

// debate init --skill puts the skill where the three agents find it: they tell their models of it.
func TestAgentsFindTheSkill(t *testing.T) {
	for name := range agentCommands {
		t.Run(name, func(t *testing.T) {
			agentProgram(t, name)
			folder(t)
			code, _, stderr := start(t, environment(), "init", "--skill")
			require.Equal(t, 0, code, stderr)
			project, err := os.Getwd()
			require.NoError(t, err)
			service := newModelService(t, false)
			home, env := agentHome(t, service, nil)
			require.Contains(t, runAgent(t, name, project, home, env), "All done.")
			_, about, _ := strings.Cut(skill.Text, "description: ")
			about, _, _ = strings.Cut(about, ".") // Codex and others may cut long descriptions
			require.Contains(t, strings.Join(service.said(), "\n"), about)
		})
	}
}

// The example client of the npm SDK holds a debate with debate acp. It starts its agent with npx, so an npx of ours starts ours. The
// client asks its user about a gate of the debate.
func TestAgentsExampleEditorDebates(t *testing.T) {
	client := agentProgram(t, exampleClients...)
	command, err := binary()
	require.NoError(t, err)
	folder(t, "c.json", `{"ask_before_verdict": true, "limits": {"max_rounds": 1}}`,
		"bin/npx", "#!/bin/sh\nexec '"+command+"' acp --store d.db --config c.json --model offline\n")
	require.NoError(t, os.Chmod("bin/npx", 0o700)) //nolint:gosec // it is executable
	dir, err := os.Getwd()
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), "node", client)
	c.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	c.Stdin = strings.NewReader("1\n")
	c.WaitDelay = 5 * time.Second
	out, err := c.CombinedOutput()
	said := string(out)
	require.NoError(t, err, said)
	for _, part := range []string{
		"Connected to agent (protocol v1)", "Created session: session-", "[plan]", "**Ada**, round 1", "**Bo**, round 1",
		"Permission requested: ", "1. Continue (allow_once)", ": completed, ", "Agent completed with: end_turn",
	} {
		require.Contains(t, said, part)
	}
	_, stdout, _ := start(t, environment(), "list", "--store", "d.db")
	require.Regexp(t, `completed.*Hello, agent!`, stdout)
}
