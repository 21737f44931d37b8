package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// runner makes the runs of an evaluation.
type runner struct {
	Evaluation
	options   debate.Options
	engine    *debate.Engine
	scratch   *debate.Engine // completes configurations
	schedules bool           // workers run the debates
	began     time.Time

	mu        sync.Mutex
	spent     spending // by all runs under the evaluation's name
	progress  Progress
	startCost float64
}

// close closes the engines.
func (r *runner) close(ctx context.Context) {
	_ = r.engine.Close(context.WithoutCancel(ctx)) // nothing is driven any more
	_ = r.scratch.Close(context.WithoutCancel(ctx))
}

// spending counts the tokens and the money that runs have used.
type spending struct {
	tokens   int
	cost     float64
	unpriced bool
}

func (s *spending) add(u transcript.Usage) {
	s.tokens += u.Input + u.Output
	s.cost += u.Cost
	s.unpriced = s.unpriced || u.Unpriced
}

// amount returns what a usage is in terms of a budget.
func (b Budget) amount(u transcript.Usage) float64 {
	if b == Cost {
		return u.Cost
	}
	return float64(u.Input + u.Output)
}

// stopped reports whether no further run or step may begin.
func (r *runner) stopped() bool {
	select {
	case <-r.Stop: // never, if it is nil
		return true
	default:
	}
	return r.limit() != ""
}

// limit returns the limit that is reached, or "".
func (r *runner) limit() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.MaxCost > 0 && r.spent.cost >= r.MaxCost:
		return fmt.Sprintf("the limit of cost, %v, is reached", r.MaxCost)
	case r.MaxTokens > 0 && r.spent.tokens >= r.MaxTokens:
		return fmt.Sprintf("the limit of tokens, %d, is reached", r.MaxTokens)
	}
	return ""
}

