//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/report"
)

// The tests of this file run Claude Code, Codex, Gemini CLI and OpenCode, which make proofs ONLY=agents installs. Their model is a server
// of this process.

// A seatModel serves the protocols of Anthropic, OpenAI (both, the older one for OpenCode) and Google. As a debater it reads the
// file notes.txt with the tool of its agent, and then quotes a document. As a judge it follows the contract.
type seatModel struct {
	*httptest.Server
	hold chan struct{} // if it is not nil, verdicts wait until it is closed
	asks chan struct{} // has an element when a verdict waits
}

func newSeatModel(t *testing.T) *seatModel {
	t.Helper()
	m := &seatModel{asks: make(chan struct{}, 10)}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// ServeHTTP implements http.Handler.
func (m *seatModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	body := string(b)
	family := map[bool]string{
		strings.HasSuffix(r.URL.Path, "/messages"): "claude", strings.HasSuffix(r.URL.Path, "/responses"): "codex",
		strings.Contains(r.URL.Path, "streamGenerateContent"): "gemini", strings.HasSuffix(r.URL.Path, "/chat/completions"): "opencode",
	}[true]
	if family == "" {
		_, _ = io.WriteString(w, `{"data": [], "models": [], "totalTokens": 9, "input_tokens": 9}`)
		return
	}
	text, reads := m.reply(family, body)
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range seatEvents(family, text, reads) {
		encoded, _ := json.Marshal(event)
		if kind, named := event["type"]; named {
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		fmt.Fprintf(w, "data: %s\n\n", encoded)
	}
	if family == "opencode" {
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

// reply returns what the model says, or that it reads a file.
func (m *seatModel) reply(family, body string) (text string, reads bool) {
	used := map[string]string{
		"claude": `"tool_result"`, "codex": `"function_call_output"`, "gemini": `"functionResponse"`, "opencode": `"role":"tool"`,
	}[family]
	switch {
	case strings.Contains(body, "very short title"): // of a session of Codex
		return `{"title": "Limits"}`, false
	case family == "opencode" && !strings.Contains(body, `"tools"`): // the title of a session
		return "Limits", false
	case strings.Contains(body, "should_continue"):
		return `{"participants": [` + assessed("Debater A") + `, ` + assessed("Debater B") + `], "quality": 7, "should_continue": true}`,
			false
	case strings.Contains(body, "winner_reasoning"):
		if m.hold != nil {
			m.asks <- struct{}{}
			<-m.hold
		}
		return `{"summary": "Both quote.", "quality": 70}`, false
	case strings.Contains(body, used):
		return `The notes say that the limit was 40. The document says <quote source="1">the limit of requests is 17 for each user</quote>, so the notes are old.`, false
	}
	return "", true
}

// seatEvents returns a reply, or a call of the tool that reads a file, in a service's protocol.
func seatEvents(family, text string, reads bool) []map[string]any {
	type object = map[string]any
	input := object{"file_path": "notes.txt"}
	dir, _ := os.Getwd()
	path := filepath.Join(dir, "repository", "notes.txt")
	switch family {
	case "opencode":
		delta, reason := object{"role": "assistant", "content": text}, "stop"
		if reads {
			function := object{"name": "read", "arguments": fmt.Sprintf(`{"filePath": %q}`, path)}
			reason = "tool_calls"
			delta = object{
				"role":       "assistant",
				"tool_calls": []object{{"index": 0, "id": "call_1", "type": "function", "function": function}},
			}
		}
		return []object{
			{"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": []object{{"index": 0, "delta": delta}}},
			{
				"id": "c", "object": "chat.completion.chunk", "model": "m",
				"choices": []object{{"index": 0, "delta": object{}, "finish_reason": reason}},
				"usage":   object{"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
			},
		}
	case "claude":
		block := object{"type": "text", "text": ""}
		delta := object{"type": "text_delta", "text": text}
		reason := "end_turn"
		if reads {
			block, reason = object{"type": "tool_use", "id": "toolu_1", "name": "Read", "input": object{}}, "tool_use"
			delta = object{
				"type":         "input_json_delta",
				"partial_json": fmt.Sprintf(`{"file_path": %q}`, path),
			}
		}
		return []object{
			{"type": "message_start", "message": object{
				"id": "msg_" + time.Now().Format("150405.000000"), "type": "message",
				"role": "assistant", "model": "claude-sonnet-4-5", "content": []any{},
				"usage": object{"input_tokens": 9, "output_tokens": 1},
			}},
			{"type": "content_block_start", "index": 0, "content_block": block},
			{"type": "content_block_delta", "index": 0, "delta": delta},
			{"type": "content_block_stop", "index": 0},
			{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 9}},
			{"type": "message_stop"},
		}
	case "codex":
		item := object{
			"type": "message", "id": "msg_" + time.Now().Format("150405.000000"), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": text, "annotations": []any{}}},
		}
		if reads {
			item = object{
				"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "exec_command",
				"arguments": `{"cmd": "cat notes.txt"}`, "status": "completed",
			}
		}
		return []object{
			{"type": "response.created", "response": object{"id": "resp_1", "status": "in_progress"}},
			{"type": "response.output_item.added", "output_index": 0, "item": item},
			{"type": "response.output_item.done", "output_index": 0, "item": item},
			{
				"type": "response.completed",
				"response": object{
					"id": "resp_1", "status": "completed", "output": []object{item},
					"usage": object{"input_tokens": 9, "output_tokens": 9, "total_tokens": 18},
				},
			},
		}
	}
	part := object{"text": text}
	if reads {
		part = object{"functionCall": object{"name": "read_file", "args": input}}
	}
	return []object{{
		"candidates":    []object{{"index": 0, "content": object{"role": "model", "parts": []object{part}}, "finishReason": "STOP"}},
		"usageMetadata": object{"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18}, "modelVersion": "gemini-2.5-pro",
	}}
}

// seats is a folder with a repository and the settings of the agents.
type seats struct {
	model *seatModel
	home  string
	env   []string
}

// newSeats makes such a folder, and changes to it. The documents and the notes disagree.
func newSeats(t *testing.T) *seats {
	t.Helper()
	if os.Getenv("DEBATE_AGENTS") != "1" {
		t.Skip("no agents: run make proofs ONLY=agents")
	}
	bin, err := filepath.Abs(os.Getenv("DEBATE_AGENTS_BIN"))
	require.NoError(t, err)
	_, err = binary()
	require.NoError(t, err)
	m := newSeatModel(t)
	folder(t,
		"repository/limits.md", "# Limits\n\nSince May, the limit of requests is 17 for each user and hour.\n",
		"repository/notes.txt", "Notes of March: the limit was 40.\n",
		"c.json", `{"providers": {
			"agent/claude": {"kind": "agent/claude", "env": ["ANTHROPIC_API_KEY"]},
			"agent/codex": {"kind": "agent/codex"},
			"agent/gemini": {"kind": "agent/gemini", "env": ["GEMINI_API_KEY"]},
			"agent/opencode": {"kind": "agent/opencode"}}}`,
		"home/.codex/config.toml", fmt.Sprintf("model = \"m\"\nmodel_provider = \"fake\"\n[model_providers.fake]\nname = \"fake\"\nbase_url = %q\nenv_key = \"FAKE\"\nwire_api = \"responses\"\n", m.URL+"/v1"),
		"home/.gemini/settings.json", `{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}}, "privacy": {"usageStatisticsEnabled": false}, "general": {"disableAutoUpdate": true}}`,
		"home/.config/opencode/opencode.json", fmt.Sprintf(`{"model": "fake/m", "small_model": "fake/m", "provider": {"fake": {
			"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": %q, "apiKey": "x"}, "models": {"m": {"tool_call": true}}}}}`,
			m.URL+"/v1"),
	)
	dir, err := os.Getwd()
	require.NoError(t, err)
	s := &seats{model: m, home: filepath.Join(dir, "home")}
	s.env = []string{
		"HOME=" + s.home, "TMPDIR=" + s.home, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "TERM=dumb", "NO_COLOR=1",
		"ANTHROPIC_BASE_URL=" + m.URL, "ANTHROPIC_API_KEY=x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
		"GOOGLE_GEMINI_BASE_URL=" + m.URL, "GEMINI_API_KEY=x", "FAKE=x", "DEBATE_STORE=d.db",
		// OpenCode asks for lists, plugins and updates on the way.
		"OPENCODE_PURE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"npm_config_offline=true",
	}
	return s
}

// command returns the command with the agents of the folder.
func (s *seats) command(t *testing.T, out io.Writer, args ...string) *exec.Cmd {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), path, args...)
	c.Env = s.env
	c.Stdout = out
	c.Stderr = out
	return c
}

// processes returns the processes that have the home folder of the agents in their environment. Those that have ended and wait for
// their parent have none.
func (s *seats) processes(t *testing.T) (list []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, path := range all {
		environ, _ := os.ReadFile(path) // it may have ended
		if bytes.Contains(environ, []byte("HOME="+s.home+"\x00")) {
			said, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			list = append(list, strings.ReplaceAll(string(said), "\x00", " "))
		}
	}
	return list
}

// requireNoProcess requires all processes of the agents to end.
func (s *seats) requireNoProcess(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return s.processes(t) == nil }, 20*time.Second, 100*time.Millisecond, "%q", s.processes(t))
}

// hashOfFolder returns a hash of the names and the contents of all files in a folder.
func hashOfFolder(t *testing.T, dir string) string {
	t.Helper()
	all := sha256.New()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		fmt.Fprintln(all, path, e.Type())
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		_, _ = all.Write(text)
		return err
	}))
	return fmt.Sprintf("%x", all.Sum(nil))
}

