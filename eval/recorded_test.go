package eval_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/internal/test/recorded"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
)

// replayed answers as the agents of a recording did. The topic of a debate has the number of the recording.
type replayed []recorded.Votes

func (p replayed) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	step, ok := debate.StepFrom(ctx)
	number, err := strconv.Atoi(strings.TrimPrefix(questionOf(r), "Q"))
	if !ok || err != nil || number < 1 || number > len(p) {
		return providers.Response{}, fmt.Errorf("no recording %q", questionOf(r))
	}
	return ballot(recorded.Written(p[number-1].Answers[step.Key.Round-1][step.Key.Actor[0]-'a']), 10), nil
}

// cells returns the cells of the row of a table in docs/measured/voting.md, below a heading and beginning with a name.
func cells(t *testing.T, page, heading, name string) []string {
	t.Helper()
	_, part, found := strings.Cut(page, "\n## "+heading+"\n")
	require.True(t, found, heading)
	for line := range strings.Lines(part) {
		if rest, is := strings.CutPrefix(line, "| "+name+" | "); is {
			return strings.Split(strings.TrimSuffix(strings.TrimSpace(rest), " |"), " | ")
		}
	}
	t.Fatalf("docs/measured/voting.md has no row %q below %q", name, heading)
	return nil
}

// A provider that replays recorded answers gives what docs/measured/voting.md says, which was computed without debates.
func TestRecordedAnswersGiveTheTablesOfVoting(t *testing.T) {
	all := recorded.Lines[recorded.Votes](t, "vote-answers.jsonl")
	text, err := os.ReadFile("../docs/measured/voting.md")
	require.NoError(t, err)
	kinds := map[string][]eval.Task{}
	for i, q := range all {
		kind := map[string]string{"gsm": "GSM8K", "mml": "MMLU", "mat": "arithmetic"}[q.Set[:3]]
		if q.Agents == 2 {
			kind = "arithmetic, two agents"
		}
		task := eval.Task{ID: strconv.Itoa(i + 1), Topic: fmt.Sprintf("Q%d: the recorded question", i+1), Gold: []string{recorded.Written(q.Gold)}}
		if _, isLetter := q.Gold.(string); isLetter {
			task.Choices = []string{"the first", "the second", "the third", "the fourth"}
		}
		kinds[kind] = append(kinds[kind], task)
	}
	require.Len(t, kinds, 4)
	for kind, tasks := range kinds {
		t.Run(kind, func(t *testing.T) { compareToVoting(t, string(text), kind, tasks, all) })
	}
}

func compareToVoting(t *testing.T, page, kind string, tasks []eval.Task, all replayed) {
	first, err := strconv.Atoi(tasks[0].ID)
	require.NoError(t, err)
	q := all[first-1]
	variant := func(name string, rounds int, p vote.Protocol) eval.Arm {
		p.Extract = "{{extract}}"
		c := debate.Config{Protocol: p, Limits: debate.Limits{MaxRounds: rounds}}
		for _, name := range []string{"a", "b", "c"}[:q.Agents] {
			c.Participants = append(c.Participants, debate.Participant{Name: name, Model: "m"})
		}
		return arm(t, name, c)
	}
	e := eval.Evaluation{Name: kind, Tasks: tasks, Budget: eval.NoBudget, Arms: []eval.Arm{
		variant("first", 1, vote.Protocol{}),
		variant("last", len(q.Answers), vote.Protocol{}),
		variant("prevent", len(q.Answers), vote.Protocol{Unanimity: vote.Prevent}),
		variant("stop", len(q.Answers), vote.Protocol{Unanimity: vote.Stop}),
		variant("conditional", len(q.Answers), vote.Protocol{Conditional: true}),
	}}
	p, err := e.Run(t.Context(), options(all))
	require.NoError(t, err)
	right := cells(t, page, "Right answers", kind)
	calls := cells(t, page, "Calls", kind)
	changed := cells(t, page, "Conditional participation and the filter", kind)
	require.Equal(t, right[0], strconv.Itoa(len(tasks)))
	for i, a := range p.Arms {
		require.Equal(t, len(tasks), a.Runs, "%s: %s", a.Name, a.Failures)
		accuracy, total := fmt.Sprintf("%.3f [%.2f, %.2f]", a.Accuracy.Value, a.Accuracy.Low, a.Accuracy.High), strconv.Itoa(int(a.Calls*float64(a.Runs)+0.5))
		if a.Name == "conditional" {
			require.Equal(t, []string{changed[0], changed[1], changed[2]}, []string{accuracy, strconv.Itoa(a.Ties), total}, a.Name)
			continue
		}
		require.Equal(t, right[1+2*i:3+2*i], []string{accuracy, strconv.Itoa(a.Ties)}, a.Name)
		if i > 0 {
			require.Equal(t, calls[1+i], total, a.Name)
		}
	}
	d, chance := p.Differences[0], "< 0.001"
	if d.P >= 0.001 {
		chance = fmt.Sprintf("%.3f", d.P)
	}
	interval := fmt.Sprintf("%+.3f [%+.3f, %+.3f]", d.Interval.Value, d.Interval.Low, d.Interval.High)
	require.Equal(t, cells(t, page, "Differences", kind)[2:], []string{interval, strconv.Itoa(d.Better), strconv.Itoa(d.Worse), chance})
	raw, err := json.Marshal(p)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "null")
}
