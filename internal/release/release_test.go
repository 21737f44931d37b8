package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestModulesCanBeReleased(t *testing.T) {
	_, missing := exec.LookPath("git")
	if _, err := os.Stat("../../.git"); missing != nil || err != nil {
		t.Skip("needs Git to list files")
	}
	t.Chdir("../..")
	all, err := modules(t.Context())
	require.NoError(t, err)
	require.Equal(t, root, all[0].path)
	require.NotContains(t, all[0].files, "store/sqlite/go.mod")
	require.NotContains(t, all[0].files, "internal/outside/go.mod")
	updates, err := os.ReadFile(".github/dependabot.yml")
	require.NoError(t, err)
	for _, m := range all {
		require.Contains(t, string(updates), "      - /"+strings.TrimPrefix(m.dir, ".")+"\n", "Dependabot's configuration lacks this module")
		mod, err := m.released(t.Context(), "v1.2.3")
		require.NoError(t, err)
		require.NotContains(t, string(mod), " v0.0.0\n")
		if m.path == command {
			require.Contains(t, string(mod), root+" v1.2.3\n")
		}
	}
}

// make release-check builds the copied examples; this checks that none is left out.
func TestExamplesAreCopied(t *testing.T) {
	_, missing := exec.LookPath("git")
	if _, err := os.Stat("../../.git"); missing != nil || err != nil {
		t.Skip("needs Git to list files")
	}
	t.Chdir("../..")
	all, err := modules(t.Context())
	require.NoError(t, err)
	var names []string
	for _, m := range all {
		to := t.TempDir()
		copied, err := m.copyExamples(to)
		require.NoError(t, err)
		names = append(names, copied...)
		for _, name := range copied {
			programs, err := filepath.Glob(filepath.Join(to, name, "*.go"))
			require.NoError(t, err)
			require.NotEmpty(t, programs, name)
		}
	}
	about, err := os.ReadFile("examples/README.md")
	require.NoError(t, err)
	for _, row := range regexp.MustCompile(`(?m)^\| \[([a-z]+)\]`).FindAllStringSubmatch(string(about), -1) {
		require.Contains(t, names, row[1])
	}
	require.Contains(t, names, "console", "examples share it")
}

func TestTheFirstProgramOfAText(t *testing.T) {
	text, err := program("# Title\n\n```go\npackage main\n\nfunc main() {}\n```\n\n```go\npackage other\n```\n")
	require.NoError(t, err)
	require.Equal(t, "package main\n\nfunc main() {}\n", text)
	for _, text := range []string{"", "```go\npackage main\n", "```go\nx := 1\n```\n"} {
		_, err := program(text)
		require.Error(t, err)
	}
}

func TestArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"publish"}, {"require"}, {"check", "v1.0.0", "v2.0.0"}} {
		require.ErrorContains(t, run(t.Context(), args), "usage: release require VERSION")
	}
}
