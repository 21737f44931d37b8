package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"
)

// startTime limits the time in which a program must begin to speak the protocol.
const startTime = 2 * time.Minute

// process is an agent's process. It has any number of sessions at the same time.
type process struct {
	config *Config
	dir    string
	cmd    *exec.Cmd
	hold   *os.File // whose end kills the process group, also if this program crashes
	stdout *os.File
	stdin  *os.File
	lines  *lines
	errors tail
	conn   *sdk.Connection
	exited chan struct{} // closed when the process has ended

	closes  bool // the agent can close sessions
	deletes bool // the agent can delete sessions

	mu       sync.Mutex
	turns    map[string]*turn // by session
	numbered bool             // the agent numbers its messages
	calls    int              // that use the process
	retired  bool             // no call may begin to use the process
}

// tail keeps the end of what a process writes to its standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps the end of the text.
func (t *tail) Write(b []byte) (int, error) {
	const longest = 2 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if len(t.text) > longest {
		t.text = append([]byte(nil), t.text[len(t.text)-longest:]...)
	}
	return len(b), nil
}

// last returns the last line.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// start starts an agent, and agrees on the version of the protocol.
func start(ctx context.Context, c *Config) (*process, error) {
	path, err := exec.LookPath(c.program())
	if err != nil {
		return nil, c.failure(NotInstalled, errors.New("it is not installed"))
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("find folder of agent: %w", err)
	}
	p := &process{config: c, dir: dir, turns: map[string]*turn{}, numbered: c.Numbered, exited: make(chan struct{})}
	err = p.run(path)
	if err != nil {
		return nil, c.failure(Exited, fmt.Errorf("start process: %w", err))
	}
	p.conn = sdk.NewConnection(p.handle, p.stdin, p.lines)
	p.conn.SetLogger(slog.New(slog.DiscardHandler)) // it would log what the agent writes
	close(p.lines.ready)
	err = p.initialize(ctx)
	if err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// run starts the process.
func (p *process) run(path string) error {
	cmd, hold, err := command(path, p.config.Command[1:])
	if err != nil {
		return err
	}
	defer closeAll(cmd.ExtraFiles)
	all, err := newPipes()
	if err != nil {
		_ = hold.Close()
		return err
	}
	defer closeAll(all.theirs)
	cmd.Stdin = all.theirs[0]
	cmd.Stdout = all.theirs[1]
	cmd.Stderr = all.theirs[2]
	cmd.Dir = p.dir
	cmd.Env = p.config.environment()
	err = cmd.Start()
	if err != nil {
		_ = hold.Close()
		closeAll(all.ours)
		return err
	}
	p.cmd = cmd
	p.hold = hold
	p.stdin = all.ours[0]
	p.stdout = all.ours[1]
	p.lines = newLines(p.stdout)
	stderr := all.ours[2]
	go func() {
		_, _ = io.Copy(&p.errors, stderr) // until the last process of the group has ended
		_ = stderr.Close()
	}()
	go p.wait(stderr)
	return nil
}

// pipes connect standard input, output and error, in this order. Package exec has pipes too, but closes them as soon as the process
// has ended, although the last lines may not have been read.
type pipes struct {
	theirs []*os.File
	ours   []*os.File
}

// newPipes makes the three pipes.
func newPipes() (all pipes, err error) {
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(all.theirs)
			closeAll(all.ours)
			return pipes{}, err
		}
		theirs, ours := w, r
		if i == 0 {
			theirs, ours = r, w
		}
		all.theirs = append(all.theirs, theirs)
		all.ours = append(all.ours, ours)
	}
	return all, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// wait waits for the end of the process, and kills the children that it has left behind.
func (p *process) wait(stderr *os.File) {
	_ = p.cmd.Wait()
	kill(p.cmd)
	_ = p.hold.Close()
	_ = p.stdin.Close()
	time.AfterFunc(time.Second, func() { // a child that has left the group may hold the pipes
		_ = stderr.Close()
		_ = p.stdout.Close()
	})
	close(p.exited)
}

// end ends the process, and waits for its end.
func (p *process) end() {
	kill(p.cmd)
	<-p.exited
	<-p.conn.Done()
}

