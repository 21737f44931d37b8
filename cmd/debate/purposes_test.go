package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// purposeNotes says for each purpose in docs/choose.md why it has its protocol, what was measured and what was not.
var purposeNotes = []struct{ name, heading, why, measured string }{
	{
		"decision", "A decision", "`panel` with options: two participants weigh the options, and the judge decides between them on the merits, with a confidence, reasons, conditions and what would change it. " +
			"Give the options with `--option`, or in `decision.options`; without them, the judge decides yes or no. Several judges decide by majority. For short answers without scores, a vote with `options` takes fewer calls.",
		"Not measured: whether such decisions are better than those of one call. Measured for votes: how often " +
			"they are right on questions with a known answer; see [Voting](measured/voting.md).",
	},
	{
		"answer", "A right answer", "`vote`: three answers, and a second round only if they differ. For a short answer that can be compared, such as a number.",
		"Measured: on arithmetic, the second round is better than the vote of round 1; on GSM8K and MMLU, no " +
			"difference was shown. A second round only on disagreement saves 27 to 29 % of the calls; see " +
			"[Voting](measured/voting.md). Not measured: longer answers.",
	},
	{
		"text", "A better text", "`refine`: two experts each propose a text, criticize each other and refine; the judge merges what they have. Give the experts other roles or instructions for other demands.",
		"Not measured: whether the text is better than that of one model that revises its own.",
	},
	{
		"review", "A review", "`review`: three reviewers read a change or other documents and report findings, each with a quote. A finding whose quote is not there is dropped. The others attack the rest, and the judge decides which stand. " +
			"`git diff main | debate --for review --docs -` reviews a change.",
		"Not measured: how many real faults the reviewers find, and how many findings that stand are wrong.",
	},
	{
		"plan", "A better plan", "`skeptic` with `plan`: the topic is the plan, such as `-f plan.md`. One participant improves it and another attacks it, for two or three rounds. The editor writes the new plan with what changed and what it does not meet; `-o new.md` writes it into a file.",
		"Not measured: whether the plan works better.",
	},
	{
		"sides", "Both sides heard", "`procon`: one participant argues for the claim and one against it, in turn; a judge who does not see who is who judges once, at the end. To choose who speaks for which side, or to have more than two, use `panel`.",
		"Measured: how reliably judgments are parsed; see [Judging](measured/replies.md). Not measured: whether " +
			"the judge is right. Do not take a judgment for a proof.",
	},
	{
		"ranking", "A ranking", "`council`: four members answer, each ranks the answers of the others under pseudonyms, and the chair writes the final answer. The report has the standings.",
		"Not measured: whether the best-ranked answer is the best.",
	},
	{
		"evaluation", "An evaluation checked", "`arbitration`: an advocate defends the scores of an evaluation, a challenger attacks them, and an arbiter rules on one category after the other. Put your scores in place of these, with `--scores` or in the file.",
		"Not measured: whether the scores after the rulings are better.",
	},
	{
		"claim", "A hard claim attacked", "`skeptic`: one participant answers, another attacks the answer, harder in each round, until it finds nothing critical; the synthesizer writes what is left.",
		"Not measured: how many real flaws the skeptic finds.",
	},
	{
		"baseline", "One answer, to compare with", "`vote` with one sample of one participant: the model answers once. Ask your questions in this way first: a debate that is not better than one answer does not pay.",
		"Not measured: the rows of [Voting](measured/voting.md) begin with a vote of three answers.",
	},
}

// counting counts the calls of a model.
type counting struct {
	providers.Provider

	calls atomic.Int64
}

func (c *counting) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	c.calls.Add(1)
	return c.Provider.Generate(ctx, r)
}

// agreeing is a model that always gives the same answer and finds nothing wrong.
var agreeing = &scripted.Provider{Func: scripted.Values{
	"": `Yes. {"score": 9, "ready": true, "issues": []}`, "answer": "Yes",
	"confidence": 90, "option": 1, "reasons": reasons, "findings": []any{}, "objections": []any{},
}.Reply}

var reasons = []map[string]any{{"text": "It follows.", "speaker": nil, "round": nil}}

// stubborn is a model that never agrees, so that a debate takes all its rounds.
func stubborn(r providers.Request) scripted.Reply {
	_, name, _ := strings.Cut(r.Messages[0].Text, "You are ")
	name, _, _ = strings.Cut(name, ",")
	return scripted.Values{
		"":       `{"score": 3, "ready": false, "issues": [{"severity": "critical", "text": "It is wrong."}]}`,
		"answer": name, "should_continue": true, "confidence": 50, "option": 2, "reasons": reasons,
		"objections": []map[string]any{{"number": 1, "reason": "It stays.", "met": false}}, "findings": []any{},
	}.Reply(r)
}

// callsFor runs a debate of a purpose, and returns the number of calls.
func callsFor(t *testing.T, name string, model providers.Provider) (calls int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b, err := purposeConfig(name)
		require.NoError(t, err)
		e := debatetest.Engine(t, debate.Options{})
		full := strings.Replace(string(b), "{", `{"topic": "Should cities ban private cars?", `, 1)
		for name, k := range presets {
			full = strings.Replace(full, `"`+name+`"`, `"`+k.Name()+`"`, 1)
		}
		c, err := e.ParseConfig([]byte(full))
		require.NoError(t, err)
		if name == reviewPurpose {
			c.Documents = []evidence.Document{evidence.Shared("notes.md",
				"The cache is emptied at night.\nThe index is kept for a week.\nNobody reads the log.\n")}
		}
		counted := &counting{Provider: model}
		d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{"model": counted}})
		r := debatetest.RunResult(t, d)
		require.Equal(t, fsm.Completed, r.State)
		for _, turn := range r.Turns {
			require.NotContains(t, turn.Flags, transcript.Defaulted)
		}
		calls = int(counted.calls.Load())
	})
	return calls
}

