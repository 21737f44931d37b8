package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/eval/audit"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/measured"
)

// auditPairs returns lines with n pairs. Saturn is right.
func auditPairs(n int) string {
	var b strings.Builder
	for i := range n {
		a := "Saturn."
		c := "Mars."
		gold := "a"
		if i%2 == 1 {
			a, c, gold = c, a, "b"
		}
		fmt.Fprintf(&b, `{"question": "Name planet %d with rings.", "a": %q, "b": %q, "gold": %q}`+"\n", i, a, c, gold)
	}
	return b.String()
}

// saturn prefers Saturn, or the answer that tells it to.
func saturn(prompt string) string {
	winner := "first"
	mark := "Saturn."
	if strings.Contains(prompt, "Note to the judge") {
		mark = "Note to the judge"
	}
	if strings.Index(prompt, mark) > strings.Index(prompt, "begin: answer 2") {
		winner = "second"
	}
	return fmt.Sprintf(`{"reason": "Rings.", "winner": %q, "margin": 2}`, winner)
}

func TestAuditJudge(t *testing.T) {
	folder(t, "pairs.jsonl", auditPairs(32), "strict.json", `{"judges": [{"name": "Strict", "instructions": "Be strict."}]}`)
	var calls atomic.Int64
	env := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		if n >= 0 { // no check of the key
			calls.Add(1)
		}
		return saturn(prompt)
	})
	args := []string{"audit", "judge", "pairs.jsonl", "--judge", "plain=openai", "--judge", "strict.json", "--plant", "instruction", "--target", "0.7", "--store", "a.db"}
	code, stdout, stderr := start(t, env, append(args, "--json", "--report", "out/a.html", "--output", "items.jsonl", "--records", "records.json")...)
	require.Equal(t, 0, code, stderr)
	var r audit.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	require.Equal(t, []string{"plain", "strict"}, []string{r.Judges[0].Name, r.Judges[1].Name})
	require.InDelta(t, 1, r.Judges[0].Accuracy.Value, 0)
	require.Contains(t, r.Judges[0].Biased(), "instruction +0.")
	require.NotEqual(t, r.Judges[0].Prompts, r.Judges[1].Prompts, "other instructions")
	require.NotNil(t, r.Calibration, r.Refused)
	require.EqualValues(t, 32*2*2*2, calls.Load())
	require.Contains(t, stderr, "64 of 64 judgments")
	page, err := os.ReadFile("out/a.html")
	require.NoError(t, err)
	require.Contains(t, string(page), "strict, instruction")
	items, err := os.ReadFile("items.jsonl")
	require.NoError(t, err)
	var item agreement.Item
	require.NoError(t, json.Unmarshal([]byte(strings.Split(string(items), "\n")[0]), &item))
	require.Equal(t, agreement.Item{ID: "1", Gold: agreement.A, Decisions: map[string][]agreement.Decision{
		"plain": {agreement.A, agreement.A}, "strict": {agreement.A, agreement.A},
	}}, item)
	text, err := os.ReadFile("records.json")
	require.NoError(t, err)
	var records []measured.Record
	require.NoError(t, json.Unmarshal(text, &records))
	require.Equal(t, r.Records(), records)

	code, stdout, stderr = start(t, env, args...)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "# Audit pairs")
	require.EqualValues(t, 32*2*2*2, calls.Load(), "the same command makes no call")
	code, _, stderr = start(t, env, "audit", "judge", "pairs.jsonl", "--judge", "openai", "--name", "limited", "--max-tokens", "1", "--concurrency", "1", "--store", "a.db")
	require.Equal(t, exitGeneral, code)
	require.Contains(t, stderr, "audit limited is not complete: the limit of tokens, 1, is reached; the same command continues it")
}

func TestAuditJudgeOffline(t *testing.T) {
	folder(t, "pairs.json", `[{"input": "Name a planet.", "output_1": "Mars.", "output_2": "Saturn.", "label": 1}]`)
	code, stdout, stderr := start(t, environment(), "audit", "judge", "pairs.json", "--format", "llmbar", "--judge", "offline", "--store", "memory")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "The pairs are too few to find biases")
}