// runTasks makes the runs of all tasks. It returns the first error after which further runs are of no use.
func (r *runner) runTasks(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.began, r.startCost = time.Now(), r.spent.cost
	r.progress = Progress{TotalTasks: len(r.Tasks)}
	next := make(chan Task)
	var workers sync.WaitGroup
	for range min(cmp.Or(r.Concurrency, 8), len(r.Tasks)) {
		workers.Go(func() {
			for t := range next {
				if err := r.runTask(ctx, t); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, t := range r.Tasks {
		if r.stopped() || ctx.Err() != nil {
			break
		}
		select {
		case next <- t:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// runTask makes all runs of a task: those of each arm, and then those of the baselines of equal budget.
func (r *runner) runTask(ctx context.Context, t Task) error {
	for i := range r.Arms {
		for sample := 1; sample <= r.Arms[i].samples(); sample++ {
			if _, err := r.run(ctx, &r.Arms[i], t, sample); err != nil || r.stopped() {
				return err
			}
		}
	}
	base := r.baseline()
	for i := range r.Arms {
		if a := &r.Arms[i]; base != nil && a != base && r.budget() != NoBudget {
			if err := r.runEqual(ctx, base, a, t); err != nil || r.stopped() {
				return err
			}
		}
	}
	r.advance(func(p *Progress) { p.Tasks++ })
	return nil
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
		if err != nil || s.State != fsm.Completed || r.stopped() {
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
	total := 0.0
	for n = range used {
		if total += used[n]; total > budget && n > 0 {
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
	d, err := r.engine.Open(ctx, c.ID)
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
	s, err = r.drive(ctx, c)
	if err != nil || s.State != fsm.Completed || r.Scorer.Judge == nil || r.stopped() {
		return s, err
	}
	d, err := r.engine.Open(ctx, c.ID)
	if err != nil {
		return s, err
	}
	result, err := d.Result(ctx)
	if err != nil {
		return s, err
	}
	if answer, _ := answerOf(result); answer != "" {
		if c, err = r.scoring(c.ID, t, answer); err == nil {
			_, err = r.drive(ctx, c)
		}
	}
	return s, err
}

// drive creates or opens a debate and drives it until it ends, fails, waits for somebody or the evaluation stops. It
// returns an error only if further runs are of no use.
func (r *runner) drive(ctx context.Context, c debate.Config) (store.Status, error) {
	d, err := r.engine.Open(ctx, c.ID)
	if errors.Is(err, store.ErrNotFound) {
		if r.stopped() {
			return store.Status{}, nil
		}
		d, err = r.engine.Create(ctx, c)
	}
	if err != nil {
		return store.Status{}, err
	}
	s, err := d.Status(ctx)
	if err != nil || s.State.Final() || r.stopped() {
		return s, err
	}
	switch {
	case s.State == fsm.Error:
		err = d.Retry(ctx)
	case s.State == fsm.Paused && len(s.Waiting) == 0:
		err = d.Resume(ctx)
	}
	if _, refused := errors.AsType[*fsm.Refused](err); refused { // it cannot go on without a person
		return s, nil
	} else if err != nil {
		return s, err
	}
	counted := r.follow(ctx, d, s.Seq)
	if counted.err != nil {
		return s, counted.err
	}
	end, err := d.Status(ctx)
	if err != nil {
		return s, err
	}
	r.settle(s, end, counted.usage)
	return end, r.checkCost(end)
}

// followed holds the usage that the events of a run showed, and the error that ends the evaluation.
type followed struct {
	usage transcript.Usage
	err   error // after which further runs are of no use
}

// follow drives a debate from the entry seq on, or has workers drive it, until it ends, pauses or fails.
func (r *runner) follow(ctx context.Context, d *debate.Debate, seq int64) (f followed) {
	events := d.Run(ctx)
	if r.schedules {
		if f.err = d.Start(ctx); f.err != nil {
			return f
		}
		events = d.Watch(ctx, seq)
	}
	if r.Stop != nil {
		over := make(chan struct{})
		defer close(over)
		go func() {
			select {
			case <-r.Stop:
				_ = d.Pause(ctx) // refused if it has just ended
			case <-over:
			}
		}()
	}
	for event, err := range events {
		if err != nil {
			f.err = fatal(err)
			return f
		}
		switch ev := event.(type) {
		case debate.TurnDone:
			f.usage = f.usage.Add(ev.Turn.Usage)
			r.spend(ev.Turn.Usage)
		case debate.StateChanged:
			if r.schedules && (ev.To == fsm.Error || ev.To == fsm.Paused) {
				return f
			}
		}
		if r.stopped() {
			_ = d.Pause(ctx) // refused if it has just ended or is paused
		}
	}
	return f
}

// fatal returns an error of driving a debate if other debates would fail in the same way, or if it is not about the debate.
func fatal(err error) error {
	failure, failed := errors.AsType[*debate.Failure](err)
	switch {
	case !failed:
		return err
	case failure.Kind == providers.Authentication, failure.Kind == providers.Billing, failure.Unreachable:
		return fmt.Errorf("%w; %s", err, failure.Hint())
	}
	return nil
}

// spend counts what a turn has used.
func (r *runner) spend(u transcript.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spent.add(u)
}

// settle counts what a run has used beyond its turns, such as failed attempts, and reports the progress.
func (r *runner) settle(before, end store.Status, counted transcript.Usage) {
	r.mu.Lock()
	r.spent.tokens += end.Usage.Input + end.Usage.Output - before.Usage.Input - before.Usage.Output - counted.Input - counted.Output
	r.spent.cost += end.Usage.Cost - before.Usage.Cost - counted.Cost
	r.spent.unpriced = r.spent.unpriced || end.Usage.Unpriced
	r.mu.Unlock()
	r.advance(func(p *Progress) {
		p.Runs++
		if end.State == fsm.Error || end.State == fsm.Canceled {
			p.Failed++
		}
	})
}

// checkCost returns an error if the cost of a run is unknown and there is a limit of cost.
func (r *runner) checkCost(s store.Status) error {
	if r.MaxCost > 0 && s.Usage.Unpriced {
		return fmt.Errorf("the cost of debate %s is not known, so the limit of cost cannot hold: add the price of its models to the configuration", s.ID)
	}
	return nil
}

// advance changes the progress and reports it.
func (r *runner) advance(change func(*Progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.progress
	change(p)
	p.Tokens, p.Cost, p.Elapsed = r.spent.tokens, r.spent.cost, time.Since(r.began)
	if p.Tasks > 0 {
		left := float64(p.TotalTasks-p.Tasks) / float64(p.Tasks)
		p.RemainingTime = time.Duration(left * float64(p.Elapsed))
		p.RemainingCost = left * (p.Cost - r.startCost)
	}
	if r.Progress != nil {
		r.Progress(*p)
	}
}
