package offline_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
)

// ask returns the demo model's reply to a prompt that consists of the system message, earlier turns, and the task.
func ask(t *testing.T, contract *reply.Contract, messages ...string) string {
	t.Helper()
	r := providers.Request{}
	if contract != nil {
		r.SchemaName, r.Schema = contract.Name(), contract.Schema()
	}
	for i, text := range messages {
		role := providers.User
		if i == 0 {
			role = providers.System
		} else if own, said := strings.CutPrefix(text, "> "); said {
			role, text = providers.Assistant, own
		}
		r.Messages = append(r.Messages, providers.Message{Role: role, Text: text})
	}
	resp, err := offline.Model(false).Generate(t.Context(), r)
	require.NoError(t, err)
	return resp.Text
}

var ada, bo = said("Ada", "I say yes. Tea is cheap."), said("Bo on Ada", "I say no.")

// said returns a statement as others see it.
func said(who, text string) string {
	return judge.NewPseudonyms(nil, "d", "", false).Quote(who, 1, text)
}

// named returns a contract with the names that the engine adds.
func named(c *reply.Contract, participants ...string) *reply.Contract {
	return c.WithNames("participants", participants).WithNames("active", participants).WithNames("criteria", judge.Rubric(nil).Names())
}

// The reply fulfills the contract of each preset, even if nothing has been said yet.
func TestEachContractIsKept(t *testing.T) {
	const topic = "You are Zoe, a judge.\n\nTopic: Is tea free?\n"
	for _, test := range []struct {
		contract *reply.Contract
		messages []string
		says     string
	}{
		{judge.Rubric(nil).Contract(), []string{topic, ada, bo, "Round 2 of 3 is complete."}, `"should_continue":true`},
		{judge.VerdictContract, []string{topic, ada, bo, "The debate is over."}, `"winner":"Ada"`},
		{judge.VerdictContract, []string{topic, "The debate is over."}, `"quality":50`},
		{
			protocol.PersonasContract,
			[]string{"The participants, in order:\n- Ada, poet\n- Bo, side: against\n\nA persona", "Write one."},
			`"position":"No, not in this form."`,
		},
		{panel.AudienceContract, []string{topic, "The debate has not begun."}, `"vote":"undecided"`},
		{panel.AudienceContract, []string{topic, ada, bo, "> Vote: undecided.", "The debate is over."}, `"vote":"against"`},
		{panel.AudienceContract, []string{"You are Ann, a judge.\n\nTopic: Is tea free?\n", ada, bo, "> Vote: undecided.", "The debate is over."}, `"vote":"for"`},
		{skeptic.DocumentsContract, []string{"You find ways.", "Is tea free?"}, "Pre-mortem"},
		{refine.CritiqueContract, []string{topic, ada, "Criticize the proposal that Ada has made in this round, and no other."}, "Tea is cheap"},
		{refine.SummaryContract, []string{topic, ada, bo, "Summarize."}, "Bo: I say no."},
		{refine.SolutionContract, []string{topic, ada, bo, "Make one."}, "Bo proposes: I say no."},
		{
			arbitration.ArgumentContract,
			[]string{topic + "The evidence of the evaluation:\n- A cup costs one coin.\n- It is cold.\n", "Round 1 of 3. Topic: t.\n\nThe advocate, Ada, holds: It is.\nThe challenger, Bo, holds: It is not.\n\nYou are the challenger."},
			`{"claim":"It is not.","reasoning":"In round 1, the evidence does not contradict the challenger, and no argument so far refutes this claim.","evidence":"It is cold."}`,
		},
		{arbitration.RulingContract, []string{topic, ada, bo, "The advocate, Ada, holds: It is."}, `"winner":"advocate","confidence":80`},
		{arbitration.RulingContract, []string{topic, ada, bo, "The advocate, Bo, holds: It is."}, `"winner":"challenger","confidence":80`},
		{arbitration.RulingContract, []string{topic, said("Ada", "a b"), said("Bo", "c d"), "The advocate, Ada, holds: It is."}, `"winner":"draw","confidence":50`},
		{procon.JudgmentContract, []string{topic, ada, bo, "The debate is over."}, `{"name":"Ada","score":9}`},
		{vote.BallotContract, []string{topic, "Round 1 of 2."}, `"answer":"No"`},
		{vote.BallotContract, []string{topic + "Your answer is one number in digits", "Round 1 of 2."}, `"answer":"2"`},
		{vote.BallotContract, []string{topic, said("Ada", "Answer: Yes"), said("Bo", "Answer: Yes"), "> Answer: No", "Round 2 of 2."}, `"answer":"Yes"`},
		{vote.BallotContract, []string{topic, said("Ada", "Answer: Yes"), "> Answer: No", "Round 2 of 2."}, `"answer":"No"`},
		{council.RankingContract, []string{topic, bo, ada, "Rank Ada and Bo, each exactly once."}, `"ranking":[{"name":"Ada","reason":"Zoe counts 6 words from Ada.","place":1},{"name":"Bo"`},
		{council.AnswerContract, []string{topic, ada, bo, "Scores:\n1. Ada: 1\n2. Bo: 0\n"}, `The best-ranked one ends: “Tea is cheap.”`},
		{mad.ModerationContract, []string{topic, ada, bo, "Round 1 of 3 is complete."}, `"preference":false`},
		{mad.CandidatesContract, []string{topic, ada, bo, "List the answers."}, `["Tea is cheap.","I say no."]`},
		{mad.DecisionContract, []string{topic, ada, bo, "Decide."}, `"answer":"Tea is cheap.","supported":"Ada"`},
		{vote.RulingContract, []string{topic, said("Ada", "Answer: Yes"), said("Bo", "Answer: No"), "Decide."}, `"winner":"Ada"`},
	} {
		t.Run(test.contract.Name(), func(t *testing.T) {
			text := ask(t, named(test.contract, "Ada", "Bo"), test.messages...)
			r, err := named(test.contract, "Ada", "Bo").Parse(text, []string{"Ada", "Bo"})
			require.NoError(t, err, text)
			require.Contains(t, string(r.Data), test.says)
		})
	}
}

