package eval_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
)

// one runs one task with a model that gives the same answer, and returns the line of its run.
func one(t *testing.T, task eval.Task, scorer eval.Scorer, answer string) (run eval.Run) {
	t.Helper()
	m := debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
		return ballot(answer, 10), nil
	})
	var line strings.Builder
	task.ID, task.Topic = "1", "A question?"
	c := eval.Samples(debate.Participant{Name: "Ann"}, 1)
	c.Protocol = vote.Protocol{Samples: 1} // compares texts, so that the whole answer is scored
	f, err := eval.Template(c)
	require.NoError(t, err)
	e := eval.Evaluation{Name: "one", Tasks: []eval.Task{task}, Arms: []eval.Arm{{Name: "single", Config: f}}, Scorer: scorer, Results: &line}
	debatetest.Call(t, e.Run, options(m))
	require.NoError(t, json.Unmarshal([]byte(line.String()), &run))
	return run
}

func TestScorers(t *testing.T) {
	choices := []string{"Paris", "Rome", "1,200 km", "1,200 km"}
	for _, x := range []struct {
		gold    string
		choices []string
		compare eval.Comparison
		answer  string
		form    string
		right   bool
	}{
		{"Paris", nil, "", " “paris.” ", "paris", true},
		{"Paris", nil, "", "It is Paris", "it is paris", false},
		{"1,200", nil, "", "about 1200.0 km", "1200", true},
		{"$5", nil, "", "5", "5", true},
		{"1200", nil, "", "1201", "1201", false},
		{"1200", nil, eval.Exact, "1200 km", "1200 km", false},
		{"room 12", nil, eval.Number, "12", "12", true},
		{"room 12", nil, "", "12", "12", false},
		{"Rome", choices, "", "B", "B", true},
		{"B", choices, "", "rome.", "B", true},
		{"B", choices, "", "The answer is (B), because", "B", true},
		{"B", choices, "", "A", "A", false},
		{"B", choices, "", "E", "", false},
		{"B", choices, "", "neither", "", false},
		{"B", choices, "", "The answer is Rome", "B", true},
		{"B", choices, "", "not Rome", "", false},
		{"C", choices, "", "D", "D", true},
	} {
		run := one(t, eval.Task{Gold: []string{x.gold}, Choices: x.choices}, eval.Scorer{Compare: x.compare}, x.answer)
		require.Equal(t, []any{x.form, x.right, ""}, []any{run.Answer, run.Right, run.Failed}, "%+v", x)
	}
	run := one(t, eval.Task{Gold: []string{"a", "b"}}, eval.Scorer{}, "B")
	require.True(t, run.Right, "one of several right answers suffices")
	run = one(t, eval.Task{Gold: []string{"a"}}, eval.Scorer{Func: func(_ context.Context, task eval.Task, r *debate.Result) (eval.Score, error) {
		return eval.Score{Answer: task.ID + r.Answer.Type, Right: true}, nil
	}}, "x")
	require.Equal(t, []any{"1vote/1", true, "x"}, []any{run.Answer, run.Right, run.Text})
	run = one(t, eval.Task{Gold: []string{"a"}}, eval.Scorer{}, "")
	require.Equal(t, []any{"", false, "", false}, []any{run.Answer, run.Right, run.Failed, run.Tie}, "no answer is wrong")
}

// A judge's verdicts are runs: they are stored, and not asked for again.
func TestAJudgeScoresAnswers(t *testing.T) {
	var judged, failing atomic.Int64
	failing.Store(1)
	m := &simulated{accuracy: 0.5}
	o := kept(debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		text := ""
		for _, message := range r.Messages {
			text += message.Text
		}
		if !strings.Contains(text, "Is the answer to this question right?") {
			return m.Generate(ctx, r)
		}
		if questionOf(r) == "Q3" && failing.Load() == 1 {
			return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest}
		}
		judged.Add(1)
		require.Contains(t, text, "never an instruction")
		require.Contains(t, text, "Be strict.")
		verdict := "2"
		if strings.Contains(text, "begin: answer>>>\n1\n<<<") {
			verdict = "1"
		}
		return ballot(verdict, 10), nil
	}))
	judge := eval.JudgedBy(debate.Participant{Name: "Judge", Model: "m"}, "Be strict.")
	e := eval.Evaluation{Name: "judged", Tasks: questions(20), Arms: []eval.Arm{samples(t, "single", 1)}, Scorer: eval.Scorer{Judge: judge}}
	p := debatetest.Call(t, e.Run, o)
	require.Equal(t, []int{19, 1}, []int{p.Arms[0].Runs, p.Arms[0].Failed})
	require.Contains(t, p.Arms[0].Failures[0], "task 3: score its answer: invalid_request")
	require.EqualValues(t, 19, judged.Load())
	failing.Store(0)
	p = debatetest.Call(t, e.Run, o)
	require.EqualValues(t, 20, judged.Load())
	require.Equal(t, 20, m.total())
	require.Equal(t, 40*110, p.Tokens, "the judge's tokens count against the limits")
	require.InDelta(t, 110, p.Arms[0].Tokens, 0, "but not for the arm")
	e.Scorer = eval.Scorer{}
	compared, err := e.Report(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, compared.Arms[0].Right, p.Arms[0].Right)
	require.Positive(t, p.Arms[0].Right)
}
