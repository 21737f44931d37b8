package eval

import (
	"context"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/runs"
)

// Run makes the runs that are missing in the store of o, goes on with those that were interrupted, retries those that
// ended in error, and returns the report of all. It makes an engine with o.
//
// Before the first call, Run returns an error if a task or a configuration cannot be used, or if the store has runs of an
// arm with another configuration. It ends early if a service rejects a key or an account has no money, if the store fails,
// and with the error of ctx if ctx ends; nothing that is committed is lost. At a limit, or after Stop, there is no error:
// the report says what is missing.
func (e Evaluation) Run(ctx context.Context, o debate.Options) (*Report, error) {
	w, err := e.open(o)
	if err != nil {
		return nil, err
	}
	return w.Run(ctx)
}

// Report returns the report of what is stored. It makes no run.
func (e Evaluation) Report(ctx context.Context, o debate.Options) (*Report, error) {
	w, err := e.open(o)
	if err != nil {
		return nil, err
	}
	return w.Stored(ctx)
}

// open returns the work of the evaluation over the store of o.
func (e Evaluation) open(o debate.Options) (w runs.Work[Report], err error) {
	if err := e.check(); err != nil {
		return w, err
	}
	empty := (&runner{Evaluation: e}).compared(nil)
	var wrong []error
	for _, text := range e.Require {
		if _, err := empty.require(text); err != nil {
			wrong = append(wrong, err)
		}
	}
	if err := runs.Check("evaluation", wrong); err != nil {
		return w, err
	}
	o.Documents = e.texts(o.Documents)
	shared, err := runs.Open(e.runs(), o)
	if err != nil {
		return w, err
	}
	r := &runner{e, shared}
	return runs.Work[Report]{
		Runner: shared, CheckConfigs: r.checkConfigs, AddStored: r.readStored, Read: r.report,
		Tasks: len(e.Tasks), Do: func(ctx context.Context, i int) (bool, error) { return r.runTask(ctx, e.Tasks[i]) },
	}, nil
}
