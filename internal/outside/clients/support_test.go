// Package clients runs clients that others wrote against the doors of the library: packages from npm in Node, and
// programs in Go.
//
// The tests run with make proofs ONLY=clients, which installs the packages of package.json into the cache folder. Without
// DEBATE_CLIENTS they are skipped.
//
// To add a client from npm:
//
//  1. Add its exact version to package.json, and run npm install --package-lock-only (see .ci/proofs.mk).
//  2. Write NAME.mjs. It uses node:test and node:assert, and reads addresses from the environment. It imports packages by
//     name, and may import other scripts of this folder.
//  3. Write a test in Go that starts the door on a free port of 127.0.0.1 and calls runScript(t, "NAME.mjs", "NAME=value", ...).
//     newSite starts an engine with the presets fast, slow, fail and human, behind the handler that you give it.
//
// A script is copied into the folder of the packages, because Node looks for them in the folders above a script.
package clients

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// clientsVar names the variable with the folder of the packages from npm, which make proofs ONLY=clients sets.
const clientsVar = "DEBATE_CLIENTS"

// needClients skips a test if make proofs ONLY=clients did not start it, and returns the folder of the packages.
func needClients(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(clientsVar)
	if dir == "" {
		t.Skip("no clients: run make proofs ONLY=clients")
	}
	return dir
}

// runScript runs a script of this folder in Node, with variables such as "URL=http://127.0.0.1:8080" in its environment.
// The test fails if the script does.
func runScript(t *testing.T, name string, environment ...string) {
	t.Helper()
	dir, err := os.MkdirTemp(needClients(t), "run-") //nolint:usetesting // below the packages, where Node finds them
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	scripts, err := filepath.Glob("*.[mt][jx][st]")
	require.NoError(t, err)
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, script), text, 0o600))
	}
	runProgram(t, dir, environment, "node", "--test-reporter=spec", name)
}

// runProgram runs a program in a folder, and returns what it prints. The test fails if the program does, or takes more than
// five minutes.
func runProgram(t *testing.T, dir string, environment []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), environment...)
	output, err := c.CombinedOutput()
	require.NoError(t, err, "%s", output)
	t.Logf("%s", output)
	return string(output)
}

// startExample builds and runs an example that serves, and returns its address.
func startExample(t *testing.T, name string, args ...string) string {
	t.Helper()
	needClients(t)
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_HOST"} {
		t.Setenv(name, "") // the example uses the offline demo model
	}
	program := filepath.Join(t.TempDir(), name)
	runProgram(t, ".", nil, "go", "build", "-o", program, "github.com/elenchus-go/debate/examples/"+name)
	c := exec.CommandContext(t.Context(), program, append([]string{"-listen", "127.0.0.1:0"}, args...)...)
	stderr, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Wait() }) // the end of the context has killed it
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			go func() { // whatever else it says
				for lines.Scan() {
				}
			}()
			return address
		}
	}
	require.Fail(t, "the example does not listen")
	return ""
}

// A site is a door on a free port.
type site struct {
	*httptest.Server
	engine *debate.Engine
}

// newSite starts a door: the handler that open returns for an engine and the presets.
func newSite(t *testing.T, open func(*debate.Engine, map[string]debate.Config) http.Handler) *site {
	t.Helper()
	needClients(t)
	engine, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{
		"fast": offline.Model(false),
		"slow": delayed{offline.Model(false), 700 * time.Millisecond},
		"fail": &scripted.Provider{Func: func(providers.Request) scripted.Reply {
			return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("the key is refused")}}
		}},
	}})
	require.NoError(t, err)
	s := &site{httptest.NewServer(open(engine, presets())), engine}
	t.Cleanup(func() {
		debatetest.Kill(engine)
		s.Server.CloseClientConnections()
		s.Server.Close()
	})
	return s
}

// presets returns debates of seven calls: of models that answer at once, after 0.7 s each, and never; and one in which a
// person speaks for Bo.
func presets() map[string]debate.Config {
	list := map[string]debate.Config{}
	for _, model := range []string{"fast", "slow", "fail", "human"} {
		c := debate.Config{
			Protocol: panel.Protocol{Format: "round-limited"}, Limits: debate.Limits{MaxRounds: 2},
			Participants: []debate.Participant{{Name: "Ada", Side: "for", Provider: model}, {Name: "Bo", Side: "against", Provider: model}},
			Judges:       []debate.Participant{{Name: "Judge", Provider: model}},
		}
		if model == "human" {
			c.Participants[0].Provider, c.Judges[0].Provider = "fast", "fast"
			c.Participants[1] = debate.Participant{Name: "Bo", Side: "against", Human: true}
		}
		list[model] = c
	}
	return list
}

// delayed waits before each call.
type delayed struct {
	providers.Provider
	wait time.Duration
}

func (d delayed) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	select {
	case <-time.After(d.wait):
		return d.Provider.Generate(ctx, r)
	case <-ctx.Done():
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
}
