//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/acp"
)

// A turnCost adds up the time that turns of an agent take.
type turnCost struct {
	n     int
	least time.Duration // the shortest turn, because other programs of the machine only make turns longer
	agent time.Duration // CPU time of the agent's processes
	own   time.Duration // CPU time of this process, which has the model too
}

// add adds a turn.
func (c *turnCost) add(took, agent, own time.Duration) {
	if c.n == 0 || took < c.least {
		c.least = took
	}
	c.n++
	c.agent += agent
	c.own += own
}

// each returns the CPU time of a turn.
func (c *turnCost) each() time.Duration { return (c.agent + c.own) / time.Duration(c.n) }

func inMilliseconds(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// A measuredAgent takes part in the measurement of overhead.
type measuredAgent struct {
	name    string
	config  func() acp.Config
	command []string // takes one prompt, without the protocol
}

// A turn through the provider costs at most 50 ms and 5 % of CPU time more than the agent's own command, which begins anew for each
// prompt, and this process uses at most 5 % of that command's CPU time. Beside the shortest possible client of the protocol, which keeps
// its process too, the provider adds at most 100 ms. On a busy machine, more turns are taken, because it takes longer until one is not
// disturbed.
func TestAgentsHaveLittleOverhead(t *testing.T) {
	const (
		fewest = 5
		most   = 25
		added  = 50 * time.Millisecond  // beside the agent's own command
		waited = 100 * time.Millisecond // beside the bare client
	)
	for _, m := range []measuredAgent{
		{"claude", acp.Claude, []string{"claude", "-p", "Hello.", "--output-format", "json"}},
		{"codex", acp.Codex, []string{"codex", "exec", "--json", "--skip-git-repo-check", "-s", "read-only", "Hello."}},
		{"gemini", acp.Gemini, []string{"gemini", "-p", "Hello.", "--approval-mode", "plan", "-o", "json"}},
	} {
		t.Run(m.name, func(t *testing.T) {
			var alone, bare, provider turnCost
			service := newModelService(t, false)
			home, env := agentHome(t, service, nil)
			ask := m.bareClient(t, service)
			generate := m.provider(t, service)
			ask(&turnCost{}) // the first turn starts the process
			generate(&turnCost{})
			isFast := func() bool { return provider.least < min(alone.least+added, bare.least+waited) }
			for n := 0; n < fewest || n < most && !isFast(); n++ {
				if n < 2 {
					m.runAlone(t, home, env, &alone)
				}
				ask(&bare)
				generate(&provider)
			}
			t.Logf("a turn takes at least: own command %v, bare client %v, provider %v",
				inMilliseconds(alone.least), inMilliseconds(bare.least), inMilliseconds(provider.least))
			t.Logf("CPU time of a turn: own command %v, bare client %v, provider %v, of which this process %v",
				inMilliseconds(alone.each()), inMilliseconds(bare.each()), inMilliseconds(provider.each()),
				inMilliseconds(provider.own/time.Duration(provider.n)))
			require.True(t, isFast())
			require.Less(t, float64(provider.each()), 1.05*float64(alone.each()))
			require.Less(t, float64(provider.own)/float64(provider.n), 0.05*float64(alone.each()))
		})
	}
}

// runAlone runs the agent's own command with one prompt.
func (m *measuredAgent) runAlone(t *testing.T, home string, env []string, cost *turnCost) {
	t.Helper()
	c := exec.CommandContext(t.Context(), agentProgram(t, m.command[0]), m.command[1:]...)
	c.Dir = home
	c.Env = env
	c.WaitDelay = 5 * time.Second
	began := time.Now()
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "All done.")
	cost.add(time.Since(began), c.ProcessState.UserTime()+c.ProcessState.SystemTime(), 0)
}

// cpuOf returns the CPU time of the processes with a home folder, with that of their children that have ended.
func cpuOf(t *testing.T, home string) (sum time.Duration) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, path := range all {
		environ, _ := os.ReadFile(path) // it may have ended
		if !bytes.Contains(environ, []byte("HOME="+home+"\x00")) {
			continue
		}
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "stat"))
		_, after, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(after)
		for i := 11; i < 15 && i < len(fields); i++ { // utime, stime, cutime and cstime, in hundredths of a second
			ticks, err := strconv.Atoi(fields[i])
			require.NoError(t, err)
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return sum
}

// cpuOfThis returns the CPU time of this process.
func cpuOfThis(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// measure adds what a turn costs.
func measure(t *testing.T, home string, cost *turnCost, turn func()) {
	t.Helper()
	agent := cpuOf(t, home)
	own := cpuOfThis(t)
	began := time.Now()
	turn()
	took := time.Since(began)
	own = cpuOfThis(t) - own
	cost.add(took, cpuOf(t, home)-agent, own)
}

// provider returns a function that has the provider take a turn.
func (m *measuredAgent) provider(t *testing.T, service *modelService) func(*turnCost) {
	t.Helper()
	home, env := agentHome(t, service, nil)
	c := m.config()
	c.Command[0] = agentProgram(t, c.Command[0])
	c.Dir, c.Env = home, append(env, c.Env...)
	agent, err := acp.New(c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = agent.Close() })
	request := providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Hello."}}}
	return func(cost *turnCost) {
		t.Helper()
		measure(t, home, cost, func() {
			reply, err := agent.Generate(t.Context(), request)
			require.NoError(t, err)
			require.Equal(t, "All done.", reply.Text)
		})
	}
}

// bareClient returns a function that takes a turn in the same way, and does nothing besides: it writes the requests for a session, its
// mode and the reply in lines, and reads lines until they are answered.
func (m *measuredAgent) bareClient(t *testing.T, service *modelService) func(*turnCost) {
	t.Helper()
	home, env := agentHome(t, service, nil)
	config := m.config()
	c := exec.CommandContext(t.Context(), agentProgram(t, config.Command[0]), config.Command[1:]...)
	c.Dir = home
	c.Env = append(env, config.Env...)
	c.WaitDelay = 5 * time.Second
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	lines := bufio.NewReader(out)
	call := func(method, params string) json.RawMessage {
		t.Helper()
		return callBare(t, in, lines, method, params)
	}
	call("initialize", `{"protocolVersion": 1, "clientCapabilities": {"fs": {}, "terminal": false}}`)
	return func(cost *turnCost) {
		t.Helper()
		measure(t, home, cost, func() {
			opened := call("session/new", fmt.Sprintf(`{"cwd": %q, "mcpServers": []}`, home))
			id := textField(string(opened), "sessionId")
			if textField(textField(string(opened), "modes"), "currentModeId") != config.Mode {
				call("session/set_mode", fmt.Sprintf(`{"sessionId": %q, "modeId": %q}`, id, config.Mode))
			}
			call("session/prompt", fmt.Sprintf(`{"sessionId": %q, "prompt": [{"type": "text", "text": "Hello."}]}`, id))
		})
	}
}

// callBare calls a method, and returns the result.
func callBare(t *testing.T, in io.Writer, lines *bufio.Reader, method, params string) json.RawMessage {
	t.Helper()
	_, err := fmt.Fprintf(in, `{"jsonrpc": "2.0", "id": 1, "method": %q, "params": %s}`+"\n", method, params)
	require.NoError(t, err)
	for {
		line, err := lines.ReadBytes('\n')
		require.NoError(t, err)
		var answer struct {
			ID     int             `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		require.NoError(t, json.Unmarshal(line, &answer))
		if answer.ID == 1 && answer.Method == "" {
			require.Empty(t, answer.Error)
			return answer.Result
		}
	}
}
