package influence_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval/influence"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// court holds simulated models. The turns of a debate have planted weights: a judge scores a participant by the sum of the weights
// that it reads, with luck that depends on the sample, and leans toward the one it sees first. The weight of an argument counts once.
type court struct {
	weights map[string][]weight // by participant, of each round
	luck    float64             // how far the scores of a sample may be from the sum, at most
	lean    float64

	mu    sync.Mutex
	calls map[string]int // by debate and step
	after func(calls int)
	fail  func(debate.Step, providers.Request) error
}

// weight holds an argument and what it adds to the score.
type weight struct {
	argument string
	points   float64
}

var argued = regexp.MustCompile(`begin: (Debater [AB]), round \d+>>>\nArgument (\w+) is worth (-?[\d.]+) points\.`)

func (c *court) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	step, _ := debate.StepFrom(ctx)
	c.mu.Lock()
	if c.calls == nil {
		c.calls = map[string]int{}
	}
	c.calls[step.Debate+" "+step.Key.String()]++
	n := 0
	for _, k := range c.calls {
		n += k
	}
	after, fail := c.after, c.fail
	c.mu.Unlock()
	if after != nil {
		after(n)
	}
	if err := ctx.Err(); err != nil {
		return providers.Response{}, err
	}
	if fail != nil {
		if err := fail(step, r); err != nil {
			return providers.Response{}, err
		}
	}
	x := providers.Response{Usage: transcript.Usage{Input: 100, Output: 10}, FinishReason: "stop"}
	if r.SchemaName == "" {
		w := c.weights[step.Key.Actor][step.Key.Round-1]
		x.Text = fmt.Sprintf("Argument %s is worth %v points.", w.argument, w.points)
		return x, nil
	}
	text, err := json.Marshal(c.judgment(step, r))
	x.Text = string(text)
	return x, err
}

// judgment returns what a judge says of the turns in its prompt.
func (c *court) judgment(step debate.Step, r providers.Request) procon.Judgment {
	all := ""
	for _, m := range r.Messages {
		all += m.Text + "\n"
	}
	scores, seen := map[string]float64{"Debater A": 5 + c.lean, "Debater B": 5}, map[string]bool{}
	for _, found := range argued.FindAllStringSubmatch(all, -1) {
		points, _ := strconv.ParseFloat(found[3], 64)
		if key := found[1] + found[2]; !seen[key] {
			scores[found[1]] += points
			seen[key] = true
		}
	}
	scores["Debater A"] += c.luck * (2*(debatetest.Chance(step.Debate, step.Key.Actor, 1)+debatetest.Chance(step.Debate, step.Key.Actor, 2)+debatetest.Chance(step.Debate, step.Key.Actor, 3)) - 3)
	j := procon.Judgment{Summary: "It was close."}
	best := -1.
	for _, name := range []string{"Debater A", "Debater B"} {
		score := math.Round(10*min(10, max(0, scores[name]))) / 10
		j.Participants = append(j.Participants, procon.ParticipantScore{Name: name, Score: score})
		if score > best {
			j.Winner, best = name, score
		}
	}
	return j
}

// total returns the number of calls, and the number of those that repeat a step.
func (c *court) total() (sum, repeated int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.calls {
		sum += n
		repeated += n - 1
	}
	return sum, repeated
}

// forget begins to count again.
func (c *court) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = nil
}

// plain returns weights of arguments that differ.
func plain(points ...float64) (list []weight) {
	for i, p := range points {
		list = append(list, weight{fmt.Sprintf("x%d", i), p})
	}
	return list
}

// decided runs a debate of Ada and Bo, of whom each speaks once in each round, and two judges decide. It returns options with its store.
func decided(t *testing.T, c *court, change ...func(*debate.Config)) (debate.Options, *debate.Result) {
	t.Helper()
	o := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"m": c}}
	cfg := debate.Config{
		ID: "cars", Topic: "Should cities ban cars?", Protocol: procon.Protocol{},
		Participants: []debate.Participant{{Name: "Ada", Side: "pro", Position: "For.", Model: "x"}, {Name: "Bo", Side: "con", Position: "Against.", Model: "x"}},
		Judges:       []debate.Participant{{Name: "J", Model: "y"}, {Name: "K", Model: "y"}},
		Labels:       map[string]string{"eval": "mine"},
		Prices:       price.Prices{"x": {Input: 1, Output: 1}, "y": {Input: 1, Output: 1}},
	}
	cfg.Limits.MaxRounds = len(c.weights["Ada"])
	for _, f := range change {
		f(&cfg)
	}
	e := debatetest.Engine(t, o)
	d := debatetest.Create(t, e, cfg)
	r := debatetest.RunResult(t, d)
	require.NoError(t, e.Close(t.Context()))
	c.forget()
	return o, r
}

// samples returns the debates that an analysis has made.
func samples(t *testing.T, o debate.Options) (list []store.Status) {
	t.Helper()
	return debatetest.List(t, o.Store, store.Query{Labels: map[string]string{"influence": "cars"}})
}

// named returns the items that a report shows to matter, the largest first as the summary has them.
func named(p *influence.Report) (list []string) {
	for _, s := range p.Summary {
		if rest, ok := strings.CutPrefix(s, "Without "); ok {
			name, _, _ := strings.Cut(rest, ",")
			list = append(list, name)
		}
	}
	return list
}