// debateArgs returns the arguments of a debate about the repository.
func debateArgs(one, other, judge string) []string {
	return []string{
		"--config", "c.json", "--dir", "repository", "--docs", "repository/limits.md", "--rounds", "1", "--plain",
		"--model", one, "--model", other, "--judge-model", judge, "-r", "report.md", "-r", "report.html", "Is the limit 40?",
	}
}

// Each agent debates and judges. The report shows what each has read, and that its quotes are right. Afterwards, no process is left
// and no file is changed.
func TestAgentsTakeSeats(t *testing.T) {
	for _, names := range [][]string{
		{"agent/claude", "agent/codex", "agent/gemini"},
		{"agent/codex", "agent/gemini", "agent/claude"},
		{"agent/gemini", "agent/claude", "agent/codex"},
		{"agent/opencode", "agent/codex", "agent/opencode"},
	} {
		t.Run(strings.Join(names, " "), func(t *testing.T) {
			s := newSeats(t)
			if names[0] == "agent/opencode" && !fileExists(filepath.Join(os.Getenv("DEBATE_AGENTS_BIN"), "opencode")) {
				t.Skip("npm has no OpenCode for this machine")
			}
			before := hashOfFolder(t, "repository")
			var said bytes.Buffer
			err := s.command(t, &said, debateArgs(names[0], names[1], names[2])...).Run()
			require.NoError(t, err, said.String())
			require.Equal(t, before, hashOfFolder(t, "repository"))
			s.requireNoProcess(t)
			require.Contains(t, said.String(), "completed in round 1")
			require.NotContains(t, said.String(), "defaulted")
			text, err := os.ReadFile("report.md")
			require.NoError(t, err)
			require.Equal(t, 2, strings.Count(string(text), "Verified: “the limit of requests is 17 for each user”"), "%s", text)
			for _, speaker := range []string{"Ada", "Bo"} {
				require.Regexp(t, speaker+": (Read notes.txt|Used a tool .*notes.txt)", said.String())
			}
		})
	}
}

