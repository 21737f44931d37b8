package influence

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// runner makes the samples of an analysis.
type runner struct {
	Analysis
	*runs.Runner

	debate   *debate.Result
	config   debate.Config
	deciding []string
	outcome  outcome // of the debate
	items    []Item
	calls    []transcript.Turn // of those who decide
	plan     Plan
	priced   bool // the cost of the calls is known
}

// open opens the debate, and plans the samples.
func (a Analysis) open(ctx context.Context, o debate.Options) (*runner, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	shared, err := runs.Open(a.runs(), o)
	if err != nil {
		return nil, err
	}
	r := &runner{Analysis: a, Runner: shared}
	if err := r.load(ctx); err != nil {
		r.Close(ctx)
		return nil, fmt.Errorf("analyze debate %s: %w", a.ID, err)
	}
	if err := r.prepare(); err != nil {
		r.Close(ctx)
		return nil, runs.Check("analysis of debate "+a.ID, []error{err})
	}
	return r, nil
}

// load reads the debate.
func (r *runner) load(ctx context.Context) error {
	d, err := r.Engine.Open(ctx, r.ID)
	if err != nil {
		return err
	}
	r.debate, err = d.Result(ctx)
	if err != nil {
		return err
	}
	for m, err := range d.Replay(ctx) {
		if err != nil {
			return err
		}
		if c, ok := m.Event.(debate.ConfigChanged); ok {
			r.config, err = r.Engine.ParseConfig(c.Config)
			if err != nil {
				return err
			}
		}
	}
	return nil
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
	r.outcome, known = outcomeOf(r.debate, r.deciding)
	if len(r.calls) == 0 {
		return errors.New("no judge decides it")
	} else if !known || !r.outcome.wins && len(r.outcome.scores) == 0 {
		return fmt.Errorf("its judges neither name a winner nor give scores: the protocol is %s", r.config.Protocol.Name())
	}
	if !slices.ContainsFunc(r.calls, func(t transcript.Turn) bool { return !slices.Contains(t.Flags, transcript.Defaulted) }) {
		return errors.New("its judges gave no valid reply, so defaults decided it: have judges decide it again with Rejudge, and analyze that debate")
	}
	if err := r.checkJudges(); err != nil {
		return err
	}
	if err := r.setItems(); err != nil {
		return err
	}
	if err := r.checkContinued(); err != nil {
		return err
	}
	if c := &r.config; !r.Continued && (c.AskBeforeVerdict || c.AskAboveCost > 0) {
		return errors.New("its configuration asks a person before the verdict or above a cost, so each sample would wait: fork it without that, and analyze the fork")
	}
	r.plan.Continued, r.priced = r.Continued, true
	r.plan.canPair = len(r.items) > 1 && (!r.Seats || r.speakers() > 3 || r.speakers() == 3 && !r.Continued)
	r.setStages()
	if r.MaxCost > 0 && !r.priced {
		return errors.New("the cost is not known, so the limit of cost cannot hold: give the prices of the models")
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
	if r.Continued && r.Prices != nil { // participants keep their models
		r.config.Prices = maps.Clone(r.config.Prices)
		if r.config.Prices == nil {
			r.config.Prices = price.Prices{}
		}
		maps.Copy(r.config.Prices, r.Prices)
	} else if r.Prices != nil {
		r.config.Prices = r.Prices
	}
	warm := false
	for _, j := range r.config.Judges {
		if j.Human {
			return fmt.Errorf("%s is a person, who would be asked many times: give judges who are models", j.Name)
		}
		if j.Temperature == nil && j.TopP == 0 && reasoning.Tokens(j.Reasoning) == 0 {
			j.Temperature = budget.DefaultsOf(r.config.Protocol).JudgeTemperature
		}
		warm = warm || j.Temperature == nil || *j.Temperature > 0
	}
	if r.Continued {
		warm = warm || slices.ContainsFunc(r.config.Participants, func(p debate.Participant) bool {
			return !p.Disabled && (p.Temperature == nil || *p.Temperature > 0)
		})
	}
	switch {
	case !warm && r.Continued:
		return errors.New("all models have temperature 0, so samples would repeat one another: give the judges another temperature, or fork the debate with one")
	case !warm:
		return errors.New("the judges have temperature 0, so samples would repeat one another: give them another temperature")
	}
	return nil
}

// speakers returns the number of participants who speak.
func (r *runner) speakers() int {
	names := map[string]bool{}
	for _, t := range r.debate.Turns {
		if t.Kind == transcript.Speech {
			names[t.Actor] = true
		}
	}
	return len(names)
}

// checkContinued returns an error if the debate cannot go on without the items.
func (r *runner) checkContinued() error {
	if !r.Continued {
		return nil
	}
	if r.debate.Rejudged != nil {
		return errors.New("its judges were asked again, and its course stays: analyze its parent, " + r.debate.Parent.ID)
	}
	if n := r.speakers(); r.Seats && n < 3 {
		return fmt.Errorf("seats: it has %d participants who speak, and without one of them it cannot go on: leave out turns", n)
	} else if r.Seats && r.Pairs && n < 4 {
		return fmt.Errorf("pairs: it has %d participants who speak, and without two of them it cannot go on: leave out one at a time", n)
	}
	for _, p := range r.config.Participants {
		if p.Human && !p.Disabled {
			return fmt.Errorf("%s is a person, who would be asked many times: do not have the debate go on", p.Name)
		}
	}
	for _, t := range r.debate.Turns {
		if t.Contract != "" && slices.ContainsFunc(r.items, func(i Item) bool { return slices.Contains(i.Keys, t.Key) }) {
			return fmt.Errorf("turn %d of %s has values on which the protocol %s counts, so the debate cannot go on without it", t.Seq, t.Actor, r.config.Protocol.Name())
		}
	}
	return nil
}

// chosen reports whether the caller has named the items.
func (r *runner) chosen() bool { return len(r.Items.Turns)+len(r.Items.Seats) > 0 }

// setItems sets the items: what is left out one at a time.
func (r *runner) setItems() error {
	given := map[transcript.Key]bool{}
	for _, k := range r.Items.Turns {
		given[k] = true
	}
	chosen := r.chosen()
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
	pairs := 0
	if r.Pairs && len(r.items) > 1 {
		r.plan.pair, pairs = true, 1
	}
	add := func(items, samples int) {
		s := Stage{Items: items, Samples: samples, Each: len(r.calls), Calls: (items + 1) * samples * len(r.calls)}
		calls := slices.Repeat([][]transcript.Turn{r.calls}, items+1)
		if r.Continued {
			calls = r.callsOf(items, len(r.plan.Stages) > 0 && pairs > 0)
			s.Each = len(slices.Concat(calls...))
			s.Calls = s.Each * samples
		}
		r.plan.Stages = append(r.plan.Stages, s)
		r.addCost(samples, calls)
	}
	r.plan.first = len(r.items) > r.Largest && !r.chosen()
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

// callsOf returns the calls of one sample of so many items, in debates that go on with each of them and without. Where fewer items
// are to be chosen than there are, these are the earliest, after which most calls come. With pair, one is two items together.
func (r *runner) callsOf(items int, pair bool) (calls [][]transcript.Turn) {
	add := func(which ...Item) {
		var with, without []transcript.Turn
		for _, t := range r.debate.Turns {
			again := t.Seq > which[0].Seq || r.Seats && t.Seq == which[0].Seq
			if len(t.Attempts) == 0 || !again {
				continue
			}
			with = append(with, t)
			if !slices.ContainsFunc(which, func(i Item) bool { return slices.Contains(i.Keys, t.Key) }) {
				without = append(without, t)
			}
		}
		calls = append(calls, with, without)
	}
	if pair {
		add(r.items[0], r.items[1])
		items--
	}
	for _, i := range r.items[:items] {
		add(i)
	}
	return calls
}

// addCost adds to the plan what samples with the given calls take and cost: as much as the calls did in the debate.
func (r *runner) addCost(samples int, calls [][]transcript.Turn) {
	for _, list := range calls {
		for _, t := range list {
			u := t.Usage
			at := slices.IndexFunc(r.config.Judges, func(j debate.Participant) bool { return j.Name == t.Actor })
			model := r.modelOf(at)
			if at < 0 && len(t.Attempts) > 0 {
				model = t.Attempts[len(t.Attempts)-1].Model
			}
			if p, known := r.config.Prices.Lookup(model); known {
				u.Cost = p.Cost(u)
			} else {
				r.priced = r.priced && u.Cost > 0 && (at < 0 || r.Judges == nil)
			}
			r.plan.Tokens += samples * (u.Input + u.Output)
			r.plan.Cost += float64(samples) * u.Cost
		}
	}
	if !r.priced {
		r.plan.Cost = 0
	}
}

// modelOf returns the model of a judge.
func (r *runner) modelOf(judge int) string {
	if judge < 0 {
		return ""
	}
	return r.config.Judges[judge].Model
}

// measurement returns the measurement of an analysis.
func (r *runner) measurement() *measurement {
	of := r.outcome.winner
	if of == "" && len(r.outcome.scores) > 0 {
		of = slices.Min(slices.Collect(maps.Keys(r.outcome.scores)))
		for _, p := range slices.Backward(r.debate.Participants) {
			if _, scored := r.outcome.scores[p.Name]; scored {
				of = p.Name
			}
		}
	}
	return newMeasurement(r.outcome, of, r.items, r.plan, r.Seats)
}
