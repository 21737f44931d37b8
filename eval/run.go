package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// runner makes the runs of an evaluation.
type runner struct {
	Evaluation
	*runs.Runner
}

// checkConfigs returns an error if the configuration of a run is not valid, or if this engine lacks what the first run of
// an arm needs.
func (r *runner) checkConfigs(ctx context.Context) error {
	for i := range r.Arms {
		a := &r.Arms[i]
		for n, t := range r.Tasks {
			c, err := r.config(a, t, 1)
			if err != nil {
				return err
			}
			err = r.Check(ctx, c, n == 0)
			if err != nil {
				return fmt.Errorf("check arm %s for task %s: %w", a.Name, t.ID, err)
			}
		}
	}
	return nil
}

// readStored adds up what the runs in the store have used. It returns an error if a run of an arm has another
// configuration than the arm.
func (r *runner) readStored(ctx context.Context) error {
	tasks := make(map[string]int, len(r.Tasks))
	for i, t := range r.Tasks {
		tasks[t.ID] = i
	}
	err := r.ReadStored(ctx, func(labels map[string]string) (c debate.Config, known bool, err error) {
		a := r.arm(labels[labelArm])
		at, known := tasks[labels[labelTask]]
		sample, err := strconv.Atoi(labels[labelSample])
		if a == nil || !known || err != nil {
			return c, false, nil
		}
		c, err = r.config(a, r.Tasks[at], sample)
		return c, true, err
	})
	if changed, ok := errors.AsType[*runs.Changed](err); ok {
		return fmt.Errorf("run evaluation %s: arm %s has runs with another configuration: %s for task %s; give the arm or the evaluation another name", r.Name, changed.Labels[labelArm], changed.Difference, changed.Labels[labelTask])
	}
	return err
}

// amount returns what a usage is in terms of a budget.
func (b Budget) amount(u transcript.Usage) float64 {
	if b == Cost {
		return u.Cost
	}
	return float64(u.Input + u.Output)
}

// runTask makes all runs of a task: those of each arm, and then those of the baselines of equal budget. It reports whether
// it has made all.
func (r *runner) runTask(ctx context.Context, t Task) (whole bool, err error) {
	for i := range r.Arms {
		for sample := 1; sample <= r.Arms[i].samples(); sample++ {
			if _, err := r.run(ctx, &r.Arms[i], t, sample); err != nil || r.Stopped() {
				return false, err
			}
		}
	}
	base := r.baseline()
	for i := range r.Arms {
		if a := &r.Arms[i]; base != nil && a != base && r.budget() != NoBudget {
			if err := r.runEqual(ctx, base, a, t); err != nil || r.Stopped() {
				return false, err
			}
		}
	}
	return true, nil
}

// runEqual makes the runs with which the baseline answers a task on the budget of an arm.
func (r *runner) runEqual(ctx context.Context, base, a *Arm, t Task) error {
	target, used := 0.0, []float64(nil)
	for sample := 1; sample <= a.samples(); sample++ {
		s, err := r.status(ctx, a, t, sample)
		if err != nil || s.State != fsm.Completed {
			return err
		}
		target += r.budget().amount(s.Usage) / float64(a.samples())
	}
	for {
		if _, more := affordable(target, used); !more {
			return nil
		}
		s, err := r.run(ctx, base, t, len(used)+1)
		if err != nil || s.State != fsm.Completed || r.Stopped() {
			return err
		}
		used = append(used, r.budget().amount(s.Usage))
	}
}

// budget returns what baselines of equal budget get.
func (r *runner) budget() Budget { return cmp.Or(r.Budget, Tokens) }

// affordable returns how many of the runs, which used these amounts, a budget pays for. It is at least one. It reports
// whether a further run would be paid for too, if it used as much as the mean.
func affordable(budget float64, used []float64) (n int, more bool) {
	budget *= 1 + 1e-9 // sums of money are not exact
	total := 0.0
	for n = range used {
		total += used[n]
		if total > budget && n > 0 {
			return n, false
		}
	}
	n = len(used)
	return n, n == 0 || n < maxSamples && total > 0 && total+total/float64(n) <= budget
}

// status returns the status of a stored run.
func (r *runner) status(ctx context.Context, a *Arm, t Task, sample int) (s store.Status, err error) {
	c, err := r.config(a, t, sample)
	if err != nil {
		return s, err
	}
	d, err := r.Engine.Open(ctx, c.ID)
	if err != nil {
		return s, err
	}
	return d.Status(ctx)
}

// run makes one run, and the run that scores it, unless they are stored. It returns the status in which it ends.
func (r *runner) run(ctx context.Context, a *Arm, t Task, sample int) (s store.Status, err error) {
	c, err := r.config(a, t, sample)
	if err != nil {
		return s, err
	}
	s, err = r.Drive(ctx, c)
	if err != nil || s.State != fsm.Completed || r.Scorer.Judge == nil || r.Stopped() {
		return s, err
	}
	d, err := r.Engine.Open(ctx, c.ID)
	if err != nil {
		return s, err
	}
	result, err := d.Result(ctx)
	if err != nil {
		return s, err
	}
	if answer, _ := answerOf(result); answer != "" {
		c, err = r.scoring(c.ID, t, answer)
		if err == nil {
			_, err = r.Drive(ctx, c)
		}
	}
	return s, err
}
