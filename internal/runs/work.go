package runs

import (
	"context"
	"fmt"
)

// Work is what a runner makes: the runs of an evaluation, or the games of a tournament. Report is its report.
type Work[Report any] struct {
	*Runner
	CheckConfigs func(context.Context) error // whether the configurations can be used
	AddStored    func(context.Context) error // counts what is stored; see Runner.ReadStored
	Tasks        int
	Do           func(ctx context.Context, task int) (whole bool, err error) // see Runner.Each
	Read         func(context.Context) (*Report, error)                      // reads all runs
}

// Run makes the runs that are missing, returns the report of all, and closes the runner.
func (w Work[Report]) Run(ctx context.Context) (*Report, error) {
	defer w.Close(ctx)
	if err := w.CheckConfigs(ctx); err != nil {
		return nil, err
	}
	if err := w.AddStored(ctx); err != nil {
		return nil, err
	}
	if err := w.Each(ctx, w.Tasks, w.Do); err != nil {
		return nil, fmt.Errorf("run %s %s: %w", w.config.What, w.config.Name, err)
	}
	return w.Read(ctx)
}

// Stored returns the report of what is stored, and closes the runner.
func (w Work[Report]) Stored(ctx context.Context) (*Report, error) {
	defer w.Close(ctx)
	if err := w.AddStored(ctx); err != nil {
		return nil, err
	}
	return w.Read(ctx)
}