// call sends a request and returns the answer. Answers have types of this package, which know only what is needed, because agents
// are newer than any list of their fields.
func call[T any](ctx context.Context, p *process, method string, params any) (T, error) {
	answer, err := sdk.SendRequest[T](p.conn, ctx, method, params)
	if err == nil {
		return answer, nil
	}
	if broken := p.broken(); broken != nil {
		return answer, broken
	}
	if ctx.Err() != nil {
		return answer, context.Cause(ctx)
	}
	return answer, p.config.answered(err)
}

// broken returns why the agent cannot answer any more, or nil if it can.
func (p *process) broken() error {
	select {
	case <-p.conn.Done():
	case <-p.exited:
		<-p.conn.Done()
	default:
		return nil
	}
	const grace = time.Second
	select {
	case <-p.exited:
	case <-time.After(grace): // it has closed its output, or the connection has ended
		kill(p.cmd)
		<-p.exited
	}
	p.lines.settle(grace) // a connection reports its end before it has handled all that came
	first, ended := p.lines.ended()
	switch {
	case errors.Is(ended, errLongLine):
		return p.config.failure(Flooding, ended)
	case errors.Is(ended, errStrange), first != "":
		return p.config.failure(NotProtocol, fmt.Errorf("%w: %q", errStrange, first))
	}
	said := ""
	if last := p.errors.last(); last != "" {
		said = ": " + last
	}
	return p.config.failure(Exited, fmt.Errorf("the process ended with %v%s", p.cmd.ProcessState, said))
}

// initialize agrees with the agent on the version of the protocol. It offers neither files nor a terminal.
func (p *process) initialize(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, p.config.failure(Silent, fmt.Errorf("it does not answer for %v", startTime)))
	defer cancel()
	type answer struct {
		Version int `json:"protocolVersion"`
		Agent   struct {
			Sessions struct {
				Close  json.RawMessage `json:"close"`
				Delete json.RawMessage `json:"delete"`
			} `json:"sessionCapabilities"`
		} `json:"agentCapabilities"`
	}
	got, err := call[answer](ctx, p, sdk.AgentMethodInitialize, sdk.InitializeRequest{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		ClientInfo:      &sdk.Implementation{Name: "debate", Version: "1"},
	})
	if err != nil {
		return err
	}
	if got.Version != sdk.ProtocolVersionNumber {
		return p.config.failure(OtherVersion,
			fmt.Errorf("it speaks version %d of the Agent Client Protocol, want %d", got.Version, sdk.ProtocolVersionNumber))
	}
	p.closes = isSet(got.Agent.Sessions.Close)
	p.deletes = isSet(got.Agent.Sessions.Delete)
	return nil
}

// isSet reports whether a capability is there.
func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// handle handles what the agent sends by itself.
func (p *process) handle(_ context.Context, method string, params json.RawMessage) (any, *sdk.RequestError) {
	defer p.lines.handled()
	var to struct {
		Session string `json:"sessionId"`
	}
	_ = json.Unmarshal(params, &to) // a message to no session is ignored
	p.mu.Lock()
	t := p.turns[to.Session]
	p.mu.Unlock()
	switch method {
	case sdk.ClientMethodSessionUpdate:
		if t != nil {
			t.update(params)
		}
		return nil, nil
	case sdk.ClientMethodSessionRequestPermission:
		return p.decide(t, params), nil
	}
	return nil, sdk.NewMethodNotFound(method)
}

// decide answers a request for permission.
func (p *process) decide(t *turn, params json.RawMessage) sdk.RequestPermissionResponse {
	if t == nil {
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}
	}
	return t.decide(params)
}

// tryUse begins a call that uses the process, unless the process has ended or may not be used any more.
func (p *process) tryUse() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.conn.Done():
		return false
	case <-p.exited:
		return false
	default:
	}
	if p.retired {
		return false
	}
	p.calls++
	return true
}

// release ends a call that uses the process. broken says that no further call may begin. The last call ends a process that no
// call may use.
func (p *process) release(broken bool) {
	p.mu.Lock()
	p.calls--
	p.retired = p.retired || broken
	last := p.retired && p.calls == 0
	p.mu.Unlock()
	if last {
		p.end()
	}
}

// follow passes what the agent sends for a session on to a turn, or to nobody if it is nil.
func (p *process) follow(session string, t *turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t == nil {
		delete(p.turns, session)
		return
	}
	p.turns[session] = t
}

// numbers reports whether the agent numbers its messages. seen says that one has had a number.
func (p *process) numbers(seen bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.numbered = p.numbered || seen
	return p.numbered
}
