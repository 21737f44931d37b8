package eval_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// simulated is a model that answers questions such as "Q12: …" with the number 1 if it is right, or else with 0. It is right
// with the given probability. With the probability common, all answers to a question are the same.
type simulated struct {
	accuracy, common float64
	tokens           int // of each reply; defaults to 10

	mu    sync.Mutex
	calls map[string]int // by debate and step
}

func (m *simulated) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	step, ok := debate.StepFrom(ctx)
	if !ok {
		return providers.Response{}, fmt.Errorf("no step")
	}
	who := step.Debate + " " + step.Key.String()
	m.mu.Lock()
	if m.calls == nil {
		m.calls = map[string]int{}
	}
	m.calls[who]++
	m.mu.Unlock()
	question := questionOf(r)
	draw := debatetest.Chance("all", question)
	if debatetest.Chance("common", question) >= m.common {
		draw = debatetest.Chance("one", who, question)
	}
	answer := "0"
	if draw < m.accuracy {
		answer = "1"
	}
	return ballot(answer, max(m.tokens, 10)), nil
}

// ballot returns a vote for an answer.
func ballot(answer string, tokens int) providers.Response {
	text, _ := json.Marshal(vote.Ballot{Answer: answer, Confidence: 50})
	return providers.Response{Text: string(text), Usage: transcript.Usage{Input: 100, Output: tokens}, FinishReason: "stop"}
}

// questionOf returns the "Q12" of a request.
func questionOf(r providers.Request) string {
	all := ""
	for _, m := range r.Messages {
		all += "\n" + m.Text
	}
	at := strings.Index(all, "Q")
	for ; at >= 0; at++ {
		if n := strings.IndexFunc(all[at+1:], func(c rune) bool { return c < '0' || c > '9' }); all[at] == 'Q' && n > 0 {
			return all[at : at+1+n]
		}
	}
	return ""
}

// total returns the number of calls.
func (m *simulated) total() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, calls := range m.calls {
		n += calls
	}
	return n
}

// questions returns n tasks whose right answer is 1.
func questions(n int) (tasks []eval.Task) {
	for i := range n {
		tasks = append(tasks, eval.Task{ID: fmt.Sprint(i + 1), Topic: fmt.Sprintf("Q%d: is it 0 or 1?", i+1), Gold: []string{"1"}})
	}
	return tasks
}

var prices = price.Prices{"m": {Input: 1, Output: 10}}

// samples returns an arm of k answers of one model.
func samples(t testing.TB, name string, k int) eval.Arm {
	return arm(t, name, eval.Samples(debate.Participant{Name: "Ann", Model: "m"}, k))
}

// arm returns the arm of a template.
func arm(t testing.TB, name string, c debate.Config) eval.Arm {
	t.Helper()
	c.Prices = prices
	f, err := eval.Template(c)
	require.NoError(t, err)
	return eval.Arm{Name: name, Config: f}
}

func options(m providers.Provider) debate.Options {
	return debate.Options{Providers: map[string]providers.Provider{"m": m}}
}

// majority returns the probability that most of k independent answers are right, each with the probability p.
func majority(p float64, k int) (sum float64) {
	for right := k/2 + 1; right <= k; right++ {
		choose := 1.0
		for i := range right {
			choose *= float64(k-i) / float64(right-i)
		}
		sum += choose * math.Pow(p, float64(right)) * math.Pow(1-p, float64(k-right))
	}
	return sum
}
