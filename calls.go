package debate

import (
	"context"
	"errors"
	"fmt"

	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/tool"
)

// Tools implements step.Host.
func (x *execution) Tools(ctx context.Context, c step.Calls) error {
	b, p := x.tools, &x.run.Plan
	calls := b.Pending()
	stored := calls != nil
	if !stored {
		calls = b.New(x.debate, x.key(), &c, p.Pseudonyms.Reveal, func(f func(*rounds.Rounds)) { x.commits.read(func(r *record) { f(&r.tools) }) })
	}
	commit := func(waits bool) error {
		err := x.commitCalls(&c, calls, !stored, waits)
		stored = true
		return err
	}
	if b.Decide(calls) {
		if err := commit(true); err != nil {
			return err
		}
		return fmt.Errorf("a call waits for a person: %w", step.ErrSuperseded)
	}
	if b.BeginOnce(calls) {
		if err := commit(false); err != nil {
			return err
		}
	}
	number := b.Attempt(&c)
	tokens := func(call *tool.Record) int {
		shown := step.Result{Text: call.Text, Sources: rounds.LongestHeading(call.Sources)}
		return p.Count(p.Model.Request.Model, shown.Enclose(p.Pseudonyms, call.Name))
	}
	err := b.Run(ctx, calls, &c, tokens, func(ctx context.Context, call *tool.Record) (context.Context, func(error)) {
		return x.beginTool(ctx, call, number)
	})
	if err != nil {
		return err
	}
	if err := commit(false); err != nil {
		return err
	}
	c.Results = rounds.Results(calls)
	return nil
}

// commitCalls commits a round, with what the model has called if it is new. If it waits for a person, the debate asks.
func (x *execution) commitCalls(c *step.Calls, calls []tool.Record, isNew, waits bool) error {
	if x.run.Plan.Private { // its rounds may quote the document; after a crash, it begins again
		return nil
	}
	ev := ToolsCalled{Key: x.key(), Kind: x.run.Plan.Step.Kind, Number: c.Number, Calls: sources.Clone(calls)}
	if isNew {
		ev.VisibleSeq, ev.Attempts, ev.Parts = x.run.Plan.Step.VisibleSeq, c.Attempts, c.Parts
	}
	rounds.FitSources(ev.Parts, ev.Calls)
	defer copy(calls, ev.Calls) // with their numbers
	return x.commits.commitRound(func(t *transaction) error {
		ev.EventMeta, ev.At = t.stamp("tools"), t.now
		if !x.isWanted(t.rec) || t.rec.tools.Check(ev.round()) != nil { // another process was first, or the debate has moved on
			return fmt.Errorf("the step or its round of tool calls is no longer open: %w", step.ErrSuperseded)
		}
		t.rec.Sources.Number(ev.Key, x.run.Plan.Step.VisibleSeq, ev.Calls)
		if err := t.add(ev); err != nil || !waits {
			return err
		}
		return t.settle()
	})
}

// beginTool tells the observer that a call of a tool begins. It returns the context of the call, and what to do when the call
// has ended.
func (x *execution) beginTool(ctx context.Context, call *tool.Record, number int) (context.Context, func(error)) {
	s := &x.run.Plan.Step
	within := &attemptContext{ctx, Step{
		Debate: x.debate, Attempt: Attempt{Key: s.Key, Kind: s.Kind, Role: x.role, Number: number}, Tool: call.Name,
	}}
	observed, end := x.reports.observe(within, within.Step)
	private := x.run.Plan.Private
	if private {
		observed = providers.WithPrivate(observed)
	}
	return observed, func(err error) {
		shown := *call
		if private {
			shown, err = rounds.Hide(call), step.HideError(err)
		}
		if err != nil {
			x.reports.logTool(ctx, within.Step, &shown, err)
		}
		if end != nil {
			end(Outcome{Err: err, Call: &shown})
		}
	}
}

// logTool writes a line for a call of a tool that has failed.
func (p *reporter) logTool(ctx context.Context, s Step, call *tool.Record, err error) {
	attrs := []any{"debate", s.Debate, "step", s.Key.String(), "tool", s.Tool, "call", call.ID, "kind", call.Error}
	if p.texts {
		attrs = append(attrs, "message", err.Error())
	}
	if f, ok := errors.AsType[*panics.Error](err); ok {
		attrs = append(attrs, "stack", f.Stack)
	}
	p.log.WarnContext(ctx, "tool failed", attrs...)
}
