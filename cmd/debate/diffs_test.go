package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/transcript"
)

// largeChange is a commit of this repository that changes 5,000 lines.
const largeChange = "f7d3601e564846ce2a1a51cceea4fe5cae67ead0"

// realDiff returns a diff of this repository's history. In fault.diff, trimOpeningQuote returns nothing for a text without a quote;
// harmless.diff is as it was. It skips the test if the large one is not in the clone.
func realDiff(t *testing.T, name string) string {
	t.Helper()
	if name != "large" {
		text, err := os.ReadFile(filepath.Join(home, "testdata", "diffs", name+".diff"))
		require.NoError(t, err)
		return string(text)
	}
	show := exec.CommandContext(t.Context(), "git", "show", "--format=", largeChange)
	show.Dir = home
	text, err := show.Output()
	if err != nil {
		t.Skip("this clone has no history with the commit of 5,000 lines: ", err)
	}
	require.Greater(t, strings.Count(string(text), "\n"), 5000)
	return string(text)
}

// Scripted debaters and judges decide about three diffs of this repository, as a pipeline asks them.
func TestDecisionsAboutRealDiffs(t *testing.T) {
	if os.Getenv("GIT_DIR") != "" {
		t.Skip("within a hook of Git")
	}
	const (
		right    = "I object: <quote source=\"stdin.diff\">+\treturn \"\"</quote> and <quote source=\"stdin.diff\">+// trimOpeningQuote removes the quote at the beginning of text, if there is one.</quote>"
		numbered = "Line 1 is wrong: <quote source=\"stdin.diff\">44| +func trimOpeningQuote(text string) string {\n45| +	for _, quote := range</quote>"
		invented = "It deletes the database: <quote source=\"stdin.diff\">os.RemoveAll(databaseOfAllUsers)</quote>"
		agreeing = "I agree with everything that was said and that will be said."
	)
	for _, tt := range []struct {
		name, diff, speech, decision string
		code                         int
		verdicts                     map[transcript.Verdict]bool
		first, last                  int // lines of the changed file that the verified quote has
	}{
		{
			"a fault that is shown", "fault", right, refusal, exitAnother,
			map[transcript.Verdict]bool{transcript.Verified: true, transcript.NotChecked: true},
			78, 78,
		},
		{"a lie about lines", "fault", numbered, refusal, exitAnother, map[transcript.Verdict]bool{transcript.Verified: true}, 79, 80},
		{"a quote that is not there", "fault", invented, approval, 0, map[transcript.Verdict]bool{transcript.NotFound: true}, 0, 0},
		{"a harmless change", "harmless", agreeing, approval, 0, nil, 0, 0},
		{"a large change", "large", agreeing, approval, 0, nil, 0, 0},
		{"no decision", "harmless", agreeing, "{}", exitUndecided, nil, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder(t)
			env, _ := listening(t, func(prompt string) string {
				if strings.Contains(prompt, "json_schema") {
					return tt.decision
				}
				return tt.speech
			})
			args := []string{
				"--docs", "-", "--option", "approve", "--option", "request changes", "--pass", "approve", "--rounds", "1",
				"--json", "Merge this?",
			}
			code, stdout, stderr := piped(t, env, realDiff(t, tt.diff), args...)
			require.Equal(t, tt.code, code, stderr)
			verdicts := map[transcript.Verdict]bool{}
			all := state(t, []byte(stdout))
			for i := range all.Result.Turns {
				for _, c := range all.Result.Turns[i].Citations {
					verdicts[c.Verdict] = true
					if c.Verdict == transcript.Verified {
						require.Equal(t, "judge/reply/syntax.go", c.File)
						require.Equal(t, tt.first, c.Line)
						require.Equal(t, tt.last, c.EndLine)
					}
				}
			}
			if tt.verdicts != nil {
				require.Equal(t, tt.verdicts, verdicts)
			}
		})
	}
}

// A model that never answers fails the command with the code of a service.
func TestAModelThatNeverAnswers(t *testing.T) {
	folder(t, "c.json", `{"limits": {"step_timeout": "300ms", "step_attempts": 1}}`)
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	env := server(t, func(n int, _ http.ResponseWriter, _ string) string {
		if n >= 0 {
			select {
			case <-ended:
			case <-time.After(5 * time.Second):
			}
		}
		return ""
	})
	code, stdout, stderr := piped(t, env, realDiff(t, "harmless"), "--config", "c.json", "--docs", "-", "--pass", "approve", "--option",
		"approve", "--option", "wait", "--json", "-q", "Merge this?")
	require.Equal(t, exitProvider, code, stderr)
	var a struct {
		Complete bool
		Decision string
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &a))
	require.False(t, a.Complete)
	require.Empty(t, a.Decision)
}
