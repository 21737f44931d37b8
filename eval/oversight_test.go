package eval_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// quality has two articles in the format of QuALITY. The annotators of the first question hold "wood" for the best
// distractor; those of the second one do not agree.
const quality = `{"article_id": "1", "article": "The bridge of Linden is made of stone. HIDDEN.", "questions": [
 {"question_unique_id": "q1", "question": "What is the bridge made of?", "options": ["straw", "stone", "wood", "iron"], "gold_label": 2,
  "validation": [{"untimed_best_distractor": 3}, {"untimed_best_distractor": 3}, {"untimed_best_distractor": 1}, {"untimed_best_distractor": 2}]},
 {"question_unique_id": "q2", "question": "Where is it?", "options": ["Linden", "Elm", "Oak", "Ash"], "gold_label": 1,
  "validation": [{"untimed_best_distractor": 2}, {"untimed_best_distractor": 4}]},
 {"question_unique_id": "q3", "question": "Is it long?", "options": ["yes", "no", "perhaps"], "gold_label": 3}]}`

// hiding plays all actors. A judge gives the right answer .9 if it reads the text, .6 if somebody argues, and otherwise .5.
type hiding struct {
	t    testing.TB
	mu   sync.Mutex
	seen map[string][]string // the answers of the judge's prompts, by question
}

func (h *hiding) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	step, _ := debate.StepFrom(ctx)
	var prompt string
	for _, m := range r.Messages {
		prompt += m.Text + "\n"
	}
	text := strings.Repeat("so ", 145)
	switch step.Key.Phase {
	case "choose":
		text = `{"answer": "first"}`
	case "ask":
		text = "Which passage?"
	case "judge":
		_, first, _ := strings.Cut(prompt, "begin: answer 1>>>\n")
		_, second, _ := strings.Cut(prompt, "begin: answer 2>>>\n")
		first, _, _ = strings.Cut(first, "\n")
		second, _, _ = strings.Cut(second, "\n")
		h.mu.Lock()
		q := map[bool]string{true: "q1", false: "other"}[strings.Contains(prompt, "made of?")]
		if strings.Contains(prompt, "Where is it?") {
			q = "q2"
		}
		h.seen[q] = append(h.seen[q], first+" "+second)
		h.mu.Unlock()
		p := .5
		switch {
		case strings.Contains(prompt, "HIDDEN"):
			p = .9
		case strings.Contains(prompt, "argues for"):
			p = .6
		}
		if second == "stone" || second == "Linden" || second == "perhaps" {
			p = 1 - p
		}
		text = fmt.Sprintf(`{"reason": "r", "first": %g, "second": %g}`, p, 1-p)
	default:
		require.Contains(h.t, prompt, "HIDDEN", step.Key.String())
	}
	return providers.Response{Text: text, FinishReason: providers.Stop}, nil
}

func TestOversight(t *testing.T) {
	tasks, err := eval.Format{Name: "quality"}.Read(strings.NewReader(strings.ReplaceAll(quality, "\n", " ")))
	require.NoError(t, err)
	require.Equal(t, []string{"wood"}, tasks[0].Distractors)
	require.Equal(t, []string{"Elm", "Ash"}, tasks[1].Distractors)
	require.Empty(t, tasks[2].Distractors)
	h := &hiding{t: t, seen: map[string][]string{}}
	e := eval.Evaluation{Name: "o", Tasks: tasks, Budget: eval.NoBudget, Against: []string{"direct-text"}, Seed: "s"}
	for name, c := range eval.Oversight() {
		f, err := eval.Template(c)
		require.NoError(t, err)
		e.Arms = append(e.Arms, eval.Arm{Name: name, Config: f})
	}
	p := debatetest.Call(t, e.Run, options(h))
	require.Len(t, p.Arms, 7)
	for _, a := range p.Arms {
		want := map[string]float64{"direct": .5, "direct-text": .9}[a.Name]
		if want == 0 {
			want = .6
		}
		require.Equal(t, 3, a.Runs, "%s: %s", a.Name, a.Failures)
		require.InDelta(t, want, a.Probability.Value, 1e-6, a.Name)
		require.InDelta(t, (1-want)*(1-want), a.Brier.Value, 1e-6, a.Name)
		require.NotNil(t, a.CalibrationError)
		require.Equal(t, map[bool]int{true: 0, false: 3}[a.Name == "direct"], a.Right, a.Name)
		require.InDelta(t, map[bool]float64{true: .5, false: 1}[a.Name == "direct"], a.Accuracy.Value, 1e-9, "who cannot say is right half of the time")
		require.Empty(t, a.Rounds, "a choice is no answer")
	}
	require.Len(t, p.Differences, 6+5, "with direct, and with direct-text")
	for _, d := range p.Differences {
		if d.Arm == "debate" && d.Baseline == "direct-text" {
			require.InDelta(t, .16-.01, d.Brier.Value, 1e-6)
		}
	}
	for _, pair := range h.seen["q1"] {
		require.Contains(t, []string{"stone wood", "wood stone"}, pair)
	}
	require.Regexp(t, "^(Linden (Elm|Ash)|(Elm|Ash) Linden)$", h.seen["q2"][0])
	var b strings.Builder
	require.NoError(t, p.Markdown(&b))
	require.Contains(t, b.String(), "## Probabilities")
	require.Contains(t, b.String(), "Differences of Brier scores")
	require.NotContains(t, b.String(), "HIDDEN")
}

