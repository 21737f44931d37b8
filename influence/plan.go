package influence

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Plan says what an analysis asks before it asks anything. Calls that have to be repeated, such as after an error or for a
// reply that is not valid, come on top.
type Plan struct {
	Stages []Stage `json:"stages"`
	Calls  int     `json:"calls"` // of all stages
	// Tokens and Cost are estimates: what the same calls took in the debate. Cost is 0 if a price is unknown.
	Tokens int     `json:"tokens"`
	Cost   float64 `json:"cost"`

	first bool // the first stage is to find the largest items
	pair  bool // the last stage has two items together
}

// Stage is a part of an analysis whose samples are made together.
type Stage struct {
	Items   int `json:"items"` // left out one at a time; two together count as one
	Samples int `json:"samples"`
	Calls   int `json:"calls"`
	// Each is the number of calls of a sample. In continued debates it is 0: each item has its own.
	Each int `json:"each,omitempty"`
}

// String returns the plan in words, with the formula, such as "(9 items + 1) × 20 samples × 4 calls = 800 calls".
func (p Plan) String() string {
	var parts []string
	for _, s := range p.Stages {
		if s.Each == 0 {
			parts = append(parts, fmt.Sprintf("%s × 2 × %s × the calls that follow = about %s calls", runs.Plural(s.Items, "item"), runs.Plural(s.Samples, "sample"), runs.Thousands(s.Calls)))
			continue
		}
		parts = append(parts, fmt.Sprintf("(%s + 1) × %s × %s = %s calls", runs.Plural(s.Items, "item"), runs.Plural(s.Samples, "sample"), runs.Plural(s.Each, "call"), runs.Thousands(s.Calls)))
	}
	text := strings.Join(parts, ", then ")
	if len(p.Stages) > 1 {
		text += fmt.Sprintf(": %s calls in all", runs.Thousands(p.Calls))
	}
	text += fmt.Sprintf(", about %s tokens", runs.Thousands(p.Tokens))
	if p.Cost > 0 {
		text += ", cost about " + runs.Money(p.Cost)
	}
	return text
}

// prepare checks the debate, and sets what is sampled.
func (r *runner) prepare() error {
	if r.debate.State != fsm.Completed {
		return fmt.Errorf("it is %s: wait until it has ended", r.debate.State)
	}
	if d, ok := r.config.Protocol.(protocol.Decider); ok {
		r.deciding = d.Deciding()
	}
	for _, t := range r.debate.Turns {
		if slices.Contains(r.deciding, t.Phase) {
			r.calls = append(r.calls, t)
		}
	}
	var known bool
	if r.outcome, known = outcomeOf(r.debate, r.deciding); len(r.calls) == 0 {
		return errors.New("no judge decides it")
	} else if !known || !r.outcome.wins && len(r.outcome.scores) == 0 {
		return fmt.Errorf("its judges neither name a winner nor give scores: the protocol is %s", r.config.Protocol.Name())
	}
	if err := r.checkJudges(); err != nil {
		return err
	}
	if err := r.setItems(); err != nil {
		return err
	}
	r.setStages()
	r.setCost()
	if r.MaxCost > 0 && !r.priced {
		return errors.New("the cost is not known, so the limit of cost cannot hold: give the prices of the judges' models")
	}
	return nil
}

// checkJudges returns an error if the judges cannot be asked several times.
func (r *runner) checkJudges() error {
	if r.Judges != nil && len(r.Judges) != len(r.config.Judges) {
		return fmt.Errorf("judges: there are %d, but it has %d", len(r.Judges), len(r.config.Judges))
	}
	if r.Judges != nil {
		r.config.Judges = r.Judges
	}
	if r.Prices != nil {
		r.config.Prices = r.Prices
	}
	warm := false
	for _, j := range r.config.Judges {
		if j.Human {
			return fmt.Errorf("%s is a person, who would be asked many times: give judges who are models", j.Name)
		}
		warm = warm || j.Temperature == nil || *j.Temperature > 0
	}
	if !warm && !r.Continued {
		return errors.New("the judges have temperature 0, so samples would repeat one another: give them another temperature")
	}
	return nil
}

// setItems sets the items: what is left out one at a time.
func (r *runner) setItems() error {
	given := map[transcript.Key]bool{}
	for _, k := range r.Items.Turns {
		given[k] = true
	}
	chosen := len(r.Items.Turns)+len(r.Items.Seats) > 0
	for _, p := range r.debate.Participants {
		item := Item{Speaker: p.Name}
		for _, t := range r.debate.Turns {
			if t.Kind != transcript.Speech || t.Actor != p.Name || t.Text == "" {
				continue
			}
			item.Keys = append(item.Keys, t.Key)
			if item.Seq == 0 {
				item.Seq = t.Seq
			}
			if !r.Seats && (!chosen || given[t.Key]) {
				r.items = append(r.items, Item{Speaker: p.Name, Round: t.Round, Seq: t.Seq, Keys: []transcript.Key{t.Key}})
				delete(given, t.Key)
			}
		}
		if r.Seats && len(item.Keys) > 0 && (!chosen || slices.Contains(r.Items.Seats, p.Name)) {
			r.items = append(r.items, item)
		}
	}
	for k := range given {
		return fmt.Errorf("items: %s is no turn of a participant", k)
	}
	if want := len(r.Items.Seats); want > 0 && len(r.items) != want {
		return fmt.Errorf("items: %q are not all seats that have said something", r.Items.Seats)
	}
	if len(r.items) == 0 {
		return errors.New("no participant has said anything")
	}
	slices.SortFunc(r.items, func(a, b Item) int { return int(a.Seq - b.Seq) })
	return nil
}

// setStages sets the stages of the plan.
func (r *runner) setStages() {
	add := func(items, samples int) {
		r.plan.Stages = append(r.plan.Stages, Stage{Items: items, Samples: samples, Each: len(r.calls), Calls: (items + 1) * samples * len(r.calls)})
	}
	pairs := 0
	if r.Pairs && len(r.items) > 1 {
		r.plan.pair, pairs = true, 1
	}
	r.plan.first = len(r.items) > r.Largest && len(r.Items.Turns)+len(r.Items.Seats) == 0
	if r.plan.first {
		add(len(r.items), firstSamples)
		add(r.Largest+pairs, r.Samples)
	} else {
		add(len(r.items), r.Samples)
		if pairs > 0 {
			add(pairs, r.Samples)
		}
	}
	for _, s := range r.plan.Stages {
		r.plan.Calls += s.Calls
	}
}

// setCost sets what the calls of the plan take and cost: as much as they did in the debate.
func (r *runner) setCost() {
	var one transcript.Usage
	r.priced = true
	for _, t := range r.calls {
		u := t.Usage
		at := slices.IndexFunc(r.config.Judges, func(j debate.Participant) bool { return j.Name == t.Actor })
		if p, known := r.config.Prices.Lookup(r.modelOf(at)); known {
			u.Cost = p.Cost(u)
		} else {
			r.priced = r.priced && u.Cost > 0 && r.Judges == nil
		}
		one = one.Add(u)
	}
	samples := r.plan.Calls / len(r.calls)
	r.plan.Tokens = samples * (one.Input + one.Output)
	if r.priced {
		r.plan.Cost = float64(samples) * one.Cost
	}
}

// modelOf returns the model of a judge.
func (r *runner) modelOf(judge int) string {
	if judge < 0 {
		return ""
	}
	return r.config.Judges[judge].Model
}
