package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// completions returns what the command offers for the last argument, without descriptions, and the directive for the shell.
func completions(t *testing.T, args ...string) (list []string, directive string) {
	t.Helper()
	code, stdout, stderr := start(t, environment(), append([]string{"__complete"}, args...)...)
	require.Equal(t, 0, code, stderr)
	for line := range strings.Lines(stdout) {
		value, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if after, ok := strings.CutPrefix(value, ":"); ok {
			return list, after
		}
		if strings.HasPrefix(value, args[len(args)-1]) { // the scripts of the shells do the same
			list = append(list, value)
		}
	}
	t.Fatal("no directive: ", stdout)
	return nil, ""
}

func TestTheShellCompletes(t *testing.T) {
	const noFiles, extensions, folders = "4", "8", "16"
	folder(t, "c.json", `{"store": "kept/d.db"}`)
	_, _, stderr := start(t, environment(), held...)
	id := saved(t, stderr)
	for _, tt := range []struct {
		args      []string
		has       []string
		directive string
	}{
		{[]string{"re"}, []string{"rejudge", "resume", "retry"}, noFiles},
		{[]string{"completion", ""}, []string{"bash", "fish", "powershell", "zsh"}, noFiles},
		{[]string{"--protocol", "p"}, []string{"panel", "procon"}, noFiles},
		{[]string{"serve", "--protocol", "v"}, []string{"vote"}, noFiles},
		{[]string{"list", "--state", "c"}, []string{"configuring", "completing", "completed", "canceled"}, noFiles},
		{[]string{"list", "--outcome", "ro"}, []string{"round_limit"}, noFiles},
		{[]string{"--model", "openai/gpt-4.1"}, []string{"openai/gpt-4.1", "openai/gpt-4.1-mini", "openai/gpt-4.1-nano"}, noFiles},
		{[]string{"--report", ""}, []string{"md", "html"}, extensions},
		{[]string{"show", "--config", ""}, []string{"json", "jsonc"}, extensions},
		{[]string{"--prompts", ""}, nil, folders},
		{[]string{"show", "--store", "kept/d.db", ""}, []string{id}, noFiles},
		{[]string{"resume", "--config", "c.json", id[:9]}, []string{id}, noFiles},
		{[]string{"show", "--store", "kept/d.db", id, ""}, nil, noFiles},
		{[]string{"show", "--store", "none.db", ""}, nil, noFiles},
		{[]string{"import", ""}, nil, "0"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			list, directive := completions(t, tt.args...)
			require.Equal(t, tt.has, list)
			require.Equal(t, tt.directive, directive)
		})
	}
	require.False(t, fileExists("none.db"), "a completion creates nothing")
}

// The script of each shell is complete, and that of bash completes a command.
func TestScriptsForShells(t *testing.T) {
	for shell, says := range map[string]string{"bash": "__start_debate", "zsh": "#compdef debate", "fish": "complete -c debate", "powershell": "Register-ArgumentCompleter"} {
		code, stdout, stderr := start(t, environment(), "completion", shell)
		require.Equal(t, 0, code, stderr)
		require.Contains(t, stdout, says)
	}
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no bash")
	}
	path, err := binary()
	require.NoError(t, err)
	bin := t.TempDir()
	require.NoError(t, os.Symlink(path, filepath.Join(bin, "debate")))
	cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", `_get_comp_words_by_ref() { cur=li prev=debate words=(debate li) cword=1; } # of the package bash-completion
		compopt() { :; } # works only within a completion
		source <(debate completion bash)
		COMP_WORDS=(debate li) COMP_CWORD=1 COMP_LINE="debate li" COMP_POINT=9; __start_debate; echo "${COMPREPLY[@]}"`)
	cmd.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "list", strings.TrimSpace(string(out)))
}
