package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/acp"
	"github.com/elenchus-go/debate/providers/providertest"
)

// The test's own program is the agent if its first argument says so. The second one says how it behaves.
const asAgent = "be-an-agent"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == asAgent {
		a := &agent{behavior: os.Args[2], in: bufio.NewScanner(os.Stdin)}
		a.in.Buffer(nil, 64<<20)
		a.serve()
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == asProgram {
		useAgent()
	}
	os.Exit(m.Run())
}

// asProgram makes the test's own program one that uses an agent until it is killed.
const asProgram = "use-an-agent"

// useAgent prints the ID of a process that the agent has left behind, and waits.
func useAgent() {
	p, err := acp.New(acp.Config{Command: []string{os.Args[0], asAgent, "leaves a child"}})
	if err == nil {
		var res providers.Response
		res, err = p.Generate(context.Background(), providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Why?"}}})
		fmt.Println(res.Text)
	}
	if err != nil {
		fmt.Println(err)
	}
	select {}
}

// behaving returns the configuration of an agent that behaves in some way.
func behaving(t *testing.T, behavior string) acp.Config {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	return acp.Config{
		Command: []string{program, asAgent, behavior}, Dir: t.TempDir(), Timeout: 20 * time.Second,
		Install: "install it", SignIn: "sign in",
	}
}

// open returns a provider that ends with the test.
func open(t *testing.T, c acp.Config) *acp.Provider {
	t.Helper()
	p, err := acp.New(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// agent is an agent of the tests. It speaks the protocol by hand, because it also breaks it.
type agent struct {
	behavior string
	in       *bufio.Scanner
	sessions int
	asked    int
	prompt   int    // the id of the prompt that is open
	current  string // the session of the prompt

	mu  sync.Mutex
	set []string // what was set in the session
}

type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
}

func (a *agent) send(v map[string]any) {
	v["jsonrpc"] = "2.0"
	line, _ := json.Marshal(v)
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = os.Stdout.Write(append(line, '\n'))
}

func (a *agent) answer(id int, result any) { a.send(map[string]any{"id": id, "result": result}) }

func (a *agent) fail(id, code int, text string, data any) {
	a.send(map[string]any{"id": id, "error": map[string]any{"code": code, "message": text, "data": data}})
}

func (a *agent) update(session string, update map[string]any) {
	a.send(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": session, "update": update}})
}

// say sends a piece of a message, with a number unless it is empty.
func (a *agent) say(session, number, text string) {
	u := map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": text}}
	if number != "" {
		u["messageId"] = number
	}
	a.update(session, u)
}

func (a *agent) end(id int, reason string) { a.answer(id, map[string]any{"stopReason": reason}) }

// serve answers requests until the input ends.
func (a *agent) serve() {
	switch a.behavior {
	case "exits":
		fmt.Fprintln(os.Stderr, "one line\nthe disk is full")
		os.Exit(3)
	case "no JSON":
		for i := range 100 {
			fmt.Printf("file-%d.txt\n", i)
		}
	case "a greeting":
		fmt.Println("Welcome to the agent!")
	case "no JSON at all":
		fmt.Println("usage: agent [options]")
		os.Exit(2)
	case "100 MB in a line":
		_, _ = os.Stdout.WriteString(`{"method":"session/update","params":"`)
		flood(100, func(megabyte string) { _, _ = os.Stdout.WriteString(megabyte) })
	}
	for a.in.Scan() {
		var m message
		if json.Unmarshal(a.in.Bytes(), &m) != nil || a.behavior == "silent" {
			continue
		}
		a.handle(&m)
	}
}

// flood calls f with megabytes.
func flood(n int, f func(megabyte string)) {
	for i := range n {
		var b strings.Builder
		for at := 0; b.Len() < 1<<20; at++ { // no loop, which would end the reply
			fmt.Fprintf(&b, "%d-%d ", i, at*at)
		}
		f(b.String())
	}
}

func (a *agent) handle(m *message) {
	var to struct {
		Session string `json:"sessionId"`
		Mode    string `json:"modeId"`
		Option  string `json:"configId"`
		Value   string `json:"value"`
		Prompt  []struct{ Text string }
	}
	_ = json.Unmarshal(m.Params, &to)
	switch m.Method {
	case "initialize":
		a.initialize(*m.ID)
	case "session/new":
		if a.behavior == "signed out" {
			a.fail(*m.ID, -32000, "Authentication required", nil)
			return
		}
		a.sessions++
		a.set = nil
		a.say(fmt.Sprint("s", a.sessions), "", "Hello!")
		a.answer(*m.ID, map[string]any{"sessionId": fmt.Sprint("s", a.sessions), "modes": modes, "configOptions": options("small")})
	case "session/set_mode":
		a.set = append(a.set, to.Mode)
		a.say(to.Session, "", "[MODE_UPDATE] plan") // no part of a reply
		a.answer(*m.ID, map[string]any{})
	case "session/set_config_option":
		if to.Value == "unknown" {
			a.fail(*m.ID, -32602, "Invalid params", map[string]any{"details": "no such model"})
			return
		}
		a.set = append(a.set, to.Option+"="+to.Value)
		a.answer(*m.ID, map[string]any{"configOptions": options("large")})
	case "session/prompt":
		a.prompt, a.current = *m.ID, to.Session
		a.turn(*m.ID, to.Session, to.Prompt[0].Text)
	case "session/cancel":
		if a.behavior != "deaf" {
			a.end(a.prompt, "cancelled")
		}
	case "session/close", "session/delete":
		a.answer(*m.ID, map[string]any{})
	case "": // an answer
		a.answered(m.Result)
	}
}

// modes are those of the agent.
var modes = map[string]any{
	"currentModeId": "default", "availableModes": []map[string]any{{"id": "default"}, {"id": "plan"}},
}

// options returns the options of a session. A large model has more efforts, and there is an option of a type that nobody knows.
func options(model string) []map[string]any {
	efforts := []map[string]any{{"value": "default"}, {"value": "low"}}
	if model == "large" {
		efforts = append(efforts, map[string]any{"value": "xhigh"})
	}
	return []map[string]any{
		{"id": "m", "category": "model", "type": "select", "currentValue": model, "options": []map[string]any{
			{"group": "g", "options": []map[string]any{{"value": "small"}, {"value": "large"}}},
		}},
		{"id": "e", "category": "thought_level", "type": "select", "currentValue": "default", "options": efforts},
		{"id": "x", "category": "x", "type": "slider", "currentValue": 3},
	}
}

func (a *agent) initialize(id int) {
	version := 1
	if a.behavior == "version 7" {
		version = 7
	}
	if a.behavior == "exits later" {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(1)
	}
	a.answer(id, map[string]any{"protocolVersion": version, "agentCapabilities": map[string]any{
		"sessionCapabilities": map[string]any{"close": map[string]any{}, "delete": map[string]any{}},
	}})
}

// turn answers a prompt.
func (a *agent) turn(id int, session, prompt string) {
	switch a.behavior {
	case "plays":
		a.play(id, session)
		return
	case "deaf", "waits":
		a.say(session, "1", strings.Repeat("I am thinking about it. ", 10))
		return
	case "exits in a turn":
		a.say(session, "1", "So.")
		os.Exit(9)
	case "exits after many pieces":
		for i := range 400 {
			a.say(session, "1", fmt.Sprint(i, " "))
		}
		os.Exit(9)
	case "asks for ever":
		a.ask()
		return
	case "asks once":
		a.ask()
		return
	case "100 MB":
		flood(100, func(megabyte string) { a.say(session, "1", megabyte) })
	case "100 MB of tools":
		flood(100, func(megabyte string) {
			a.update(session, map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": "1", "rawOutput": megabyte})
		})
	case "many pieces":
		for i := range 20_000 {
			a.say(session, "1", fmt.Sprintf("%d ", i*i))
		}
	case "limited":
		a.fail(id, -32603, "Internal error",
			map[string]any{"errorKind": "rate_limit", "details": "You have hit your limit. Try again in 90 seconds."})
		return
	case "overloaded":
		a.say(session, "1", "API Error: 529 Overloaded")
		a.fail(id, -32603, "Internal error: API Error: 529 Overloaded", map[string]any{"errorKind": "overloaded"})
		return
	case "refuses":
		a.end(id, "refusal")
		return
	case "an error as a message":
		a.update(session, map[string]any{
			"sessionUpdate": "session_info_update",
			"_meta":         map[string]any{"codex": map[string]any{"threadStatus": map[string]any{"type": "systemError"}}},
		})
		a.say(session, "", "exceeded retry limit, last status: 429 Too Many Requests\n\n")
		a.end(id, "end_turn")
		return
	case "no answer":
		a.send(map[string]any{"id": id, "result": "done"})
		return
	case "leaves a child":
		child := exec.Command("sleep", "1000") //nolint:noctx // it outlives the agent
		_ = child.Start()
		a.say(session, "1", fmt.Sprint(child.Process.Pid))
	default:
		a.speak(session, prompt)
	}
	a.end(id, "end_turn")
}

// speak says what the agent was asked to say.
func (a *agent) speak(session, prompt string) {
	switch a.behavior {
	case "environment":
		a.say(session, "1", strings.Join(os.Environ(), "\n"))
	case "settings":
		a.say(session, "1", strings.Join(a.set, " "))
	case "prompt":
		a.say(session, "1", fmt.Sprintf("%d %s: %s", os.Getpid(), session, prompt))
	case "process":
		a.say(session, "1", fmt.Sprint(os.Getpid()))
	case "warns":
		a.say(session, "", "Warning: the model is unknown.\n\n")
		a.say(session, "1", "So.")
	case "begins with a warning":
		a.say(session, "", "Warning")
		a.say(session, "", ": do not do this.")
	case "reads":
		a.read(session)
	default:
		a.say(session, "1", "So.")
	}
}

// read looks at files, and says something before and afterwards.
func (a *agent) read(session string) {
	dir, _ := os.Getwd()
	a.update(session, map[string]any{
		"sessionUpdate": "agent_thought_chunk",
		"content":       map[string]any{"type": "text", "text": "Where is it?"},
	})
	a.say(session, "1", "I look at the file.")
	a.update(session, map[string]any{
		"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Read File", "kind": "read",
		"status": "pending",
	})
	a.update(session, map[string]any{
		"sessionUpdate": "tool_call_update", "toolCallId": "t1", "title": "Read\nlimits.go", "status": "completed",
		"locations": []map[string]any{{"path": dir + "/pkg/limits.go", "line": 12}},
	})
	a.update(session, map[string]any{"sessionUpdate": "tool_call", "toolCallId": "t2", "title": "Thinking", "kind": "think"})
	a.update(session, map[string]any{
		"sessionUpdate": "tool_call", "toolCallId": "t3", "title": "Write notes", "kind": "edit", "status": "failed",
		"locations": []map[string]any{{"path": "/etc/notes"}},
	})
	a.update(session, map[string]any{
		"sessionUpdate": "usage_update", "used": 5, "size": 10,
		"cost": map[string]any{"amount": 0.25, "currency": "USD"},
	})
	a.say(session, "2", "The limit is 40.")
}

// ask asks for permission to change a file.
func (a *agent) ask() {
	a.asked++
	a.send(map[string]any{"id": 1000 + a.asked, "method": "session/request_permission", "params": map[string]any{
		"sessionId": a.current,
		"toolCall":  map[string]any{"toolCallId": "t1", "title": "Write limits.go", "kind": "edit"},
		"options":   []map[string]any{{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}},
	}})
}

// answered takes the answer to a request for permission.
func (a *agent) answered(result json.RawMessage) {
	if a.behavior == "asks for ever" {
		a.ask()
		return
	}
	a.say(a.current, "1", "The answer is "+string(result))
	a.end(a.prompt, "end_turn")
}

// play plays a reply of the contract tests, which it fetches from the test.
func (a *agent) play(id int, session string) {
	conn, err := net.Dial("tcp", os.Getenv("REPLIES")) //nolint:noctx // it is on this machine
	if err != nil {
		os.Exit(1)
	}
	var r played
	_ = json.NewDecoder(conn).Decode(&r)
	_ = conn.Close()
	if r.Reasoning != "" {
		a.update(session, map[string]any{
			"sessionUpdate": "agent_thought_chunk",
			"content":       map[string]any{"type": "text", "text": r.Reasoning},
		})
	}
	for _, text := range r.Chunks {
		a.say(session, "1", text)
	}
	switch {
	case r.Hang:
	case r.Broken:
		os.Exit(1)
	case r.Error != "":
		a.fail(id, -32603, r.Error, nil)
	default:
		a.answer(id, r.End)
	}
}

// played is a reply that the agent plays.
type played struct {
	Chunks    []string
	Reasoning string
	Hang      bool
	Broken    bool // the process ends
	Error     string
	End       map[string]any
}

// serveReplies gives the agents of a test their replies, one for each prompt. It returns its address.
func serveReplies(t *testing.T, replies []providertest.Reply) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // of a test
	require.NoError(t, err)
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	go func() {
		defer close(done)
		for _, r := range replies {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if r.Arrived != nil {
				r.Arrived()
			}
			_ = json.NewEncoder(conn).Encode(toPlay(r))
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}
