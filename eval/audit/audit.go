package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	rundebates "github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/protocol/pairwise"
	"github.com/elenchus-go/debate/report/progress"
)

// Judge is what an audit measures: a model with its prompts.
type Judge struct {
	// Name identifies the judge. Use letters, digits, '.', '_' and '-', with a letter first.
	Name string
	// Config has one judge, of whose name models hear; it defaults to Judge. Its prices, prompts, limits, retries and background
	// apply, too. The audit sets the topic, the reference and the protocol.
	Config debate.Config
	// Family is the family of the models whose answers the judge may prefer. Defaults to the [Family] of its model.
	Family string
}

// Audit measures judges on pairs. Its runs are debates in a store, with the labels of an evaluation.
type Audit struct {
	// Name identifies the audit in its store. Use at most 128 bytes without control characters.
	Name   string
	Pairs  []Pair // with gold labels
	Judges []Judge
	// Plants are put into answers, one at a time. Each costs as much as the pairs themselves: two calls for a pair.
	Plants []Plant
	// Repeats is how often each judge is asked about each pair, for its consistency. Defaults to 1, which measures none.
	Repeats int
	// Challenge objects to each decision, and asks again whether it stands. It costs two calls for a pair.
	Challenge bool
	// Target is the share of right decisions from which several judges may decide alone; see agreement.Calibrate. If it is 0,
	// there is no calibration.
	Target float64
	// MaxCost, MaxTokens, Concurrency, Progress and Stop are those of [eval.Evaluation]. What it calls a task is a pair, a pair
	// with a plant, or a repeat.
	MaxCost     float64
	MaxTokens   int
	Concurrency int
	Progress    func(progress.Tasks)
	Stop        <-chan struct{}
	// Results receives a line of JSON for each judge and pair: an agreement.Item with the decisions of that judge.
	Results io.Writer
}

// check returns everything that is wrong with the audit.
func (a *Audit) check() error {
	wrong := checkPairs(a.Pairs, true)
	if len(a.Judges) == 0 {
		wrong = append(wrong, errors.New("judges: there are none"))
	}
	for i, j := range a.Judges {
		if len(j.Config.Judges) != 1 {
			wrong = append(wrong, fmt.Errorf("judges[%d]: config: it has %d judges, want 1", i, len(j.Config.Judges)))
		}
	}
	for i, p := range a.Plants {
		if !slices.Contains(Plants, p) || slices.Contains(a.Plants[:i], p) {
			wrong = append(wrong, fmt.Errorf("plants[%d]: %q is unknown or there twice, use each of %q once", i, p, Plants))
		}
	}
	if a.Repeats < 0 || a.Repeats > 100 {
		wrong = append(wrong, fmt.Errorf("repeats: %d, use 1 to 100", a.Repeats))
	}
	if a.Target < 0 || a.Target >= 1 {
		wrong = append(wrong, fmt.Errorf("target: %v, use a number between 0 and 1", a.Target))
	}
	return rundebates.Check("audit", wrong)
}

// variant is a pair as a judge sees it in one run.
type variant struct {
	Pair
	of     int // index of the pair
	plant  Plant
	repeat int // from 2; 0 for the first time
}

// variants returns the pairs, and then the pairs with plants and the repeats, by the id of their tasks.
func (a *Audit) variants() (ids []string, byID map[string]variant) {
	byID = map[string]variant{}
	add := func(id string, v variant) {
		ids = append(ids, id)
		byID[id] = v
	}
	for i, p := range a.Pairs {
		add(p.ID, variant{Pair: p, of: i})
		for _, plant := range a.Plants {
			add(p.ID+"+"+string(plant), variant{Pair: plant.into(p), of: i, plant: plant})
		}
		for n := 2; n <= a.Repeats; n++ {
			add(fmt.Sprintf("%s+%d", p.ID, n), variant{Pair: p, of: i, repeat: n})
		}
	}
	return ids, byID
}

// evaluation returns the evaluation whose runs are those of the audit. decided is called with the decisions of each run that has
// any.
func (a *Audit) evaluation(decided func(run string, x pairwise.Result)) eval.Evaluation {
	ids, byID := a.variants()
	e := eval.Evaluation{
		Name: a.Name, Budget: eval.NoBudget, MaxCost: a.MaxCost, MaxTokens: a.MaxTokens, Concurrency: a.Concurrency, Progress: a.Progress, Stop: a.Stop,
		Scorer: eval.Scorer{Func: func(_ context.Context, t eval.Task, r *debate.Result) (eval.Score, error) {
			x, err := pairwise.DecodeAnswer(r.Answer)
			if err != nil {
				return eval.Score{}, nil //nolint:nilerr // it ended without decisions, as after a limit
			}
			decided(r.ID, x)
			return eval.Score{Answer: string(x.Winner), Right: string(x.Winner) == t.Gold[0]}, nil
		}},
	}
	for _, id := range ids {
		e.Tasks = append(e.Tasks, eval.Task{ID: id, Topic: byID[id].Question, Gold: []string{string(byID[id].Gold)}})
	}
	for _, j := range a.Judges {
		e.Arms = append(e.Arms, eval.Arm{Name: j.Name, Config: func(t eval.Task) debate.Config { return a.config(j, byID[t.ID]) }})
	}
	return e
}

