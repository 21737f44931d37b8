package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report/progress"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Drive creates or opens a debate and drives it until it ends, fails, waits for somebody or the runner is stopped. It returns
// the status in which the debate then is, which is zero if it was not begun, and an error only if further runs are of no use.
func (r *Runner) Drive(ctx context.Context, c debate.Config) (store.Status, error) {
	return r.DriveFork(ctx, c.ID, func(ctx context.Context) (*debate.Debate, error) { return r.Engine.Create(ctx, c) })
}

// DriveFork works as Drive does, for a debate that create creates, such as a fork. What the debate has from its parent does not count as used.
func (r *Runner) DriveFork(ctx context.Context, id string, create func(context.Context) (*debate.Debate, error)) (store.Status, error) {
	d, err := r.Engine.Open(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		if r.Stopped() {
			return store.Status{}, nil
		}
		d, err = create(ctx)
	}
	if err != nil {
		return store.Status{}, err
	}
	s, err := d.Status(ctx)
	waits := s.State == fsm.Paused && len(s.Waiting) > 0 // for people, who continue it by their replies
	if err != nil || s.State.Final() || waits || r.Stopped() {
		return s, err
	}
	switch s.State { //nolint:exhaustive // in all others it goes on by itself
	case fsm.Error:
		err = d.Retry(ctx)
	case fsm.Paused:
		err = d.Resume(ctx)
	}
	if _, refused := errors.AsType[*fsm.Refused](err); refused { // it cannot go on without a person
		return s, nil
	} else if err != nil {
		return s, err
	}
	before, err := used(ctx, d, s)
	if err != nil {
		return s, err
	}
	counted, err := r.follow(ctx, d, s.Seq)
	if err != nil {
		return s, err
	}
	end, err := d.Status(ctx)
	if err != nil {
		return s, err
	}
	after, err := used(ctx, d, end)
	if err != nil {
		return s, err
	}
	r.settle(end, before.Add(counted), after)
	return end, r.checkCost(end.ID, after)
}

// follow drives a debate from the entry seq on, or has workers drive it, until it ends, pauses or fails. It returns the usage of its
// turns, which it has counted, and an error if further runs are of no use.
func (r *Runner) follow(ctx context.Context, d *debate.Debate, seq int64) (counted transcript.Usage, err error) {
	events := d.Run(ctx)
	if r.schedules {
		err := d.Start(ctx)
		if _, refused := errors.AsType[*fsm.Refused](err); err != nil && !refused { // a worker may have been faster: the events tell
			return counted, err
		}
		events = d.Watch(ctx, seq)
	}
	if r.config.Stop != nil {
		over := make(chan struct{})
		defer close(over)
		go func() {
			select {
			case <-r.config.Stop:
				_ = d.Pause(ctx) // refused if it has just ended
			case <-over:
			}
		}()
	}
	for event, err := range events {
		if err != nil {
			return counted, fatal(err)
		}
		switch ev := event.(type) {
		case debate.TurnDone:
			if ev.Repeats == 0 { // otherwise it is a turn of the parent
				counted = counted.Add(ev.Turn.Usage)
				r.spend(ev.Turn.Usage)
			}
		case debate.StateChanged:
			if r.schedules && (ev.To == fsm.Error || ev.To == fsm.Paused) {
				return counted, nil
			}
		}
		if r.Stopped() {
			_ = d.Pause(ctx) // refused if it has just ended or is paused
		}
	}
	return counted, nil
}

// fatal returns an error of driving a debate if other debates would fail in the same way, or if it is not about the debate.
func fatal(err error) error {
	failure, failed := errors.AsType[*debate.Failure](err)
	switch {
	case !failed:
		return err
	case failure.Kind == providers.Authentication, failure.Kind == providers.Billing, failure.Kind == providers.WrongAddress,
		failure.Unreachable:
		return fmt.Errorf("%w; %s", err, failure.Hint())
	}
	return nil
}

// spend counts usage.
func (r *Runner) spend(u transcript.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spent.add(u)
}

// settle counts what a run has used beyond what is counted, such as failed attempts, and reports the progress.
func (r *Runner) settle(end store.Status, counted, used transcript.Usage) {
	r.spend(minus(used, counted))
	r.advance(func(p *progress.Tasks) {
		p.Runs++
		if end.State == fsm.Error || end.State == fsm.Canceled {
			p.Failed++
		}
	})
}

// checkCost returns an error if the cost of what a run has used is unknown and there is a limit of cost.
func (r *Runner) checkCost(id string, used transcript.Usage) error {
	if r.config.MaxCost > 0 && used.Unpriced {
		return fmt.Errorf("the cost of debate %s is not known, so the limit of cost cannot hold: add the price of its models to the configuration", id)
	}
	return nil
}
