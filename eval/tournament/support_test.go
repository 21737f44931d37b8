package tournament_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"sync"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval/tournament"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// skills are what the simulated models add to their scores.
var skills = map[string]float64{"strong-1": 2, "middle-2": .6, "weak-3": -1, "poor-4": -1.6, "new-5": .9}

// arena holds simulated models. A player's speech names its model, and a judge scores the models by their skills, with luck
// that depends on the debate, and leans toward PRO.
type arena struct {
	mu    sync.Mutex
	calls map[string]int // by debate and step
	fail  func(providers.Request) error
	reply string // of judges, in place of a judgment
}

var (
	speech = regexp.MustCompile(`begin: (Debater [AB]), round \d+>>>\nI am (\S+)\.`)
	onPro  = regexp.MustCompile(`- (Debater [AB]), side: pro`)
)

func (a *arena) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	step, _ := debate.StepFrom(ctx)
	a.mu.Lock()
	if a.calls == nil {
		a.calls = map[string]int{}
	}
	a.calls[step.Debate+" "+step.Key.String()]++
	fail := a.fail
	a.mu.Unlock()
	if fail != nil {
		if err := fail(r); err != nil {
			return providers.Response{}, err
		}
	}
	usage := transcript.Usage{Input: 100, Output: 10}
	if r.SchemaName == "" {
		return providers.Response{Text: "I am " + r.Model + ".", Usage: usage, FinishReason: "stop"}, nil
	}
	if a.reply != "" {
		return providers.Response{Text: a.reply, Usage: usage, FinishReason: "stop"}, nil
	}
	text, err := json.Marshal(judgment(step.Debate, r))
	return providers.Response{Text: string(text), Usage: usage, FinishReason: "stop"}, err
}

// judgment returns the reply of a judge to a debate.
func judgment(id string, r providers.Request) procon.Judgment {
	all := ""
	for _, m := range r.Messages {
		all += m.Text + "\n"
	}
	scores := map[string]float64{}
	for _, found := range speech.FindAllStringSubmatch(all, -1) {
		scores[found[1]] = 5 + skills[found[2]]
	}
	scores[onPro.FindStringSubmatch(all)[1]] += 4*debatetest.Chance(id) + 2*debatetest.Chance(id, r.Model) - 2.5
	j := procon.Judgment{Summary: "It was close."}
	best := ""
	for _, name := range []string{"Debater A", "Debater B"} {
		scores[name] = math.Round(10*min(10, max(0, scores[name]))) / 10
		j.Participants = append(j.Participants, procon.ParticipantScore{Name: name, Score: scores[name]})
	}
	if d := scores["Debater A"] - scores["Debater B"]; d > 0 {
		best = "Debater A"
	} else if d < 0 {
		best = "Debater B"
	}
	j.Winner = best
	return j
}

// total returns the number of calls, and the largest number for one step.
func (a *arena) total() (sum, most int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.calls {
		sum += n
		most = max(most, n)
	}
	return sum, most
}

// players returns players or judges whose names are those of models.
func players(models ...string) (list []tournament.Player) {
	for _, m := range models {
		list = append(list, tournament.Player{Participant: debate.Participant{Name: m, Model: m}})
	}
	return list
}

func motions(n int) (list []tournament.Motion) {
	for i := range n {
		list = append(list, tournament.Motion{ID: fmt.Sprint(i + 1), Topic: fmt.Sprintf("Is claim %d right?", i+1)})
	}
	return list
}

// spring returns a tournament of four players on five motions: 60 games of three calls with one round and one judge.
func spring() tournament.Tournament {
	t := tournament.Tournament{Name: "spring", Players: players("strong-1", "middle-2", "weak-3", "poor-4"), Judges: players("judge-x"), Motions: motions(5), Concurrency: 3}
	t.Config.Limits.MaxRounds = 1
	t.Config.Prices = price.Prices{"strong-1": {Input: 5, Output: 50}, "middle-2": {Input: 1, Output: 10}, "weak-3": {Input: 2, Output: 20}, "poor-4": {Input: .5, Output: 5}, "new-5": {Input: 1, Output: 10}, "judge-x": {Input: 1, Output: 1}, "judge-y": {Input: 1, Output: 1}}
	return t
}

// kept returns options with a store that several tournaments use.
func kept(m providers.Provider) debate.Options {
	return debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"m": m}}
}
