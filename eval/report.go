package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/judge/estimate"
)

// tally adds up the runs of an arm.
type tally struct {
	ArmResult
	tokens, cost, calls, latency, samples float64
	seen                                  []statistics.Observation // of each run
	shares                                []float64                // of right answers to each task; NaN if there is none
	jury                                  jury                     // of runs with several judges
	briers                                []float64                // mean Brier score of each task; NaN if there is none
	probable, brier                       []statistics.Observation // of each run with a probability
	first                                 []float64                // the probability of answer A in each
	isFirst                               []bool                   // whether answer A is the right one
}

// addProbability adds the probability of a run, and returns its Brier score.
func (a *tally) addProbability(x Run, group string) float64 {
	p := *x.Probability
	score := statistics.Brier([]float64{p}, []bool{true})
	a.probable = append(a.probable, statistics.Observation{Value: p, Group: group})
	a.brier = append(a.brier, statistics.Observation{Value: score, Group: group})
	if !x.RightFirst {
		p = 1 - p
	}
	a.first, a.isFirst = append(a.first, p), append(a.isFirst, x.RightFirst)
	return score
}

// add adds the runs of the next task. joint is the number of samples that were joined, or 0.
func (a *tally) add(t Task, runs []Run, missing, joint int) {
	right := 0.0
	brier := 0.0
	n := 0
	probable := 0
	group := t.Group
	if len(runs)+missing > 1 {
		group = cmp.Or(group, t.ID)
	}
	a.Missing += missing
	for _, x := range runs {
		used := x.Usage
		a.tokens += float64(used.Input + used.Output)
		a.cost += used.Cost
		if x.Failed != "" {
			a.Failed++
			if len(a.Failures) < 5 {
				a.Failures = append(a.Failures, fmt.Sprintf("task %s: %s", t.ID, shorten(x.Failed, 300)))
			}
			continue
		}
		n++
		if x.judged != nil {
			a.jury.add(x.judged, group)
		}
		a.Runs++
		a.calls += float64(x.Calls)
		a.latency += float64(x.Latency)
		a.samples += float64(joint)
		value := 0.0
		switch {
		case x.Right:
			a.Right++
			value = 1
		case x.Tie:
			a.Ties++
			a.NoAnswer++
			if x.Probability != nil { // both answers are equally probable
				value = .5
			}
		case x.Answer == "":
			a.NoAnswer++
		}
		right += value
		a.seen = append(a.seen, statistics.Observation{Value: value, Group: group})
		if x.Probability != nil {
			brier += a.addProbability(x, group)
			probable++
		}
		for i, round := range x.Rounds {
			if i == len(a.Rounds) {
				a.Rounds = append(a.Rounds, Round{})
			}
			a.Rounds[i].add(round)
		}
	}
	a.shares = append(a.shares, right/float64(n)) // NaN without runs
	a.briers = append(a.briers, brier/float64(probable))
}

// result returns the result of the arm.
func (a *tally) result() ArmResult {
	r := a.ArmResult
	r.Accuracy, r.Agreement = statistics.Share(a.seen), a.jury.agreement()
	if len(a.probable) > 0 {
		p := statistics.Share(a.probable)
		b := statistics.Share(a.brier)
		c := statistics.CalibrationError(a.first, a.isFirst)
		r.Probability = &p
		r.Brier = &b
		r.CalibrationError = &c
	}
	if n := float64(r.Runs); n > 0 {
		r.Calls = a.calls / n
		r.Latency = time.Duration(a.latency / n)
		r.Samples = a.samples / n
	}
	if n := float64(r.Runs + r.Failed); n > 0 {
		r.Tokens, r.Cost = a.tokens/n, a.cost/n
	}
	if r.Right > 0 {
		r.TokensPerRight, r.CostPerRight = a.tokens/float64(r.Right), a.cost/float64(r.Right)
	}
	return r
}

