package debate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/tool"
)

// continueFrom notes the calls that a step has made before.
func (b *toolbox) continueFrom(o *openStep, decided map[string]*Decided) {
	for i := range o.rounds {
		ev := &o.rounds[i]
		if i >= o.counted && !ev.isOpen() {
			b.attempts += len(ev.Attempts)
		}
		if !ev.isOpen() {
			b.made += len(ev.Calls)
			continue
		}
		b.pending = slices.Clone(ev.Calls)
		for _, c := range ev.Calls {
			if d := decided[c.ID]; d != nil {
				put(&b.decided, c.ID, d)
			}
		}
	}
}

// Tools implements step.Host.
func (x *execution) Tools(ctx context.Context, c step.Calls) error {
	b := x.tools
	calls, stored := b.pending, b.pending != nil
	if b.pending = nil; !stored {
		calls = x.newCalls(&c)
	}
	commit := func(waits bool) error {
		err := x.commitCalls(&c, calls, !stored, waits)
		stored = true
		return err
	}
	if b.decide(calls) {
		if err := commit(true); err != nil {
			return err
		}
		return fmt.Errorf("a call waits for a person: %w", step.ErrSuperseded)
	}
	if b.beginOnce(calls) {
		if err := commit(false); err != nil {
			return err
		}
	}
	limits := b.limits
	limits.Total = c.Time
	number := x.attempt(&c)
	err := b.set.Run(ctx, calls, limits, func(ctx context.Context, call *tool.Record) (context.Context, func(error)) {
		return x.beginTool(ctx, call, number)
	})
	if err != nil {
		return err
	}
	tokens := func(call *tool.Record) int {
		return x.run.Plan.Count(x.run.Plan.Model.Request.Model, step.Enclose(x.run.Plan.Pseudonyms, call.Name, call.Text))
	}
	toolcall.Fit(calls, c.Room, tokens)
	if err := commit(false); err != nil {
		return err
	}
	b.made += len(calls)
	c.Results = resultsOf(calls)
	return nil
}

// newCalls returns the calls of a new round. Those that cannot run have their answers.
func (x *execution) newCalls(c *step.Calls) (calls []tool.Record) {
	b := x.tools
	for _, p := range c.Parts {
		if p.ToolCall == nil {
			continue
		}
		arguments := revealArguments(p.ToolCall.Arguments, x.run.Plan.Pseudonyms.Reveal)
		if !json.Valid(arguments) {
			arguments, _ = json.Marshal(string(arguments)) // a text always encodes
		}
		calls = append(calls, tool.Record{ID: callID(x.debate, x.key(), c.Number, len(calls)), Name: p.ToolCall.Name, Arguments: arguments})
	}
	limits := b.limits
	limits.Calls = max(limits.Calls-b.made, 0)
	x.commits.read(func(r *record) {
		b.set.Prepare(calls, b.names, limits, func(call *tool.Record) *tool.Record { return r.tools.results[toolcall.Key(call)] })
	})
	return calls
}

// decide applies what people have decided about calls. It reports whether one of the calls still waits for a person.
func (b *toolbox) decide(calls []tool.Record) (waits bool) {
	for i := range calls {
		c := &calls[i]
		t := b.set[c.Name]
		if c.Done || t == nil || !t.Spec.Approval {
			continue
		}
		c.Waits = true
		switch d := b.decided[c.ID]; {
		case d == nil:
			waits = true
		case d.Action == actionRefuse:
			toolcall.Refuse(c, d.Reason)
		}
	}
	return waits
}

// beginOnce notes the calls that must not run twice. It reports whether there is one that begins now. One that had begun
// before is not repeated.
func (b *toolbox) beginOnce(calls []tool.Record) (begins bool) {
	for i := range calls {
		c := &calls[i]
		switch t := b.set[c.Name]; {
		case c.Done || t == nil || !t.Spec.Once:
		case c.Begun:
			toolcall.Interrupt(c)
		default:
			c.Begun, begins = true, true
		}
	}
	return begins
}

// commitCalls commits a round, with what the model has called if it is new. If it waits for a person, the debate asks.
func (x *execution) commitCalls(c *step.Calls, calls []tool.Record, isNew, waits bool) error {
	if x.run.Plan.Private { // its rounds may quote the document; after a crash, it begins again
		return nil
	}
	ev := ToolsCalled{Key: x.key(), Kind: x.run.Plan.Step.Kind, Number: c.Number, Calls: slices.Clone(calls)}
	if isNew {
		ev.VisibleSeq, ev.Attempts, ev.Parts = x.run.Plan.Step.VisibleSeq, c.Attempts, c.Parts
	}
	fitSources(&ev)
	return x.commits.commitRound(func(t *transaction) error {
		ev.EventMeta, ev.At = t.stamp("tools"), t.now
		if !x.isWanted(t.rec) || t.rec.tools.check(&ev) != nil { // another process was first, or the debate has moved on
			return fmt.Errorf("the step or its round of tool calls is no longer open: %w", step.ErrSuperseded)
		}
		if err := t.add(ev); err != nil || !waits {
			return err
		}
		return t.settle()
	})
}

// attempt returns the number of the attempt that asked for calls.
func (x *execution) attempt(c *step.Calls) int {
	x.tools.attempts += len(c.Attempts)
	return x.tools.attempts
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
			shown, err = hideCall(call), step.HideError(err)
		}
		if err != nil {
			x.reports.logTool(ctx, within.Step, &shown, err)
		}
		if end != nil {
			end(Outcome{Err: err, Call: &shown})
		}
	}
}

// hideCall returns a call of a private step without what may quote the document: its size stands for the result.
func hideCall(c *tool.Record) tool.Record {
	return tool.Record{
		ID: c.ID, Name: c.Name, Begun: c.Begun, Done: c.Done, Error: c.Error, Shared: c.Shared, Size: max(c.Size, len(c.Text)),
		Began: c.Began, Duration: c.Duration,
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
