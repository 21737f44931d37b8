package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"github.com/stretchr/testify/require"
)

// workflow returns the workflow in docs/production.md.
func workflow(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(home, "..", "..", "docs", "production.md"))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(page), "```yaml\nname: Review\n")
	require.True(t, found)
	text, _, _ := strings.Cut(after, "```")
	return "name: Review\n" + text
}

// The workflow is one that actionlint accepts, and its steps do what the page says.
func TestTheWorkflowOfTheDocuments(t *testing.T) {
	text := workflow(t)
	require.LessOrEqual(t, strings.Count(text, "\n"), 25)
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	require.NoError(t, err)
	problems, err := linter.Lint("review.yml", []byte(text), nil)
	require.NoError(t, err)
	require.Empty(t, problems)
	parsed, wrong := actionlint.Parse([]byte(text))
	require.Empty(t, wrong)

	for name, tt := range map[string]struct {
		decision string
		code     int
	}{"approved": {approval, 0}, "refused": {refusal, exitAnother}, "undecided": {"{}", exitUndecided}} {
		t.Run(name, func(t *testing.T) {
			repository(t, "cmd/main.go", "package main\n\nvar limit = 10\n", "README.md", "A program.\n")
			runGit(t, "update-ref", "refs/remotes/origin/main", "HEAD")
			require.NoError(t, os.WriteFile("cmd/main.go", []byte("package main\n\nvar limit = 0 // no limit at all\n"), 0o600))
			runGit(t, "commit", "-q", "-am", "no limit")
			env, prompts := listening(t, decider(tt.decision))
			summary := filepath.Join(t.TempDir(), "summary.md")
			code := 0
			for _, step := range parsed.Jobs["review"].Steps {
				run, ok := step.Exec.(*actionlint.ExecRun)
				if ok && code == 0 {
					code = runStep(t, run.Run.Value, env, summary)
				}
			}
			require.Equal(t, tt.code, code)
			require.Contains(t, prompts(), "+var limit = 0", "the diff")
			require.Contains(t, prompts(), "document README.md", "the repository")
			written, err := os.ReadFile(summary)
			require.NoError(t, err)
			require.Contains(t, string(written), "Should we merge this change?")
		})
	}
}

// runStep runs a step as the runner does, and returns its exit code. Programs are installed already.
func runStep(t *testing.T, script string, env func(string) string, summary string) int {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	programs := t.TempDir()
	require.NoError(t, os.Symlink(path, filepath.Join(programs, "debate")))
	require.NoError(t, os.WriteFile(filepath.Join(programs, "go"),
		[]byte("#!/bin/sh\ntest \"$1 $2\" = \"install github.com/elenchus-go/debate/cmd/debate@latest\"\n"),
		0o700)) //nolint:gosec // a program
	file := filepath.Join(programs, "step.sh")
	require.NoError(t, os.WriteFile(file, []byte(script), 0o600))
	cmd := exec.CommandContext(t.Context(), "bash", "-e", file)
	cmd.Env = []string{
		"PATH=" + programs + string(os.PathListSeparator) + os.Getenv("PATH"), actionsVariable + "=true", summaryVariable + "=" + summary,
		"GITHUB_BASE_REF=main",
		"HOME=" + programs,
	}
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"} {
		cmd.Env = append(cmd.Env, name+"="+env(name))
	}
	said, err := cmd.CombinedOutput()
	require.NotNil(t, cmd.ProcessState, "%v", err)
	require.Empty(t, runnerCommands(string(said)))
	t.Log(string(said))
	return cmd.ProcessState.ExitCode()
}