// report reads all runs and compares the arms.
func (r *runner) report(ctx context.Context) (*Report, error) {
	tallies := r.tallies()
	for _, t := range r.Tasks {
		runs := map[string][]Run{}
		for i := range r.Arms {
			a, missing := &r.Arms[i], 0
			for sample := 1; sample <= a.samples(); sample++ {
				run, err := r.read(ctx, a, t, sample)
				if err != nil {
					return nil, err
				}
				if run.Missing {
					missing++
					continue
				}
				runs[a.Name] = append(runs[a.Name], run)
			}
			tallies[i].add(t, runs[a.Name], missing, 0)
		}
		if err := r.addEqual(ctx, t, runs, tallies[len(r.Arms):]); err != nil {
			return nil, err
		}
	}
	p := r.compared(tallies)
	tokens, cost := r.Spent()
	p.Incomplete = r.incomplete(tallies)
	p.Tokens = tokens
	p.Cost = math.Round(cost*1e9) / 1e9 // of amounts that were added in any order
	for _, text := range r.Require {
		unmet, err := p.require(text)
		if err != nil {
			return nil, err
		}
		if unmet != "" {
			p.Unmet = append(p.Unmet, unmet)
		}
	}
	return p, nil
}

// compared returns the report of the tallies. Without tallies, it has the names of the arms and of the comparisons.
func (r *runner) compared(tallies []*tally) *Report {
	p := &Report{Format: formatVersion, Eval: r.Name, Tasks: len(r.Tasks)}
	if tallies == nil {
		tallies = r.tallies()
		for _, a := range tallies {
			a.shares = slices.Repeat([]float64{math.NaN()}, len(r.Tasks))
			a.briers = a.shares
		}
	}
	for _, a := range tallies {
		p.Arms = append(p.Arms, a.result())
	}
	p.markUnbeaten()
	if base := r.baseline(); base != nil {
		p.Baseline = base.Name
		if len(tallies) > len(r.Arms) {
			p.Budget = r.budget()
		}
		p.Differences = r.differences(tallies, base)
	}
	p.Summary = p.sentences()
	return p
}

// tallies returns a tally for each arm, and then one for each baseline of equal budget.
func (r *runner) tallies() (list []*tally) {
	base := r.baseline()
	for _, a := range r.Arms {
		list = append(list, &tally{ArmResult: ArmResult{Name: a.Name}})
	}
	for _, a := range r.Arms {
		if base != nil && a.Name != base.Name && r.budget() != NoBudget {
			list = append(list, &tally{ArmResult: ArmResult{Name: base.Name + "@" + a.Name, EqualTo: a.Name}})
		}
	}
	return list
}

// read reads one run and writes its line, if it was begun.
func (r *runner) read(ctx context.Context, a *Arm, t Task, sample int) (Run, error) {
	run, err := r.outcome(ctx, a, t, sample)
	if err != nil || run.State == "" || r.Results == nil {
		return run, err
	}
	line, err := json.Marshal(run)
	if err == nil {
		_, err = r.Results.Write(append(line, '\n'))
	}
	if err != nil {
		return run, fmt.Errorf("write result of run %s: %w", run.ID, err)
	}
	return run, nil
}

// addEqual adds the answers of the baselines of equal budget to a task.
func (r *runner) addEqual(ctx context.Context, t Task, runs map[string][]Run, tallies []*tally) error {
	for _, a := range tallies {
		arm, target := runs[a.EqualTo], 0.0
		for _, x := range arm {
			target += r.budget().amount(x.Usage) / float64(len(arm))
		}
		switch n := r.arm(a.EqualTo).samples(); {
		case len(arm) < n:
			a.add(t, nil, 1, 0)
			continue
		case slices.ContainsFunc(arm, func(x Run) bool { return x.Failed != "" }): // it has no budget
			a.add(t, nil, 0, 0)
			continue
		}
		if err := r.addSamples(ctx, t, runs, a, target); err != nil {
			return err
		}
	}
	return nil
}

