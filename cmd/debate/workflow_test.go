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

	const file = "cmd/main.go"
	const place = "file=cmd/main.go,line=3,endLine=3,title=no limit::"
	const quote = "+var limit = 0 // no limit at all"
	for name, tt := range map[string]struct {
		claims string
		code   int
		notes  []string // the beginnings of the annotations
	}{
		"approved":  {`{"findings": []}`, 0, nil},
		"a comment": {claim(t, "no limit", "warning", file, 9, quote), 0, []string{"::warning " + place}},
		"refused":   {claim(t, "no limit", "error", file, 3, quote), exitAnother, []string{"::error " + place}},
		"undecided": {`{}`, exitUndecided, nil},
	} {
		t.Run(name, func(t *testing.T) {
			repository(t, file, "package main\n\nvar limit = 10\n", "README.md", "A program.\n")
			runGit(t, "update-ref", "refs/remotes/origin/main", "HEAD")
			require.NoError(t, os.WriteFile(file, []byte("package main\n\nvar limit = 0 // no limit at all\n"), 0o600))
			runGit(t, "commit", "-q", "-am", "no limit")
			r := reviewers{
				claims: map[string]string{"Correctness": tt.claims, "Security": `{"findings": []}`, "Upkeep": `{"findings": []}`},
				stands: func(string) bool { return true },
				rated:  func(string) string { return map[bool]string{true: "error", false: "warning"}[tt.code != 0] },
			}
			if name == "undecided" {
				r.claims = map[string]string{"Correctness": tt.claims, "Security": tt.claims, "Upkeep": tt.claims}
			}
			env := r.serve(t)
			summary := filepath.Join(t.TempDir(), "summary.md")
			code := 0
			var notes []string
			for _, step := range parsed.Jobs["review"].Steps {
				run, ok := step.Exec.(*actionlint.ExecRun)
				if ok && code == 0 {
					var said string
					code, said = runStep(t, run.Run.Value, env, summary)
					notes = append(notes, runnerCommands(said)...)
				}
			}
			require.Equal(t, tt.code, code)
			require.Len(t, notes, len(tt.notes))
			for i := range notes {
				require.True(t, strings.HasPrefix(notes[i], tt.notes[i]), notes[i])
			}
			asked := strings.Join(r.asked["findings"]["Correctness"], "")
			require.Contains(t, asked, "+var limit = 0", "the diff")
			require.Contains(t, asked, "document README.md", "the repository")
			written, err := os.ReadFile(summary)
			require.NoError(t, err)
			require.Contains(t, string(written), "Should we merge this change?")
		})
	}
}

// runStep runs a step as the runner does, and returns its exit code and what it says. Programs are installed already.
func runStep(t *testing.T, script string, env func(string) string, summary string) (code int, output string) {
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
	t.Log(string(said))
	return cmd.ProcessState.ExitCode(), string(said)
}