// config returns the debate in which a judge compares the answers of a pair.
func (a *Audit) config(j Judge, v variant) debate.Config {
	c := j.Config
	c.Topic, c.Participants = v.Question, nil
	c.Protocol = pairwise.Protocol{A: v.A, B: v.B, Challenge: a.Challenge && v.plant == "" && v.repeat == 0}
	c.Judges = slices.Clone(c.Judges)
	c.Judges[0].Name = cmp.Or(c.Judges[0].Name, "Judge")
	c.Reference = v.Reference
	return c
}

// runs collects the lines that an evaluation writes.
type runs struct {
	results map[string]pairwise.Result
	list    []eval.Run
}

// Write reads a line.
func (w *runs) Write(line []byte) (int, error) {
	var r eval.Run
	if err := json.Unmarshal(line, &r); err != nil {
		return 0, fmt.Errorf("read run: %w", err)
	}
	if _, ok := w.results[r.ID]; !ok && r.Failed == "" {
		r.Failed = "it ended without a decision"
	}
	w.list = append(w.list, r)
	return len(line), nil
}

// seen is what was seen of a judge.
type seen struct {
	pairs    []observed
	failed   int
	failures []string // the first ones
	tokens   int
	cost     float64
}

// collect returns what was seen of each judge, in order. Pairs whose first run failed are left out.
func (a *Audit) collect(list []eval.Run, results map[string]pairwise.Result) []seen {
	_, byID := a.variants()
	all := make([]seen, len(a.Judges))
	byPair := make([]map[int]*observed, len(all))
	for i := range all {
		byPair[i] = map[int]*observed{}
	}
	for _, r := range list {
		at := slices.IndexFunc(a.Judges, func(j Judge) bool { return j.Name == r.Arm })
		s, v := &all[at], byID[r.Task]
		s.tokens, s.cost = s.tokens+r.Usage.Input+r.Usage.Output, s.cost+r.Usage.Cost
		if r.Missing {
			continue
		}
		if r.Failed != "" {
			s.failed++
			if len(s.failures) < 5 {
				s.failures = append(s.failures, fmt.Sprintf("pair %s: %s", r.Task, r.Failed))
			}
			continue
		}
		name := cmp.Or(a.Judges[at].Config.Judges[0].Name, "Judge")
		var d decisions
		copy(d[:], results[r.ID].Decisions[name])
		x := byPair[at][v.of]
		if x == nil {
			x = &observed{pair: a.Pairs[v.of], planted: map[Plant]decisions{}}
			byPair[at][v.of] = x
		}
		switch {
		case v.plant != "":
			x.planted[v.plant] = d
		case v.repeat > 0:
			x.repeats = append(x.repeats, d)
		default:
			x.decisions, x.judged = d, true
			copy(x.challenged[:], results[r.ID].Challenged[name])
		}
	}
	for at, pairs := range byPair {
		for i := range a.Pairs {
			if x := pairs[i]; x != nil && x.judged {
				all[at].pairs = append(all[at].pairs, *x)
			}
		}
	}
	return all
}

// items returns the decisions of all judges about the pairs.
func (a *Audit) items(all []seen) []agreement.Item {
	items, at := make([]agreement.Item, len(a.Pairs)), map[string]int{}
	for i, p := range a.Pairs {
		items[i] = agreement.Item{ID: p.ID, Group: p.Group, Gold: p.Gold, Decisions: map[string][]agreement.Decision{}}
		at[p.ID] = i
	}
	for n, s := range all {
		for _, x := range s.pairs {
			items[at[x.pair.ID]].Decisions[a.Judges[n].Name] = x.decisions[:]
		}
	}
	return items
}

// write writes the decisions of each judge.
func (a *Audit) write(all []seen) error {
	if a.Results == nil {
		return nil
	}
	for _, i := range a.items(all) {
		line, err := json.Marshal(i)
		if err == nil {
			_, err = a.Results.Write(append(line, '\n'))
		}
		if err != nil {
			return fmt.Errorf("write decisions about pair %s: %w", i.ID, err)
		}
	}
	return nil
}

// names returns the names of the judges.
func (a *Audit) names() (list []string) {
	for _, j := range a.Judges {
		list = append(list, j.Name)
	}
	return list
}

// family returns the family of a judge's model.
func (j Judge) family() string {
	return cmp.Or(strings.ToLower(j.Family), Family(j.Config.Judges[0].Model))
}
