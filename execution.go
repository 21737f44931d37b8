package debate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/live"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

// execution is a step that a driver executes. It implements step.Host: it turns what happens in the step into events, log
// lines and what an observer sees.
type execution struct {
	run       step.Run // its plan has all that the step needs from the record, so that steps can run concurrently
	engine    *Engine
	debate    string    // ID of the debate
	created   time.Time // when the debate was created
	promptSeq int64     // seq of the last entry that the prompt is made from
	role      string
	documents []evidence.Document // private ones that the actor reads; with their texts while the step runs
	cites     bool                // its turn may cite sources
	labels    map[string]string   // of the debate

	launched    time.Time
	after, over chan struct{} // closed when the actor's previous step ends, and when this one ends

	ctx     context.Context
	cancel  context.CancelCauseFunc
	end     func(Outcome) // ends the step for the observer; nil if nobody observes it
	feed    *live.Feed[Event]
	reports *reporter
	tools   *rounds.Box // nil if the step has no tools
	commits committer   // commits rounds of tool calls
	// emit shows an event that carries the given seq; nil if there is no viewer.
	emit func(ev Event, seq int64) error
	show func(ev Event, seq int64) error // what emitShown calls
	turn *transcript.Turn                // nil if there is none yet
	err  error                           // how the step ended; nil if its turn was committed or is no longer wanted
	// shown is emitShown as a value. It stays when the execution is reused.
	shown func(ev Event, seq int64) error
}

// executionPool holds executions for reuse, because each is as large as a turn with its prompt.
var executionPool = sync.Pool{New: func() any {
	x := new(execution)
	x.shown = x.emitShown
	return x
}}

// release gives the execution back to the pool. Nothing may use it afterwards.
func (x *execution) release() {
	prompting.Release(&x.run.Plan.Prompt)
	x.documents = nil // their texts are private
	executionPool.Put(x)
}

func (x *execution) key() transcript.Key { return x.run.Plan.Step.Key }

// isWanted reports whether the step may still be committed. It is false for another debate with the same id.
func (x *execution) isWanted(r *record) bool {
	return r.times.created.Equal(x.created) && r.open(x.key()) != nil
}

// emitShown shows an event while the step's timer stands still.
func (x *execution) emitShown(ev Event, seq int64) error {
	x.run.Viewing(true)
	err := x.show(ev, seq)
	x.run.Viewing(false) // not deferred: a panic of the viewer is not the step's
	return err
}

// perform executes the step, sets its turn or its error, and returns the error.
func (x *execution) perform() error {
	x.err = context.Canceled // if the viewer panics, or the goroutine ends
	defer func() { x.unobserve(x.err) }()
	s := &x.run.Plan.Step
	x.ctx, x.end = x.reports.observe(x.ctx, Step{Debate: x.debate, Attempt: Attempt{Key: s.Key, Kind: s.Kind, Role: x.role}})
	turn, err := x.run.Do(x.ctx, x.cancel, x)
	if x.turn = turn; err == nil && x.cites {
		x.cite()
	}
	x.err = x.publicError(err)
	return x.err
}

// cite sets what the turn cites. The quotes are checked while nobody else waits for the journal.
func (x *execution) cite() {
	var found *sources.Cited
	var kept *sources.Texts
	x.commits.read(func(r *record) { found, kept = r.Sources.Cite(x.turn, sources.TextsOf(x.documents)), r.env.texts })
	x.turn.Citations = found.Check(kept)
}

// publicError returns a *Failure for a *step.Failure, and any other error unchanged.
func (x *execution) publicError(err error) error {
	if f, failed := err.(*step.Failure); failed { //nolint:errorlint // the step returns it as it is
		return x.failureFrom(f)
	}
	return err
}

// failureFrom returns the failure of the step, or nil if f is nil.
func (x *execution) failureFrom(f *step.Failure) *Failure {
	if f == nil {
		return nil
	}
	stack := ""
	if p, ok := errors.AsType[*panics.Error](f); ok {
		stack = p.Stack
	}
	return &Failure{
		Key: x.key(), Kind: f.Err.Kind, Provider: f.Provider, Model: f.Model, Attempts: f.Number, AttemptDetails: f.Attempts,
		Started: f.Started, At: f.At, Message: f.Message, Stack: stack, Recoverable: true,
		Unreachable: f.Unreachable, OnlyReasoning: f.OnlyReasoning, OutOfTime: f.OutOfTime, RetryAfter: f.RetryAfter, cause: f.Err,
	}
}

// failure returns the failure of a step that has ended. For a step that ended with the time budget, this is one that
// holds its usage. It returns nil if there is none.
func (x *execution) failure() *Failure {
	if f, failed := errors.AsType[*Failure](x.err); failed {
		return f
	}
	if errors.Is(x.err, step.ErrOutOfTime) {
		return x.failureFrom(x.run.Spent())
	}
	return nil
}

// unfinished returns the failure of a step whose goroutine has ended.
func (x *execution) unfinished() *Failure {
	return &Failure{
		Key: x.key(), Kind: providers.Panic, At: time.Now().UTC(), Message: errUnfinished.Error(), Recoverable: true, cause: errUnfinished,
	}
}

// failures returns the failures of steps that have ended.
func failures(list []*execution) (failed []*Failure) {
	for _, x := range list {
		if f := x.failure(); f != nil {
			failed = append(failed, f)
		}
	}
	return failed
}