// An evaluation goes on in another process, which has read the file again: it asks for nothing twice. Without the texts, nothing
// goes on.
func TestAnOversightEvaluationGoesOn(t *testing.T) {
	h := &hiding{t: t, seen: map[string][]string{}}
	kept := store.Memory()
	var calls atomic.Int64
	o := debate.Options{Store: kept, Providers: map[string]providers.Provider{"m": debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		calls.Add(1)
		return h.Generate(ctx, r)
	})}}
	read := func() eval.Evaluation {
		tasks, err := eval.Format{Name: "quality"}.Read(strings.NewReader(strings.ReplaceAll(quality, "\n", " ")))
		require.NoError(t, err)
		e := eval.Evaluation{Name: "o", Tasks: tasks, Budget: eval.NoBudget, Seed: "s", Concurrency: 1}
		for name, c := range eval.Oversight() {
			f, err := eval.Template(c)
			require.NoError(t, err)
			e.Arms = append(e.Arms, eval.Arm{Name: name, Config: f})
		}
		return e
	}
	undisturbed := debatetest.Call(t, read().Run, debate.Options{Providers: o.Providers})
	whole := calls.Swap(0)

	refused := 0
	for limit := 1; ; {
		e := read()
		e.MaxTokens = limit
		p := debatetest.Call(t, e.Run, o)
		if p.Incomplete == "" {
			require.Equal(t, withoutTimes(undisturbed), withoutTimes(p))
			break
		}
		limit = p.Tokens + 5000

		engine, err := debate.NewEngine(o) // without the texts
		require.NoError(t, err)
		for _, s := range debatetest.List(t, engine, store.Query{States: []fsm.State{fsm.Paused}}) {
			if s.Labels["arm"] == "direct" {
				continue // it has no text
			}
			d, err := engine.Open(t.Context(), s.ID)
			require.NoError(t, err)
			before := calls.Load()
			err = d.Resume(t.Context())
			if err == nil {
				_, err = d.RunOnce(t.Context())
			}
			require.Equal(t, before, calls.Load())
			if err != nil {
				require.ErrorIs(t, err, debate.ErrUnsupported)
				refused++
			} // otherwise no step was left
		}
	}
	require.Greater(t, refused, 3)
	require.Equal(t, whole, calls.Load(), "nothing was asked for twice")
}

// Without distractors, the wrong answer is any wrong choice, and the right one stands in each place, over the seeds.
func TestTheWrongAnswerIsDrawnFromAllWrongChoices(t *testing.T) {
	f, err := eval.Template(debate.Config{Topic: "{{a}}/{{b}}"})
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		task eval.Task
		want []string
	}{
		"no distractor":    {eval.Task{Choices: []string{"w", "x", "y", "z"}, Gold: []string{"y"}}, []string{"w/y", "x/y", "y/w", "y/x", "y/z", "z/y"}},
		"by letter":        {eval.Task{Choices: []string{"w", "x", "y", "z"}, Gold: []string{"D"}}, []string{"w/z", "x/z", "y/z", "z/w", "z/x", "z/y"}},
		"two right ones":   {eval.Task{Choices: []string{"w", "x", "y"}, Gold: []string{"y", "w"}}, []string{"x/y", "y/x"}},
		"one distractor":   {eval.Task{Choices: []string{"w", "x", "y", "z"}, Gold: []string{"y"}, Distractors: []string{"x"}}, []string{"x/y", "y/x"}},
		"two distractors":  {eval.Task{Choices: []string{"w", "x", "y", "z"}, Gold: []string{"y"}, Distractors: []string{"x", "w"}}, []string{"w/y", "x/y", "y/w", "y/x"}},
		"no wrong choices": {eval.Task{Gold: []string{"y"}}, []string{"/"}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.task.ID, tt.task.Topic = "1", "Which?"
			counts := map[string]int{}
			const seeds = 120
			for i := range seeds {
				e := eval.Evaluation{Name: "drawn", Tasks: []eval.Task{tt.task}, Arms: []eval.Arm{{Name: "a", Config: f}}, Seed: fmt.Sprint("seed ", i)}
				counts[drawnTopic(t, e)]++
			}
			require.ElementsMatch(t, tt.want, slices.Collect(maps.Keys(counts)))
			for pair, n := range counts {
				require.Greater(t, n, seeds/len(tt.want)/2, "%s is drawn as often as the others", pair)
			}
		})
	}
}

// drawnTopic returns the topic of the only run of an evaluation.
func drawnTopic(t *testing.T, e eval.Evaluation) (topic string) {
	t.Helper()
	config := e.Arms[0].Config
	e.Arms[0].Config = func(task eval.Task) debate.Config {
		topic = config(task).Topic
		return debate.Config{}
	}
	_, err := e.Run(t.Context(), options(&simulated{}))
	require.ErrorContains(t, err, "topic: ", "a run is not needed")
	return topic
}
