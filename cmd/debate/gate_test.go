package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/report"
)

const refusal = `{"summary": "It has no limit.", "option": 2, "confidence": 60, "reasons": [{"text": "Zero is no limit."}]}`

func TestGates(t *testing.T) {
	merge := []string{"--rounds", "1", "--option", "approve", "--option", "request changes", "Merge this?"}
	for _, tt := range []struct {
		name, decision string
		args           []string
		code           int
		says           string
	}{
		{"it passes", approval, []string{"--pass", "approve"}, 0, ""},
		{"in capitals", approval, []string{"--pass", " Approve"}, 0, ""},
		{"one of several", refusal, []string{"--pass", "approve", "--pass", "request changes"}, 0, ""},
		{"another", refusal, []string{"--pass", "approve"}, 10, `debate: the decision is "request changes"; want "approve"`},
		{"sure enough", approval, []string{"--pass", "approve", "--min-confidence", "80"}, 0, ""},
		{
			"not sure enough", approval,
			[]string{"--pass", "approve", "--min-confidence", "81"},
			11,
			`the decision is "approve" with a confidence of 80 %, which is too low to count; ` +
				`want "approve" with a confidence of at least 81 %`,
		},
		{
			"another, and not sure", refusal,
			[]string{"--pass", "approve", "--min-confidence", "90"},
			10,
			`the decision is "request changes"`,
		},
		{"any decision that is sure", refusal, []string{"--min-confidence", "50"}, 0, ""},
		{"none", `{"no": "decision"}`, []string{"--pass", "approve"}, 11, `the debate has decided nothing; want "approve"`},
		{"without a gate", refusal, nil, 0, ""},
		{
			"no option", approval,
			[]string{"--pass", "merge"},
			2,
			`--pass "merge" is no option of the debate, use one of ["approve" "request changes"]`,
		},
		{"a fraction", approval, []string{"--min-confidence", "0.8"}, 2, "--min-confidence 0.8, use percent, from 1 to 100"},
		{"more than all", approval, []string{"--min-confidence", "101"}, 2, "use percent, from 1 to 100"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder(t)
			env, _ := listening(t, decider(tt.decision))
			code, _, stderr := start(t, env, append(tt.args, merge...)...)
			require.Equal(t, tt.code, code, stderr)
			require.Contains(t, stderr, tt.says)
		})
	}
}

func TestAGateOfAReviewNamesVerdicts(t *testing.T) {
	folder(t)
	code, _, stderr := start(t, environment(), "--for", "review", "--docs", ".", "--pass", "merge", "Merge this?")
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, `--pass "merge" is no option of the debate, use one of ["approve" "request changes" "comment"]`)
}

// A debate that was stored has the same gates.
func TestAGateOfAStoredDebate(t *testing.T) {
	folder(t)
	env, _ := listening(t, decider(refusal))
	code, _, stderr := start(t, env, "--store", "d.db", "--rounds", "1", "--option", "approve", "--option", "request changes",
		"Merge this?")
	require.Equal(t, 0, code, stderr)
	id := saved(t, stderr)
	code, _, _ = start(t, env, "show", "--store", "d.db", id, "--pass", "approve")
	require.Equal(t, exitAnother, code)
	code, _, _ = start(t, env, "show", "--store", "d.db", id, "--pass", "request changes")
	require.Equal(t, 0, code)
}

func TestAConfidenceThatNobodyGives(t *testing.T) {
	o := options{minConfidence: 50}
	require.ErrorContains(t, o.judge(&report.Answer{Decision: "approve"}),
		"nobody has said how sure it is; want a decision with a confidence of at least 50 %")
	require.NoError(t, o.checkPass(panel.Protocol{}), "no options are known")
}

// The outputs of all purposes, of the offline demo model, follow the published schema.
func TestAnswersFollowTheirSchema(t *testing.T) {
	schema, err := validator.Compile(filepath.Join(home, "..", "..", "docs", "reference", "answer.schema.json"))
	require.NoError(t, err)
	for _, purpose := range sortedKeys(purposes) {
		t.Run(purpose, func(t *testing.T) {
			folder(t, "notes.md", "The cache is emptied at night. The index is kept for a week.\n")
			args := []string{"--for", purpose, "--rounds", "1", "--json", topic}
			if purpose == reviewPurpose {
				args = append(args, "--docs", "notes.md")
			}
			code, stdout, stderr := start(t, environment(), args...)
			require.Equal(t, 0, code, stderr)
			require.True(t, strings.HasPrefix(stdout, "{\n  \"answer\": {\n    \"id\": "), "the answer is on top")
			var out struct{ Answer any }
			require.NoError(t, json.Unmarshal([]byte(stdout), &out))
			require.NoError(t, schema.Validate(out.Answer))
			var a report.Answer
			again, err := json.Marshal(out.Answer)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(again, &a))
			require.True(t, a.Complete)
			require.NotEmpty(t, a.ID)
			require.NotEmpty(t, a.Text)
			state(t, []byte(stdout)) // the complete state is beside it

			code, stdout, stderr = start(t, environment(), append(args, "--quiet")...)
			require.Equal(t, 0, code, stderr)
			require.Empty(t, stderr)
			var alone any
			require.NoError(t, json.Unmarshal([]byte(stdout), &alone))
			require.NoError(t, schema.Validate(alone))
		})
	}
	for _, wrong := range []string{`{}`, `{"id": 1}`, `{"id": "x", "complete": true, "decision": null}`} {
		var v any
		require.NoError(t, json.Unmarshal([]byte(wrong), &v))
		require.Error(t, schema.Validate(v), "the schema refuses %s", wrong)
	}
}

func TestQuiet(t *testing.T) {
	folder(t, "c.json", `{"limits": {"max_rounds": 1}}`)
	code, loud, stderr := start(t, environment(), "--config", "c.json", "--store", "d.db", topic)
	require.Equal(t, 0, code)
	require.NotEmpty(t, stderr)
	code, stdout, stderr := start(t, environment(), "--config", "c.json", "--quiet", topic)
	require.Equal(t, 0, code)
	require.Empty(t, stderr)
	require.Equal(t, len(strings.Split(loud, "\n")), len(strings.Split(stdout, "\n")), "the same answer")
	code, stdout, stderr = start(t, environment(), "-q", "--config", "none.json", topic)
	require.Equal(t, exitInput, code)
	require.Empty(t, stdout)
	require.True(t, strings.HasPrefix(stderr, "debate: read configuration"), "an error is told: %s", stderr)
	code, _, stderr = start(t, environment(), "-q", "--me", "Ada", topic)
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, "--quiet hides what --me asks")
	_, err := os.Stat("d.db")
	require.NoError(t, err)
}
