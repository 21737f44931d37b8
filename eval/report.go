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
)

// formatVersion is the version of the report's JSON.
const formatVersion = 1

// Interval is an estimate with its 95 % confidence interval. It is Wilson's where each question stands for itself. Otherwise
// it is a bootstrap over groups from 30 groups on, one of the t distribution for 10 to 29, and unknown below.
type Interval = statistics.Interval

// Report says what an evaluation has shown. It is plain data: encode it as JSON, or render it with [Report.Markdown] or
// [Report.HTML].
type Report struct {
	Format int    `json:"format"` // version of the report format, 1
	Eval   string `json:"eval"`
	Tasks  int    `json:"tasks"`
	// Incomplete says why runs are missing, such as a limit. It is empty if there is a result or a failure for each run.
	Incomplete string `json:"incomplete,omitempty"`
	Baseline   string `json:"baseline,omitempty"` // empty with one arm
	Budget     Budget `json:"budget,omitempty"`   // what baselines of equal budget got; empty if there are none
	// Summary has a sentence for each comparison: what is shown and what not.
	Summary     []string     `json:"summary"`
	Arms        []ArmResult  `json:"arms"` // as given, then the baselines of equal budget
	Differences []Difference `json:"differences,omitempty"`
	Unmet       []string     `json:"unmet,omitempty"` // which of Evaluation.Require are not shown to hold, and why
	Tokens      int          `json:"tokens"`          // of everything that is stored under the evaluation's name
	Cost        float64      `json:"cost"`            // the same, in the currency of the prices; 0 without prices
}

// ArmResult is how an arm answered the tasks. Means are those of runs that did not fail.
type ArmResult struct {
	Name string `json:"name"`
	// EqualTo is the arm whose budget the baseline got for each question; empty for the arms themselves. The name is then
	// that of the baseline, '@' and that of the arm. The result of several samples is their most frequent answer; their usage
	// is added up, and the latency is that of the slowest one, because samples can run at the same time.
	EqualTo  string   `json:"equal_to,omitempty"`
	Runs     int      `json:"runs"`                // runs that have a result
	Right    int      `json:"right"`               // of these
	NoAnswer int      `json:"no_answer,omitempty"` // of these; they count as wrong
	Ties     int      `json:"ties,omitempty"`      // of those without an answer
	Failed   int      `json:"failed,omitempty"`    // runs without a result because something failed; they are neither right nor wrong
	Missing  int      `json:"missing,omitempty"`   // runs that were not begun
	Failures []string `json:"failures,omitempty"`  // causes of the first ones
	Accuracy Interval `json:"accuracy"`

	Tokens  float64       `json:"tokens"`  // for each question
	Cost    float64       `json:"cost"`    // for each question
	Calls   float64       `json:"calls"`   // for each question
	Latency time.Duration `json:"latency"` // mean, in nanoseconds
	// TokensPerRight and CostPerRight are all tokens and all money by the number of right answers; 0 without any.
	TokensPerRight float64 `json:"tokens_per_right"`
	CostPerRight   float64 `json:"cost_per_right"`
	Samples        float64 `json:"samples,omitempty"` // mean number of samples of a baseline of equal budget
	// Unbeaten reports that no other arm is at least as accurate for at most as much.
	Unbeaten bool    `json:"unbeaten,omitempty"`
	Rounds   []Round `json:"rounds,omitempty"` // by round, from 1; added up over the runs
}

// Difference compares an arm with a baseline on the questions that both have answered.
type Difference struct {
	Arm      string   `json:"arm"`
	Baseline string   `json:"baseline"`
	Interval Interval `json:"interval"` // accuracy of the arm minus that of the baseline
	Better   int      `json:"better"`   // questions that only the arm answered right, or more often
	Worse    int      `json:"worse"`    // the reverse
	// P is the two-sided p-value: that of McNemar's exact test if each question stands for itself and was answered once,
	// or else the one that belongs to the interval. Adjusted is corrected by Holm's method for the number of comparisons.
	// Both are 1 if the interval is unknown.
	P        float64 `json:"p"`
	Adjusted float64 `json:"adjusted"`
	// Detectable is the smallest difference that as many questions would show four times out of five. Needed is how many
	// questions would show the difference that was found; 0 if none was found. Both are 0 if the interval is unknown.
	Detectable float64 `json:"detectable"`
	Needed     int     `json:"needed,omitempty"`
}

// Shown reports whether the difference is not zero, as far as its interval and the adjusted p-value say.
func (d Difference) Shown() bool {
	return (d.Interval.Above(0) || d.Interval.Below(0)) && d.Adjusted < 0.05
}

