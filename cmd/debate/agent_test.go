package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
)

// The name of an agent has a slash, and its model follows after another one.
func TestAgentsAreChosenByFlags(t *testing.T) {
	file := configFile{providers: map[string]providerConfig{"agent/mine": {Kind: agentKind}}}
	got, err := chosen(t, file, []string{"agent/claude", "agent/codex/gpt-6/x", "agent/mine"}, nil)
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"Ada": "agent/claude", "Bo": "agent/codex/gpt-6/x", "Cy": "agent/mine", "Di": "", "Judge": "agent/claude",
	}, got)
	_, err = chosen(t, file, []string{"agent/other"}, nil)
	require.ErrorContains(t, err, "agent/claude, agent/codex, agent/gemini, agent/opencode")
}

// debateWith runs the command without keys.
func debateWith(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, progress output
	code = run(t.Context(), nil, args, strings.NewReader(""), &out, &progress, environment())
	return code, out.String(), progress.String()
}

// A folder from somebody else cannot run a program: its configuration is read, but its commands count only with --config.
func TestCommandsOfAgentsNeedConfig(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Chdir(t.TempDir())
	ran := filepath.Join(t.TempDir(), "ran")
	text := `{"providers": {"agent/mine": {"kind": "agent", "command": ["/bin/sh", "-c", "echo > ` + ran + `; sleep 1"]}}}`
	require.NoError(t, os.WriteFile(defaultConfigPath, []byte(text), 0o600))
	code, _, stderr := debateWith(t, "--model", "agent/mine", "--plain", "Why?")
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, "use --config FILE")
	require.NoFileExists(t, ran)
	_, _, stderr = debateWith(t, "--config", defaultConfigPath, "--model", "agent/mine", "--plain", "Why?")
	require.FileExists(t, ran)
	require.Contains(t, stderr, "run agent /bin/sh")
}

func TestAgentsThatAreNotInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	code, _, stderr := debateWith(t, "--model", "agent/opencode", "--plain", "Why?")
	require.NotZero(t, code)
	require.Contains(t, stderr, "run agent opencode: it is not installed: run npm install -g opencode-ai")
}

// Without a key, the command names the agents that are installed. With one, it says once that agents do not get it.
func TestAgentsAreNamed(t *testing.T) {
	programs := t.TempDir()
	t.Setenv("PATH", programs)
	for _, name := range []string{"codex-acp", "opencode"} {
		require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\nexit 7\n"), 0o700)) //nolint:gosec // a program
	}
	_, _, stderr := debateWith(t, "--rounds", "1", "--plain", "Why?")
	require.Contains(t, stderr, "These agents are installed, and need no key: --model agent/codex, --model agent/opencode")
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	_, _, stderr = debateWith(t, "--model", "agent/codex", "--model", "agent/opencode", "--plain", "Why?")
	require.Contains(t, stderr, "Agents get no key from the environment (OPENAI_API_KEY)")
	require.NotContains(t, stderr, "sk-secret")
}

func TestAHintForAgentsNamesTheirSignIn(t *testing.T) {
	f := &debate.Failure{Provider: "agent/codex", Kind: providers.Authentication}
	require.Equal(t, "agent/codex is not signed in, or its account is refused: run codex login", hint(f))
	f.Provider = "agent/mine"
	require.Contains(t, hint(f), "sign in with its own program")
}