// After a kill in the middle of a turn, the agents have ended too, and the debate goes on without a loss.
func TestAgentsSurviveKills(t *testing.T) {
	s := newSeats(t)
	s.model.hold = make(chan struct{})
	var release sync.Once
	free := func() { release.Do(func() { close(s.model.hold) }) }
	defer free()
	var said bytes.Buffer
	c := s.command(t, &said, debateArgs("agent/claude", "agent/codex", "agent/gemini")...)
	require.NoError(t, c.Start())
	select {
	case <-s.model.asks:
	case <-time.After(5 * time.Minute):
		require.Fail(t, "the judge is not asked")
	}
	require.NotEmpty(t, s.processes(t))
	require.NoError(t, c.Process.Kill())
	_ = c.Wait() // it was killed
	s.requireNoProcess(t)
	free()
	id := saved(t, said.String())
	var resumed, shown bytes.Buffer
	require.NoError(t, s.command(t, &resumed, "resume", id, "--config", "c.json", "--dir", "repository", "--plain").Run(), &resumed)
	s.requireNoProcess(t)
	show := s.command(t, &shown, "show", id, "--json")
	show.Stderr = nil // it has warnings
	require.NoError(t, show.Run())
	var r report.Report
	require.NoError(t, json.Unmarshal(shown.Bytes(), &r))
	require.Len(t, r.Result.Turns, 4)
	require.Equal(t, fsm.Completed, r.Result.State)
}
