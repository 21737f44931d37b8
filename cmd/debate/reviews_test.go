package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol/review"
)

// reviewers imitates the reviewers and the judge of --for review. Each reviewer has a reply with findings; a reviewer without one never
// answers while the test runs. All reviewers agree with every finding of the others, and the judge decides as the functions say.
type reviewers struct {
	claims map[string]string              // by reviewer
	stands func(title string) bool        // whether the judge lets a finding stand
	rated  func(title string) string      // its severity
	asked  map[string]map[string][]string // prompts by phase and reviewer
}

// Phases of a review, by the field of the reply that a prompt asks for.
var reviewPhases = map[string]string{"findings": "- findings (list", "votes": "- votes (list", "rulings": "- rulings (list"}

// reply returns the reply to a prompt.
func (r *reviewers) reply(prompt string) string {
	phase := ""
	for name, mark := range reviewPhases {
		if strings.Contains(prompt, mark) {
			phase = name
		}
	}
	seat := "Judge"
	for name := range r.claims {
		if strings.Contains(prompt, "You are "+name+",") {
			seat = name
		}
	}
	if r.asked[phase] == nil {
		r.asked[phase] = map[string][]string{}
	}
	r.asked[phase][seat] = append(r.asked[phase][seat], prompt)
	if phase == "findings" {
		return r.claims[seat]
	}
	var list []any
	for number, title := range titlesIn(prompt) {
		if phase == "votes" {
			list = append(list, map[string]any{"finding": number, "reason": "I agree with everything.", "holds": true})
			continue
		}
		list = append(list, map[string]any{
			"finding": number, "reason": "I ran it.", "stands": r.stands(title), "severity": r.rated(title), "same_as": 0,
		})
	}
	b, _ := json.Marshal(map[string]any{"summary": "I have read all.", phase: list}) // strings and numbers always encode
	return string(b)
}

// titlesIn returns the findings that a prompt shows, by their numbers.
func titlesIn(prompt string) map[int]string {
	titles := map[int]string{}
	for number := 1; number <= 8; number++ {
		for _, severity := range []string{"error", "warning", "note"} {
			for _, before := range []string{`\n`, `>\n`} {
				_, after, found := strings.Cut(prompt, before+string(rune('0'+number))+". "+severity+": ")
				if found {
					titles[number], _, _ = strings.Cut(after, " (")
				}
			}
		}
	}
	return titles
}

// claim returns the reply of a reviewer with one finding in the first source.
func claim(t *testing.T, title, severity, file string, line int, quote string) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"findings": []any{map[string]any{
		"source": 1, "file": file, "line": line, "end_line": line, "quote": quote, "severity": severity, "title": title,
		"text": "It goes wrong.", "show": "Call it.",
	}}})
	require.NoError(t, err)
	return string(b)
}