// addSamples adds the answer of the baseline on a budget. It reads the samples that runs lacks, and adds them to it.
func (r *runner) addSamples(ctx context.Context, t Task, runs map[string][]Run, a *tally, budget float64) error {
	base, used := r.baseline(), []float64(nil)
	for {
		samples := runs[base.Name]
		n, more := affordable(budget, used)
		if !more {
			a.add(t, []Run{joined(samples[:n])}, 0, n)
			return nil
		}
		if len(used) == len(samples) {
			run, err := r.read(ctx, base, t, len(used)+1)
			if err != nil {
				return err
			}
			if !run.Missing {
				samples = append(samples, run)
				runs[base.Name] = samples
			}
		}
		at := len(used)
		switch {
		case at == len(samples) || samples[at].Sample != at+1:
			a.add(t, nil, 1, 0)
			return nil
		case samples[at].Failed != "":
			a.add(t, samples[at:at+1], 0, 0)
			return nil
		}
		used = append(used, r.budget().amount(samples[at].Usage))
	}
}

// incomplete says why runs are missing.
func (r *runner) incomplete(tallies []*tally) string {
	missing := 0
	for _, a := range tallies {
		missing += a.Missing
	}
	switch limit := r.Limit(); {
	case missing == 0:
		return ""
	case limit != "":
		return limit
	}
	return fmt.Sprintf("%d runs are missing", missing)
}

// differences compares each arm with the baseline, with the baseline of equal budget, and with the arms of Against.
func (r *runner) differences(tallies []*tally, base *Arm) (list []Difference) {
	named := map[string]*tally{}
	for _, a := range tallies {
		named[a.Name] = a
	}
	for _, a := range r.Arms {
		if a.Name == base.Name {
			continue
		}
		others := []string{base.Name, base.Name + "@" + a.Name}
		for _, other := range r.Against {
			if other != a.Name && !slices.Contains(others, other) {
				others = append(others, other)
			}
		}
		for _, other := range others {
			if b := named[other]; b != nil {
				list = append(list, r.compare(named[a.Name], b))
			}
		}
	}
	p := make([]float64, len(list))
	for i, d := range list {
		p[i] = d.P
	}
	for i, adjusted := range statistics.Holm(p) {
		list[i].Adjusted = adjusted
	}
	return list
}

// compare compares two arms on the tasks that both have answered.
func (r *runner) compare(a, b *tally) Difference {
	d := Difference{Arm: a.Name, Baseline: b.Name, P: 1}
	seen, once := make([]statistics.Observation, 0, len(r.Tasks)), true
	for i, t := range r.Tasks {
		v := a.shares[i] - b.shares[i]
		if math.IsNaN(v) {
			continue
		}
		seen = append(seen, statistics.Observation{Value: v, Group: t.Group})
		once = once && (v == 0 || v == 1 || v == -1)
		if v > 0 {
			d.Better++
		} else if v < 0 {
			d.Worse++
		}
	}
	d.Interval, d.Brier = statistics.Difference(seen), r.compareBrier(a, b)
	if d.Interval.Known() {
		d.Detectable, d.Needed = statistics.Detectable(seen), statistics.Needed(seen, math.Abs(d.Interval.Value))
	}
	switch {
	case !d.Interval.Known():
	case once && d.Interval.Groups == d.Interval.N:
		d.P = statistics.McNemar(d.Better, d.Worse)
	default:
		d.P = d.Interval.P()
	}
	return d
}

// compareBrier returns the difference of the Brier scores of two arms on the tasks for which both have one, or nil if there is none.
func (r *runner) compareBrier(a, b *tally) *estimate.Interval {
	var seen []statistics.Observation
	for i, t := range r.Tasks {
		if v := a.briers[i] - b.briers[i]; !math.IsNaN(v) {
			seen = append(seen, statistics.Observation{Value: v, Group: t.Group})
		}
	}
	if len(seen) == 0 {
		return nil
	}
	i := statistics.Difference(seen)
	return &i
}