// unobserve ends the step for the observer. err is why it failed.
func (x *execution) unobserve(err error) {
	if x.end == nil {
		return
	}
	o := Outcome{Err: err}
	if err == nil {
		t := *x.turn
		o.Turn = &t
	}
	x.end(o)
}

// noteWait writes a note about a wait to the journal, so that the next job knows how long the debate has waited.
func (x *execution) noteWait(c *transaction) error {
	value, err := json.Marshal(map[string]string{"actor": x.key().Actor, "provider": x.run.Plan.Model.Provider, "phase": x.key().Phase})
	if err != nil || !c.rec.lifecycle.State.Active() {
		return err
	}
	name := "rate_limit"
	if x.run.Unreachable() {
		name = outageNote
	}
	return c.add(Annotated{EventMeta: c.stamp("annotated"), At: c.now, Name: name, Value: value})
}

// call is one call of a model in a step. It implements step.Call. An execution is reused for other steps, so a call has
// what a late piece of the reply needs.
type call struct {
	ctx     attemptContext
	live    live.Attempt[Event]
	chunks  EventMeta         // of its chunks; all its events have the same Seq
	host    *execution        // while the call is in progress
	feed    *live.Feed[Event] // nil for a summary that shortens a prompt, of which no events tell
	reports *reporter
	emit    func(ev Event, seq int64) error
	end     func(Outcome)      // ends the call for the observer; nil if nobody observes it
	request *providers.Request // what it asks; nil if nobody observes it
}

// Begin implements step.Host.
func (x *execution) Begin(ctx context.Context, a step.Attempt) (context.Context, step.Call, error) {
	s := &x.run.Plan.Step
	c := &call{host: x, reports: x.reports, ctx: attemptContext{ctx, Step{
		Debate: x.debate, Attempt: Attempt{Key: s.Key, Kind: s.Kind, Role: x.role, Number: a.Number}, Provider: a.Provider, Model: a.Request.Model,
	}}}
	if a.Summary {
		c.ctx.Kind = transcript.Summary
	} else if err := c.start(); err != nil {
		return ctx, c, err
	}
	if ctx, c.end = x.reports.observe(&c.ctx, c.ctx.Step); c.end != nil {
		c.request = new(*a.Request)
		c.request.OnChunk = nil
	}
	return ctx, c, nil
}

// start shows that an attempt begins.
func (c *call) start() error {
	x := c.host
	c.feed, c.emit = x.feed, x.emit
	c.chunks = EventMeta{Type: "chunk", Seq: x.run.Plan.Step.VisibleSeq, Live: true}
	c.live.Key, c.live.Events = x.key(), c
	c.feed.Begin(&c.live)
	if c.emit == nil && x.reports.queue == nil {
		return nil
	}
	ev := c.StartEvent()
	if x.reports.queue != nil {
		x.reports.live(c.ctx.Debate, ev)
	}
	if c.emit == nil {
		return nil
	}
	return c.emit(ev, c.chunks.Seq)
}

// Chunk implements step.Call.
func (c *call) Chunk(text string) error {
	offset := 0
	if text != "" {
		offset = c.feed.Add(&c.live, text)
	}
	reports := c.reports
	if text == "" || c.emit == nil && reports.queue == nil || c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	ev := c.ChunkEvent(offset, text)
	if reports.queue != nil {
		reports.live(c.ctx.Debate, ev)
	}
	if c.emit == nil {
		return nil
	}
	return c.emit(ev, c.chunks.Seq)
}

// StartEvent implements live.Maker.
func (c *call) StartEvent() Event {
	return TurnStarted{EventMeta: EventMeta{Type: "turn_started", Seq: c.chunks.Seq, Live: true}, Attempt: &c.ctx.Attempt}
}

// ChunkEvent implements live.Maker.
func (c *call) ChunkEvent(offset int, text string) Event {
	return Chunk{EventMeta: &c.chunks, Attempt: &c.ctx.Attempt, Offset: offset, Text: text}
}

// Text implements step.Call.
func (c *call) Text() string { return c.feed.Text(&c.live) }

// End implements step.Call.
func (c *call) End(a *transcript.Attempt, r *providers.Response, err error) {
	end := c.end
	if end == nil {
		return
	}
	o := Outcome{Err: c.host.publicError(err), Request: c.request}
	if a != nil {
		o.Attempt, o.Response = new(*a), new(*r)
	}
	c.end, c.request = nil, nil
	end(o)
}

// Failed implements step.Call.
func (c *call) Failed(e *providers.Error, wait time.Duration) error {
	x := c.host
	ev := TurnFailed{EventMeta: liveMeta("turn_failed"), Attempt: &c.ctx.Attempt, Error: e.Kind, Message: x.run.Plan.Pseudonyms.Reveal(e.Error()), RetryIn: wait}
	if doubtful, ok := errors.AsType[*step.Doubtful](e); ok {
		ev.Doubtful, ev.Message = true, x.run.Plan.Pseudonyms.Reveal(doubtful.Error())+"; asked once more"
	}
	c.feed.Fail(x.key(), ev)
	if x.reports.queue != nil {
		x.reports.live(x.debate, ev)
	}
	x.reports.logAttempt(x.ctx, x.debate, ev)
	if c.emit == nil {
		return nil
	}
	return c.emit(ev, ev.Seq)
}

// committer commits what happens in a step before its turn.
type committer interface {
	// commitRound has f add events and commits them. It returns an error if they cannot be committed.
	commitRound(f func(*transaction) error) error
	// read has f read the record.
	read(f func(*record))
}

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