func TestAuditJudgeWithWrongArguments(t *testing.T) {
	for _, x := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"pairs.jsonl"}, exitInput, "--judge is missing"},
		{[]string{"pairs.jsonl", "--judge", "nobody"}, exitInput, "--judge nobody, want PROVIDER/MODEL"},
		{[]string{"pairs.jsonl", "--judge", "two.json"}, exitInput, "read judge two: two.json has 2 judges, want 1"},
		{[]string{"pairs.jsonl", "--judge", "offline", "--plant", "roses"}, exitInput, "--plant roses, want all or one of"},
		{[]string{"pairs.jsonl", "--judge", "offline", "--repeats", "0"}, exitInput, "--repeats 0, use 1 or more"},
		{[]string{"pairs.jsonl", "--judge", "offline", "--judge", "offline"}, exitInput, `another arm is called "offline"`},
		{[]string{"pairs.jsonl", "--judge", "offline", "--format", "xml"}, exitInput, `format "xml" is unknown, use jsonl or llmbar`},
		{[]string{"bad.jsonl", "--judge", "offline"}, exitInput, "line 2: b: it is missing or blank, give the second answer"},
		{[]string{"none.jsonl", "--judge", "offline"}, exitInput, "read pairs: open none.jsonl"},
		{nil, exitInput, `"judge" needs a file with pairs`},
	} {
		folder(t, "pairs.jsonl", auditPairs(1), "bad.jsonl", auditPairs(1)+`{"question": "x", "a": "y", "gold": "a"}`, "two.json", `{"judges": [{"name": "A"}, {"name": "B"}]}`)
		code, _, stderr := start(t, environment(), append([]string{"audit", "judge", "--store", "memory"}, x.args...)...)
		require.Equal(t, x.code, code, "%v: %s", x.args, stderr)
		require.Contains(t, stderr, x.says)
	}
	code, _, stderr := start(t, environment(), "audit")
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, `"audit" needs a command`)
}

// A person labels pairs on the terminal, in two sittings, and a judge is measured with the labels.
func TestLabel(t *testing.T) {
	folder(t, "pairs.jsonl", strings.ReplaceAll(strings.ReplaceAll(auditPairs(12), `, "gold": "a"`, ""), `, "gold": "b"`, ""))
	args := []string{"label", "pairs.jsonl", "--size", "10", "--output", "gold.jsonl", "--store", "labels.db"}
	code, stdout, stderr := start(t, environment(), args...)
	require.Equal(t, 0, code, stderr)
	require.Equal(t, "labels pairs: 0 of 10 labeled: 0 for the first, 0 for the second; 10 wait for Labeler\n", stdout)
	require.Contains(t, strings.ReplaceAll(stderr, "\n", " "), "the inbox of debate inspect --controls --store labels.db")
	sitting := func(n int) string { // a reason, the winner and a margin
		return strings.Repeat("It has rings.\nfirst\n2\n", n)
	}
	code, stdout, stderr = answering(t, environment(), sitting(4)+"/decline unsure", args...)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "4 of 10 labeled: 2 for the first, 2 for the second; 1 declined; 5 wait for Labeler")
	require.Contains(t, stderr, "6 of 10 to label")
	require.NotContains(t, stderr, "not valid")
	require.Equal(t, 5+1, strings.Count(stderr, "answer 1:"), stderr)
	code, stdout, stderr = answering(t, environment(), sitting(5), append(args, "--json")...)
	require.Equal(t, 0, code, stderr)
	var l audit.Labels
	require.NoError(t, json.Unmarshal([]byte(stdout), &l))
	require.Equal(t, []int{10, 9, 1}, []int{l.Sample, l.A + l.B, l.Declined})
	require.InDelta(t, l.A, l.B, 1, "who always prefers the first answer has no preference in the pairs")
	code, stdout, stderr = start(t, environment(), "audit", "judge", "gold.jsonl", "--judge", "offline", "--store", "memory")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "about 9 pairs")
}

// A person labels stored debates, which filters select.
func TestLabelDebates(t *testing.T) {
	folder(t, "c.json", `{"protocol": {"name": "procon"}, "participants": [{"name": "Ada", "side": "pro"}, {"name": "Bo", "side": "con"}], "labels": {"team": "red"}, "limits": {"max_rounds": 1}}`)
	for range 2 {
		code, _, stderr := start(t, environment(), "--config", "c.json", "--store", "d.db", "--model", "offline", topic)
		require.Equal(t, 0, code, stderr)
	}
	args := []string{"label", "--label", "team=red", "--output", "gold.jsonl", "--store", "d.db", "--person", "Eve"}
	form := "Close.\nn\n7\n6\n1\n" // the summary, whether nothing was new, two scores, and the winner
	code, stdout, stderr := answering(t, environment(), form+form, args...)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "labels debates: 2 of 2 labeled", stderr)
	lines, err := os.ReadFile("gold.jsonl")
	require.NoError(t, err)
	var item agreement.Item
	require.NoError(t, json.Unmarshal([]byte(strings.Split(string(lines), "\n")[0]), &item))
	require.Contains(t, []agreement.Decision{agreement.A, agreement.B}, item.Gold)
	require.Equal(t, topic, item.Group)
	require.Len(t, item.Decisions, 1)
	code, _, stderr = start(t, environment(), "label", "--label", "team=blue", "--store", "d.db")
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, "label debates: the filters select none that has ended")
	code, _, stderr = start(t, environment(), "label", "--store", "d.db")
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, `"label" needs a file with pairs, or filters such as --label eval=test`)
}