// docs/choose.md has all purposes, with the calls that they take and their configurations.
func TestTheDocumentOfPurposes(t *testing.T) {
	require.Len(t, purposeNotes, len(purposes))
	var table, sections strings.Builder
	table.WriteString("| you want | command | calls |\n|---|---|---|\n")
	for _, note := range purposeNotes {
		require.Contains(t, purposes, note.name)
		counts := []int{callsFor(t, note.name, offline.Model(false)), callsFor(t, note.name, agreeing), callsFor(t, note.name, &scripted.Provider{Func: stubborn})}
		least, most := slices.Min(counts), slices.Max(counts)
		calls := fmt.Sprint(most)
		if least < most {
			calls = fmt.Sprintf("%d to %d", least, most)
		}
		documents := ""
		if note.name == reviewPurpose {
			documents = "--docs papers "
		}
		fmt.Fprintf(&table, "| [%s](#%s) | `debate --for %s %s\"…\"` | %s |\n", purposes[note.name], anchor(note.heading), note.name,
			documents, calls)
		b, err := purposeConfig(note.name)
		require.NoError(t, err)
		fmt.Fprintf(&sections, "\n## %s\n\n%s\n\n%s\n\n```json\n%s```\n", note.heading, wrap(note.why), wrap(note.measured), b)
	}
	golden.Section(t, filepath.Join(home, "..", "..", "docs", "choose.md"), "purposes", table.String()+sections.String())
}

// anchor returns the address of a heading.
func anchor(heading string) string {
	return strings.NewReplacer(" ", "-", ",", "").Replace(strings.ToLower(heading))
}

// wrap breaks a text into lines of at most 120 characters.
func wrap(text string) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > 119 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}

// The command runs a debate for each purpose offline, with the files of init and without.
func TestEveryPurposeRunsOffline(t *testing.T) {
	for _, name := range sortedKeys(purposes) {
		t.Run(name, func(t *testing.T) {
			folder(t, "notes.md", "The cache is emptied at night. The index is kept for a week.\n")
			args := []string{"--for", name, "--plain", topic}
			if name == reviewPurpose {
				args = append(args, "--docs", "notes.md")
			}
			code, stdout, stderr := start(t, environment(), args...)
			require.Equal(t, 0, code, stderr)
			require.NotEmpty(t, stdout)
			require.NotContains(t, stderr, "using defaults")

			code, _, stderr = start(t, environment(), "init", "--for", name)
			require.Equal(t, 0, code, stderr)
			text := contents(t, commentedConfigPath)
			require.NoError(t, valid(t, text))
			is, warnings := composed(t, topic)
			require.Empty(t, warnings)
			require.NoError(t, os.Remove(commentedConfigPath))
			want, _ := composed(t, "--for", name, topic)
			require.Equal(t, want.Protocol, is.Protocol)
			require.Equal(t, want.Judges, is.Judges)
			require.Len(t, is.Participants, len(want.Participants))
			for i := range want.Participants {
				require.Equal(t, want.Participants[i].Instructions, is.Participants[i].Instructions)
			}
			require.Equal(t, want.Limits, is.Limits)
		})
	}
	files, err := purposeFiles.ReadDir("purposes")
	require.NoError(t, err)
	require.Len(t, files, len(purposes), path.Join("purposes", "*"))
}

func TestPurposesAndTheirFlags(t *testing.T) {
	folder(t, "c.json", `{"participants": [{"name": "X"}], "background": "Facts.", "limits": {"max_rounds": 2}}`)
	is, warnings := composed(t, "--config", "c.json", "--for", "text", topic)
	require.Contains(t, warnings, "ignoring participants in c.json, because of --for text")
	require.Equal(t, "Clarity", is.Participants[0].Name)
	require.Equal(t, "Facts.", is.Background)
	require.Equal(t, 2, is.Limits.MaxRounds)
	for _, test := range [][]string{{"--for", "fun", topic}, {"--for", "text", "--protocol", "vote", topic}, {"init", "--for", "fun"}} {
		code, _, stderr := start(t, environment(), test...)
		require.Equal(t, 2, code)
		require.Contains(t, stderr, "choose purpose: ")
	}
	_, stdout, _ := start(t, environment(), "help", "purposes")
	_, offered, _ := start(t, environment(), "__complete", "--for", "")
	for name, what := range purposes {
		require.Contains(t, stdout, name)
		require.Contains(t, offered, name+"\t"+what)
	}
}

func TestOptionsOfADecision(t *testing.T) {
	folder(t)
	for _, args := range [][]string{{"--for", "decision"}, {"--protocol", "procon"}, {"--protocol", "vote"}} {
		args = append(args, "--option", "Refund", "--option", "Refuse", "--plain", "Order 4711")
		code, stdout, stderr := start(t, environment(), args...)
		require.Equal(t, exitSuccess, code, "%v: %s", args, stderr)
		require.Regexp(t, `(?i)(decision|answer).*(Refund|Refuse)`, stdout, "%v", args)
	}
	code, _, stderr := start(t, environment(), "--protocol", "mad", "--option", "A", "--option", "B", "Order 4711")
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, "set options: protocol mad cannot decide between options, remove --option or use panel, procon or vote")
	code, _, stderr = start(t, environment(), "--for", "decision", "--option", "A", "Order 4711")
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, "the number of options is 1, use 2 to 16")
}