// tally adds up the runs of an arm.
type tally struct {
	ArmResult
	tokens, cost, calls, latency, samples float64
	seen                                  []statistics.Observation // of each run
	shares                                []float64                // of right answers to each task; NaN if there is none
}

// add adds the runs of the next task. joint is the number of samples that were joined, or 0.
func (a *tally) add(t Task, runs []Run, missing, joint int) {
	right, n := 0.0, 0
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
		case x.Answer == "":
			a.NoAnswer++
		}
		right += value
		a.seen = append(a.seen, statistics.Observation{Value: value, Group: group})
		for i, round := range x.Rounds {
			if i == len(a.Rounds) {
				a.Rounds = append(a.Rounds, Round{})
			}
			a.Rounds[i].add(round)
		}
	}
	a.shares = append(a.shares, right/float64(n)) // NaN without runs
}

// result returns the result of the arm.
func (a *tally) result() ArmResult {
	r := a.ArmResult
	r.Accuracy = statistics.Share(a.seen)
	if n := float64(r.Runs); n > 0 {
		r.Calls, r.Latency, r.Samples = a.calls/n, time.Duration(a.latency/n), a.samples/n
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
				run, begun, err := r.read(ctx, a, t, sample)
				if err != nil {
					return nil, err
				}
				if !begun {
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
	p.Incomplete, p.Tokens, p.Cost = r.incomplete(tallies), r.spent.tokens, math.Round(r.spent.cost*1e9)/1e9 // of amounts that were added in any order
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

// read reads one run and writes its line.
func (r *runner) read(ctx context.Context, a *Arm, t Task, sample int) (Run, bool, error) {
	run, begun, err := r.outcome(ctx, a, t, sample)
	if err != nil || !begun || r.Results == nil {
		return run, begun, err
	}
	line, err := json.Marshal(run)
	if err == nil {
		_, err = r.Results.Write(append(line, '\n'))
	}
	if err != nil {
		return run, true, fmt.Errorf("write result of run %s: %w", run.ID, err)
	}
	return run, true, nil
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
			run, begun, err := r.read(ctx, base, t, len(used)+1)
			if err != nil {
				return err
			}
			if begun {
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
	switch limit := r.limit(); {
	case missing == 0:
		return ""
	case limit != "":
		return limit
	}
	return fmt.Sprintf("%d runs are missing", missing)
}

// differences compares each arm with the baseline, and with the baseline of equal budget.
func (r *runner) differences(tallies []*tally, base *Arm) (list []Difference) {
	named := map[string]*tally{}
	for _, a := range tallies {
		named[a.Name] = a
	}
	for _, a := range r.Arms {
		if a.Name == base.Name {
			continue
		}
		for _, other := range []string{base.Name, base.Name + "@" + a.Name} {
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
	d.Interval = statistics.Difference(seen)
	if d.Interval.Known() {
		d.Detectable, d.Needed = statistics.Detectable(seen), statistics.Needed(seen, math.Abs(d.Interval.Value))
	}
	switch {
	case !d.Interval.Known():
	case once && d.Interval.Groups == d.Interval.N:
		d.P = statistics.McNemar(d.Better, d.Worse)
	case d.Interval.High > d.Interval.Low:
		const z = 1.959964 // the quantile .975 of the normal distribution
		d.P = math.Erfc(math.Abs(d.Interval.Value) / (d.Interval.High - d.Interval.Low) * 2 * z / math.Sqrt2)
	}
	return d
}

// markUnbeaten marks the arms that no other arm beats: by money if each has a cost, or else by tokens.
func (p *Report) markUnbeaten() {
	for i := range p.Arms {
		a := &p.Arms[i]
		a.Unbeaten = a.Runs > 0
		for j, b := range p.Arms {
			x, y := p.expense(*a), p.expense(b)
			if i != j && b.Runs > 0 && b.Accuracy.Value >= a.Accuracy.Value && y <= x && (b.Accuracy.Value > a.Accuracy.Value || y < x) {
				a.Unbeaten = false
			}
		}
	}
}

// priced reports whether each arm has a cost.
func (p *Report) priced() bool {
	for _, a := range p.Arms {
		if a.Runs > 0 && a.Cost == 0 {
			return false
		}
	}
	return true
}

// expense returns the cost of an arm, or its tokens if a cost is unknown.
func (p *Report) expense(a ArmResult) float64 {
	if p.priced() {
		return a.Cost
	}
	return a.Tokens
}