// In a judge's prompt, the speakers have pseudonyms.
func TestLabelsAreSpeakers(t *testing.T) {
	text := ask(t, named(judge.VerdictContract, "Debater A", "Debater B"), "Topic: Tea?\n", "<<<7 begin: Debater A, round 1>>>\nYes: it is.\nReally.\n<<<7 end>>>", "Judge.")
	require.Contains(t, text, `"winner":"Debater A"`)
	require.Contains(t, text, `"Debater_A":["Really."]`)
}

// The pseudonyms differ from debate to debate, but the counts do not.
func TestLabelsDoNotCount(t *testing.T) {
	count := func(first, second string) string {
		text := ask(t, named(judge.VerdictContract, "Debater A", "Debater B"), "Topic: Tea?\n", said(first, "It is a choice."), said(second, first+" says so. It is a rule."), "Judge.")
		var v judge.Verdict
		require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(text, `"participants"`, `"other"`)), &v))
		return strings.NewReplacer(first, "1", second, "2").Replace(v.Winner + v.Summary)
	}
	require.Equal(t, count("Debater A", "Debater B"), count("Debater B", "Debater A"))
}

// The skeptic's issues become less severe each round, and the protocol can parse the critiques.
func TestCritiques(t *testing.T) {
	for round, want := range map[string]struct {
		worst skeptic.Severity
		ready bool
	}{
		"1": {skeptic.Critical, false}, "2": {skeptic.Major, false}, "3": {skeptic.Minor, true}, "5": {skeptic.Minor, true},
	} {
		text := ask(t, nil, "You are Bo, the skeptic. You attack.\n\nTopic: Is tea free?\n", ada, "Round "+round+" of 5. Phase: attack.")
		c, read := skeptic.ParseCritique(text)
		require.True(t, read, text)
		require.Equal(t, want.worst, c.Issues[0].Severity)
		require.Equal(t, want.ready, c.Ready)
		require.Equal(t, want.worst == skeptic.Critical, strings.Contains(text, "🔴"))
		require.Equal(t, want.ready, strings.Contains(text, "Ready for Synthesis ✅"))
	}
}

func TestStances(t *testing.T) {
	const position = "\n<<<7 begin: your position>>>\n"
	for _, test := range []struct{ system, says string }{
		{"You are Bo, a participant.\nYour side: for\n", "My answer is yes,"},
		{"You are Ada, a participant.\nYour side: against\n", "My answer is no,"},
		{"You are Bo, a participant.\nYour side: pro\n", "My answer is yes,"},
		{"You are Bo, a participant." + position + "Yes, soon.\n<<<7 end>>>", "My answer is yes,"},
		{"You are Bo, a participant." + position + "The answer to the topic is yes.\n<<<7 end>>>", "My answer is yes,"},
		{"You are Ada, a participant.\nYour side: poets" + position + "No!\n<<<7 end>>>", "My answer is no,"},
		{"You are Ada, a participant.\n", "My answer is yes,"},
		{"You are Bo, a participant." + position + "Maybe\n<<<7 end>>>", "My answer is no,"},
		{"You are Ada, the negative side in a debate.", "My answer is no,"},
		{"", "My answer is yes,"},
	} {
		require.Contains(t, ask(t, nil, test.system, "Round 1 of 3."), test.says, test.system)
	}
}

func TestTheScriptMayTakeItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, chunks := time.Now(), 0
		_, err := offline.Model(true).Generate(t.Context(), providers.Request{
			Messages: []providers.Message{{Text: "S"}, {Text: "U"}}, OnChunk: func(string) error { chunks++; return nil },
		})
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(began))
		require.Greater(t, chunks, 10)
	})
}

func TestTheEnvironmentChooses(t *testing.T) {
	script := offline.Model(false)
	for _, test := range []struct {
		env  map[string]string
		says string
	}{
		{nil, offline.Notice + " (set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to use another model)\n"},
		{map[string]string{"OPENAI_API_KEY": "k", "OLLAMA_HOST": "h"}, "model: gpt-4.1-mini\n"},
		{map[string]string{"OPENAI_API_KEY": "k", "OPENAI_MODEL": "m"}, "model: m\n"},
		{map[string]string{"ANTHROPIC_API_KEY": "k"}, "model: claude-sonnet-4-5\n"},
		{map[string]string{"OLLAMA_HOST": "here"}, "model: llama3.2\n"},
		{map[string]string{"OLLAMA_HOST": "https://here:1/"}, "model: llama3.2\n"},
	} {
		var told bytes.Buffer
		p, err := offline.Choose(func(name string) string { return test.env[name] }, &told, script)
		require.NoError(t, err)
		require.Equal(t, test.says, told.String())
		require.Equal(t, test.env == nil, p == script)
	}
	_, err := offline.Choose(func(string) string { return "::" }, &bytes.Buffer{}, script)
	require.Error(t, err)
}