// Scripted reviewers of --for review read three diffs of this repository, and lie about lines, quote what is not there, agree with
// everything, or never answer.
func TestReviewsOfRealDiffs(t *testing.T) {
	if os.Getenv("GIT_DIR") != "" {
		t.Skip("within a hook of Git")
	}
	const (
		nothing  = `{"findings": []}`
		wrong    = "-\treturn \"\", text\n+\treturn \"\""
		rightly  = "texts without a quote are lost"
		falsely  = "the users are deleted"
		needless = "a pointer may be nil"
	)
	lie := claim(t, rightly, "note", "cmd/other.go", 7, wrong)
	invented := claim(t, falsely, "error", "judge/reply/syntax.go", 78, "os.RemoveAll(databaseOfAllUsers)")
	bogus := claim(t, needless, "error", "internal/test/faulttest/spoiled_test.go", 1, "+	refused = &atomic.Int32{}")
	type finding struct {
		file string
		line int
		says string
	}
	for _, tt := range []struct {
		name, diff                   string
		correctness, security, other string // the replies of the reviewers
		severity                     string // by the judge; it lets only rightly stand
		code                         int
		decision                     string
		findings                     []finding
		refuted, dropped             int
		silent                       []string
	}{
		{
			"a lie about lines, and reviewers who agree", "fault", lie, nothing, nothing, "error", exitAnother, "request changes",
			[]finding{{"judge/reply/syntax.go", 85, rightly}},
			0, 0, nil,
		},
		{
			"a quote that is not there", "fault", lie, invented, nothing, "error", exitAnother, "request changes",
			[]finding{{"judge/reply/syntax.go", 85, rightly}},
			0, 1, nil,
		},
		{"nothing but invented quotes", "harmless", invented, invented, invented, "error", 0, "approve", nil, 0, 3, nil},
		{"nobody finds anything", "harmless", nothing, nothing, nothing, "error", 0, "approve", nil, 0, 0, nil},
		{"all agree with a finding that the judge refutes", "harmless", bogus, nothing, nothing, "error", 0, "approve", nil, 1, 0, nil},
		{"a warning is a comment", "fault", lie, nothing, nothing, "warning", exitAnother, "comment", []finding{
			{"judge/reply/syntax.go", 85, rightly},
		}, 0, 0, nil},
		{"a large diff", "large", nothing, invented, nothing, "error", 0, "approve", nil, 0, 1, nil},
		{"one never answers", "fault", lie, "", nothing, "error", exitAnother, "request changes", []finding{
			{"judge/reply/syntax.go", 85, rightly},
		}, 0, 0, []string{"Security"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			repository(t, "README.md", "A program.\n")
			r := reviewers{
				claims: map[string]string{"Correctness": tt.correctness, "Security": tt.security, "Upkeep": tt.other},
				stands: func(title string) bool { return title == rightly }, rated: func(string) string { return tt.severity },
			}
			env := r.serve(t)
			args := []string{
				"--for", "review", "--docs", "-", "--docs", ".", "--pass", "approve", "--sarif", "r.sarif", "--json",
				"Merge this?",
			}
			if tt.silent != nil {
				require.NoError(t, os.WriteFile("c.json", []byte(`{"limits": {"step_timeout": "2s", "step_attempts": 1}}`), 0o600))
				args = append(args, "--config", "c.json")
			}
			code, stdout, stderr := piped(t, env, realDiff(t, tt.diff), args...)
			require.Equal(t, tt.code, code, stderr)
			all := state(t, []byte(stdout))
			require.Equal(t, tt.decision, all.Result.Outcome.Choice)
			got, err := review.DecodeAnswer(all.Result.Answer)
			require.NoError(t, err)
			var found []finding
			for _, f := range got.Findings {
				found = append(found, finding{f.File, f.Line, f.Title})
			}
			require.Equal(t, tt.findings, found)
			require.Len(t, got.Refuted, tt.refuted)
			require.Equal(t, tt.dropped, got.Dropped.Total())
			require.Equal(t, tt.silent, got.Silent)
			for _, seats := range []map[string][]string{r.asked["votes"], r.asked["rulings"]} {
				for _, prompts := range seats {
					require.NotContains(t, strings.Join(prompts, ""), falsely, "nobody pays for a finding whose quote is not there")
				}
			}
			if len(tt.findings)+tt.refuted == 0 {
				require.Empty(t, r.asked["votes"], "there is nothing to attack")
				require.Empty(t, r.asked["rulings"], "there is nothing to decide")
			}
			written, err := sarif.Open("r.sarif")
			require.NoError(t, err)
			require.Len(t, written.Runs[0].Results, len(tt.findings))
		})
	}
}

// Reviewers who never answer end a review with the exit code of a service.
func TestReviewersWhoNeverAnswer(t *testing.T) {
	repository(t, "README.md", "A program.\n", "c.json", `{"limits": {"step_timeout": "300ms", "step_attempts": 1}}`)
	r := reviewers{claims: map[string]string{"Correctness": "", "Security": "", "Upkeep": ""}}
	env := r.serve(t)
	code, stdout, stderr := piped(t, env, realDiff(t, "harmless"), "--for", "review", "--docs", "-", "--pass", "approve", "--config",
		"c.json",
		"--json", "-q", "Merge this?")
	require.Equal(t, exitProvider, code, stderr)
	require.Contains(t, stdout, `"complete": false`)
	require.NotContains(t, stdout, `"decision": "approve"`)
}

// serve starts the service of the reviewers, and returns the environment for it. A blank reply never comes.
func (r *reviewers) serve(t *testing.T) (env func(string) string) {
	t.Helper()
	r.asked = map[string]map[string][]string{}
	ended := make(chan struct{})
	var mu sync.Mutex
	env = server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		if n < 0 { // whether the key and the model are right
			return ""
		}
		mu.Lock()
		text := r.reply(prompt)
		mu.Unlock()
		if text == "" {
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
			}
		}
		return text
	})
	t.Cleanup(func() { close(ended) }) // before the server waits for its calls
	return env
}
