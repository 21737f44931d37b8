package debate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/elenchus-go/debate/internal/core"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/findings"
	"github.com/elenchus-go/debate/internal/live"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

// execution is a step that a driver executes. It implements step.Host: it turns what happens in the step into events, log
// lines and what an observer sees.
//
// newExecution makes it from the record, under the journal's mutex. From then on it needs the record no more: perform hands its plan
// to package step, which calls the model, and calls the execution back when an attempt begins, a chunk comes, a tool is called or an
// attempt fails. What is left at the end is a turn or an error, which the driver commits.
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
	tools   *rounds.Caller // nil if the step has no tools
	commits committer      // commits rounds of tool calls
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
func (x *execution) isWanted(r *core.State) bool {
	return r.Times.Created.Equal(x.created) && r.Open(x.key()) != nil
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
	x.ctx, x.end = x.reports.observe(x.ctx, Step{
		Debate: x.debate,
		Attempt: Attempt{
			Key:  s.Key,
			Kind: s.Kind,
			Role: x.role,
		},
	})
	turn, err := x.run.Do(x.ctx, x.cancel, x)
	x.turn = turn
	if err == nil && x.cites {
		x.cite()
	}
	x.err = err
	return x.err
}

// cite sets what the turn cites. The quotes are checked while nobody else waits for the journal.
func (x *execution) cite() {
	var found *sources.Cited
	var kept *sources.Texts
	x.commits.read(func(r *core.State) {
		found = r.Sources.Cite(x.turn, sources.TextsOf(x.documents))
		kept = r.Engine.Texts
	})
	x.turn.Citations = found.Check(kept)
}

// failure returns the failure of a step that has ended. For a step that ended with the time budget, this is one that
// holds its usage. It returns nil if there is none.
func (x *execution) failure() *Failure {
	if f, failed := errors.AsType[*Failure](x.err); failed {
		return f
	}
	if errors.Is(x.err, step.ErrOutOfTime) {
		return x.run.Spent()
	}
	return nil
}

// unfinished returns the failure of a step whose goroutine has ended.
func (x *execution) unfinished() *Failure {
	return &Failure{
		Key:         x.key(),
		Kind:        providers.Panic,
		At:          time.Now().UTC(),
		Message:     errUnfinished.Error(),
		Recoverable: true,
		Cause:       errUnfinished,
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
	value, err := json.Marshal(map[string]string{
		"actor":    x.key().Actor,
		"provider": x.run.Plan.Model.Provider,
		"phase":    x.key().Phase,
	})
	if err != nil || !c.State.Lifecycle.State.Active() {
		return err
	}
	name := "rate_limit"
	if x.run.Unreachable() {
		name = core.OutageNote
	}
	return c.Decide(&core.Act{Kind: journal.ActWait, Given: Annotated{
		EventMeta: c.StampFor(journal.ActWait, "annotated"),
		At:        c.Now,
		Name:      name,
		Value:     value,
	}})
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
	c := &call{
		host:    x,
		reports: x.reports,
		ctx: attemptContext{ctx, Step{
			Debate: x.debate,
			Attempt: Attempt{
				Key:    s.Key,
				Kind:   s.Kind,
				Role:   x.role,
				Number: a.Number,
			},
			Provider: a.Provider,
			Model:    a.Request.Model,
		}},
	}
	if a.Summary {
		c.ctx.Kind = transcript.Summary
	} else if err := c.start(); err != nil {
		return ctx, c, err
	}
	ctx, c.end = x.reports.observe(&c.ctx, c.ctx.Step)
	if c.end != nil {
		c.request = new(*a.Request)
		c.request.OnChunk = nil
	}
	return ctx, c, nil
}

// start shows that an attempt begins.
func (c *call) start() error {
	x := c.host
	c.feed = x.feed
	c.emit = x.emit
	c.chunks = EventMeta{
		Type: "chunk",
		Seq:  x.run.Plan.Step.VisibleSeq,
		Live: true,
	}
	c.live.Key, c.live.Events = x.key(), c
	c.feed.Begin(&c.live)
	if !c.isWatched() {
		return nil
	}
	return c.show(c.StartEvent(), c.chunks.Seq)
}

// isWatched reports whether somebody is shown the events of the call.
func (c *call) isWatched() bool { return c.emit != nil || c.reports.queue != nil }

// show shows an event to the observer, and then to the viewer, who may end the call.
func (c *call) show(ev Event, seq int64) error {
	c.reports.live(c.ctx.Debate, ev)
	if c.emit == nil {
		return nil
	}
	return c.emit(ev, seq)
}

// Chunk implements step.Call.
func (c *call) Chunk(text string) error {
	offset := 0
	if text != "" {
		offset = c.feed.Add(&c.live, text)
	}
	if text == "" || !c.isWatched() || c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	return c.show(c.ChunkEvent(offset, text), c.chunks.Seq)
}

// StartEvent implements live.Maker.
func (c *call) StartEvent() Event {
	return TurnStarted{EventMeta: EventMeta{
		Type: "turn_started",
		Seq:  c.chunks.Seq,
		Live: true,
	}, Attempt: &c.ctx.Attempt}
}

// ChunkEvent implements live.Maker.
func (c *call) ChunkEvent(offset int, text string) Event {
	return Chunk{
		EventMeta: &c.chunks,
		Attempt:   &c.ctx.Attempt,
		Offset:    offset,
		Text:      text,
	}
}

// Text implements step.Call.
func (c *call) Text() string { return c.feed.Text(&c.live) }

// End implements step.Call.
func (c *call) End(a *transcript.Attempt, r *providers.Response, err error) {
	end := c.end
	if end == nil {
		return
	}
	o := Outcome{Err: err, Request: c.request}
	if a != nil {
		o.Attempt = new(*a)
		o.Response = new(*r)
	}
	c.end = nil
	c.request = nil
	end(o)
}

// Failed implements step.Call.
func (c *call) Failed(e *providers.Error, wait time.Duration) error {
	x := c.host
	ev := TurnFailed{
		EventMeta: core.LiveMeta("turn_failed"),
		Attempt:   &c.ctx.Attempt,
		Error:     e.Kind,
		Message:   x.run.Plan.Pseudonyms.Reveal(e.Error()),
		RetryIn:   wait,
	}
	if doubtful, ok := errors.AsType[*step.Doubtful](e); ok {
		ev.Doubtful = true
		ev.Message = x.run.Plan.Pseudonyms.Reveal(doubtful.Error()) + "; asked once more"
	}
	c.feed.Fail(x.key(), ev)
	x.reports.logAttempt(x.ctx, x.debate, ev)
	return c.show(ev, ev.Seq)
}

// committer commits what happens in a step before its turn.
type committer interface {
	// commitRound has f add events and commits them. It returns an error if they cannot be committed.
	commitRound(f func(*transaction) error) error
	// read has f read the record.
	read(f func(*core.State))
}

// Tools implements step.Host.
func (x *execution) Tools(ctx context.Context, c step.Calls) error {
	b := x.tools
	p := &x.run.Plan
	calls := b.Pending()
	stored := calls != nil
	if !stored {
		calls = b.New(
			x.debate,
			x.key(),
			&c,
			p.Pseudonyms.Reveal,
			func(f func(*rounds.Rounds)) {
				x.commits.read(func(r *core.State) { f(&r.Tools) })
			},
		)
	}
	commit := func() error {
		err := x.commitCalls(&c, calls, !stored)
		stored = true
		return err
	}
	if b.Decide(calls) {
		if err := commit(); err != nil {
			return err
		}
		return fmt.Errorf("a call waits for a person: %w", step.ErrSuperseded)
	}
	if b.BeginOnce(calls) {
		if err := commit(); err != nil {
			return err
		}
	}
	number := b.Attempt(&c)
	tokens := func(call *tool.Record) int {
		shown := step.Result{
			Text:    call.Text,
			Sources: rounds.LongestHeading(call.Sources),
		}
		return p.Count(p.Model.Request.Model, shown.Enclose(p.Pseudonyms, call.Name))
	}
	err := b.Run(ctx, calls, &c, tokens, func(ctx context.Context, call *tool.Record) (context.Context, func(error)) {
		return x.beginTool(ctx, call, number)
	})
	if err != nil {
		return err
	}
	if err := commit(); err != nil {
		return err
	}
	c.Results = rounds.Results(calls)
	return nil
}

// commitCalls commits a round, with what the model has called if it is new. If it waits for a person, the debate asks.
func (x *execution) commitCalls(c *step.Calls, calls []tool.Record, isNew bool) error {
	if x.run.Plan.Private { // its rounds may quote the document; after a crash, it begins again
		return nil
	}
	ev := ToolsCalled{
		Key:    x.key(),
		Kind:   x.run.Plan.Step.Kind,
		Number: c.Number,
		Calls:  sources.Clone(calls),
	}
	if isNew {
		ev.VisibleSeq = x.run.Plan.Step.VisibleSeq
		ev.Attempts = c.Attempts
		ev.Parts = c.Parts
	}
	rounds.FitSources(ev.Parts, ev.Calls)
	defer copy(calls, ev.Calls) // with their numbers
	return x.commits.commitRound(func(t *transaction) error {
		ev.EventMeta = t.StampFor(journal.ActTools, "tools")
		ev.At = t.Now
		isOpen := x.isWanted(t.State) && t.State.Tools.Check(&ev) == nil
		if !isOpen { // another process was first, or the debate has moved on
			return fmt.Errorf("the step or its round of tool calls is no longer open: %w", step.ErrSuperseded)
		}
		t.State.Sources.Number(ev.Key, x.run.Plan.Step.VisibleSeq, ev.Calls)
		return t.Decide(&core.Act{
			Kind:  journal.ActTools,
			Given: ev,
		})
	})
}

// beginTool tells the observer that a call of a tool begins. It returns the context of the call, and what to do when the call
// has ended.
func (x *execution) beginTool(ctx context.Context, call *tool.Record, number int) (context.Context, func(error)) {
	s := &x.run.Plan.Step
	within := &attemptContext{ctx, Step{
		Debate: x.debate,
		Attempt: Attempt{
			Key:    s.Key,
			Kind:   s.Kind,
			Role:   x.role,
			Number: number,
		},
		Tool: call.Name,
	}}
	observed, end := x.reports.observe(within, within.Step)
	private := x.run.Plan.Private
	if private {
		observed = providers.WithPrivate(observed)
	}
	return observed, func(err error) {
		shown := *call
		if private {
			shown = rounds.Hide(call)
			err = step.HideError(err)
		}
		if err != nil {
			x.reports.logTool(ctx, within.Step, &shown, err)
		}
		if end != nil {
			end(Outcome{Err: err, Call: &shown})
		}
	}
}

// allThrottled reports whether a rate limit of a participant's provider affects all participants: each uses the same
// provider or had to wait for its own.
func allThrottled(r *core.State, p *Participant) bool {
	for _, s := range r.Participants {
		if other, _, ok := r.Actor(s.Name); ok && other.Provider != p.Provider &&
			core.ParticipantStatus(r, s.Name).State != "rate_limited" {
			return false
		}
	}
	return true
}

// offerTools lets the actor of a step call its tools.
func offerTools(e *Engine, r *core.State, x *execution, who *Participant) error {
	p := &x.run.Plan
	s := &x.run.Plan.Step
	l := &r.Config.Limits
	if p.Tools == nil {
		return nil
	}
	list, missing := e.tools.Named(who.Tools)
	if missing != nil {
		return &core.Unsupported{Missing: []string{fmt.Sprintf(
			"tools of %s: this engine lacks %s, see Options.Tools",
			who.Name,
			naming.Enumerate(missing, len(missing)),
		)}}
	}
	p.Tools.List = list
	limitTools(e, &p.Model, p)
	for i := range p.Substitutes {
		limitTools(e, &p.Substitutes[i], p)
	}
	x.tools = &rounds.Caller{
		Set:   e.tools,
		Names: who.Tools,
		Limits: toolcall.Limits{
			Calls:   l.ToolCalls,
			Bytes:   l.ToolBytes,
			Timeout: l.ToolTimeout,
		},
	}
	if o := r.Tools.Of(s.Key); o != nil {
		p.Tools.Rounds = o.Plan()
		p.Tools.Counted = o.Counted
		x.tools.ContinueFrom(&r.Tools, o)
	}
	p.Tools.Most = core.AffordableRounds(r, s, who, p.Prompt.Tokens+p.Tools.Room, l.ToolRounds)
	if p.Tools.Most == 0 {
		p.Tools.Warning = "the budgets leave nothing for calls of tools: " + s.Actor + " replies without them"
	}
	return nil
}

// limitTools asks the provider of a model whether it can call tools, and whether it can do so with a schema.
//
//nolint:contextcheck // the plan of a step belongs to no call: the question is about settings, and calls no service
func limitTools(e *Engine, m *step.Model, p *step.Plan) {
	name, client, err := e.providers.Bind(m.Provider)
	if err != nil {
		return
	}
	r := m.Request
	r.Messages = nil
	r.Tools = p.Tools.List
	r.Schema = p.Model.Request.Schema
	found, _, _ := e.asker().Unsupported(context.Background(), name, client, r) // a panic is logged
	m.NoTools = found["tools"] != ""
	m.Gathers = found["schema"] != "" && r.Schema != nil
}

// newExecution returns the execution of a step, with its request.
func (e *Engine) newExecution(r *core.State, s protocol.Step) (*execution, error) {
	who, seat, ok := r.Actor(s.Actor)
	if !ok {
		return nil, fmt.Errorf(
			"plan step %s: %q is not a participant, judge or system actor: %w",
			s.Phase,
			s.Actor,
			errProtocol,
		)
	}
	x := executionPool.Get().(*execution)
	shown := x.shown
	digests := x.run.Plan.Prompt.Digests[:0] // their memory is used again
	*x = execution{}                         // a literal with fields would be made elsewhere and copied
	x.engine = e
	x.shown = shown
	x.reports = e.reports
	x.debate = r.ID
	x.promptSeq = r.Seq
	x.role = seat.Role
	x.created = r.Times.Created
	p := &x.run.Plan
	own := []string(nil)
	p.Prompt.Digests = digests
	e.setPlan(r, p, &s, who)
	x.documents = core.PrivateOnes(r.ActorSettings().DocumentsOf(s.Actor))
	x.labels = r.Config.Labels
	p.Private = x.documents != nil
	x.cites = core.HasSources(r.Config)
	p.Names, own = r.NamesFor(&s)
	p.Left = r.Left(&s)
	var err error
	p.Contract, err = core.ContractFor(r, &s)
	if err != nil {
		return nil, err
	}
	if p.Contract != nil {
		p.Model.Request.SchemaName = s.Contract
		p.Model.Request.Schema = p.Contract.Schema() // Build adds names to the schema
	}
	if s.Actor == protocol.Embedder {
		p.Model.Request.Messages = findings.SpeechesToEmbed(&r.Record, who.Window, &s)
		return x, nil
	}
	if !p.Prompt.Set.Has(s.Prompt) {
		return nil, &core.Unsupported{Missing: []string{fmt.Sprintf("prompt %q is unknown, add it to Options.Prompts", s.Prompt)}}
	}
	if err := r.Build(p, seat, own); err != nil {
		return nil, err
	}
	if s.Kind == transcript.Summary {
		wanted := r.History.Wanted.Tokens + reasoning.Tokens(who.Reasoning)
		p.Model.Request.MaxTokens = min(cmp.Or(who.MaxTokens, wanted), wanted)
		if p.Window == nil { // show the window that led to the summary
			led := r.History.Wanted.Window
			p.Window = &led
		}
	}
	return x, offerTools(e, r, x, who)
}

// setPlan sets what the plan of a step has besides the prompt and the contract of the reply.
func (e *Engine) setPlan(r *core.State, p *step.Plan, s *protocol.Step, who *Participant) {
	c := r.Config
	p.Step = *s
	p.Pseudonyms = r.Pseudonyms(s)
	p.Count = r.Engine.Count
	p.Prices = c.Prices
	p.Retries = c.Retries
	p.Keys = r.Keys
	p.Model = step.Model{
		Provider: who.Provider,
		Request:  who.Request(),
		Window:   who.Window,
	}
	if s.Actor == protocol.Retriever && s.Target == protocol.Passages {
		p.Model = step.Model{
			Provider: clients.Documents,
			Client:   clients.Passages(c.Documents),
			Window:   who.Window,
		}
	}
	p.Participating = r.Participates(s.Actor)
	p.Judging = slices.Contains(r.Judges, s.Actor)
	p.NoText = actor.MakesNoText(s.Actor)
	p.Concluding = r.Cursor.Stage == transcript.Conclusion
	if p.Participating && s.Contract == "" {
		p.KeepPartial = c.OnFailure == Degrade
		p.Speech = r.Seats(s)
		p.RefusalFails = c.OnRefusal == Degrade
	}
	p.UseDefault = hasDefault(r, s)
	p.KeepReasoning = e.keepReasoning
	p.KeepReplies = e.keepReplies
	p.Answers = &e.answers
	p.Closing = e.closing
	p.Prompt.Set = r.Settings.Templates
	p.Prompt.Shorten = c.OnOverflow != Degrade && c.OnOverflow != End
	p.Prompt.Summarize = c.OnOverflow == OverflowSummarize
	setLimits(r, p, s, who)
	addSubstitutes(r, p, s, who)
	if p.Prompt.Summarize {
		p.Summarizer = step.Model{
			Request:      c.Summarizer.Request(),
			Instructions: c.Summarizer.Instructions,
		}
		p.Summarizer.Provider, p.Summarizer.Client, _ = r.Engine.Bind(c.Summarizer.Provider)
	}
}

// setLimits sets how often a step may try, and how long it may take and wait.
func setLimits(r *core.State, p *step.Plan, s *protocol.Step, who *Participant) {
	a := core.AccountOf(r)
	p.Limits.Attempts = r.Config.Limits.StepAttempts
	p.Limits.Remaining = a.Remaining()
	p.Limits.Time, p.Limits.Budget = a.StepTime()
	if p.Participating && s.Kind != transcript.Conclusion && allThrottled(r, who) {
		p.Limits.RateLimit = p.Limits.Remaining
	}
	dispensable := s.Actor == protocol.Embedder || s.Actor == protocol.Retriever && p.UseDefault
	if !dispensable { // otherwise the debate continues without the reply
		setPatience(r, &p.Limits)
	}
}

// addSubstitutes adds the models that may stand in for that of a step, as far as the engine has their providers.
func addSubstitutes(r *core.State, p *step.Plan, s *protocol.Step, who *Participant) {
	for _, other := range core.SubstitutesOf(r, s.Actor) {
		name, client, err := r.Engine.Bind(other.Provider)
		if err != nil {
			continue
		}
		m := step.Model{
			Provider: name,
			Client:   client,
			Request:  other.Request(),
			Window:   other.Window,
			Room:     other.Window - other.MaxTokens,
		}
		m.Request.MaxTokens = other.LimitFor(who)
		p.Substitutes = append(p.Substitutes, m)
	}
}

// hasDefault reports whether the debate continues with a default reply if a step fails.
func hasDefault(r *core.State, s *protocol.Step) bool {
	switch s.Actor {
	case protocol.Retriever:
		return r.Config.OnRetrievalFailure == Continue
	case protocol.Embedder:
		return true
	case protocol.Summarizer:
		return s.Kind != transcript.Conclusion
	}
	return slices.Contains(r.Judges, s.Actor) && r.Config.OnJudgeFailure == Continue
}

// setPatience sets how long a step may wait for a provider that it cannot reach. Earlier jobs may have waited for it too.
func setPatience(r *core.State, l *step.Limits) {
	waited := r.Times.Outage
	l.Outage = max(l.Remaining-waited, 1)
	l.OutageUnknown = max(r.Config.Limits.StepTimeout-waited, 1)
	if most := r.Config.Limits.OutageTime; most > 0 {
		l.OutageTime = max(most-waited, 1)
	}
}

// Others implements step.Host. It asks other providers, so it may take some seconds.
func (x *execution) Others(ctx context.Context, provider string, since time.Time) step.Others {
	e := x.engine
	p := &x.run.Plan
	var others []clients.Actor
	x.commits.read(func(r *core.State) {
		if r.Config != nil && canLose(r, p) {
			others = e.othersThan(r, p, provider)
		}
	})
	if len(others) == 0 {
		return step.OthersWait
	}
	if !e.answers.CameSince(provider, time.Time{}) { // its address is probably wrong: any answer of others shows that
		since = time.Time{}
	}
	answered := slices.ContainsFunc(others, func(other clients.Actor) bool {
		return e.answers.CameSince(other.Provider, since)
	})
	if answered {
		return step.OthersAnswer
	}
	answer, known := e.asker().AnyAnswers(ctx, others)
	switch {
	case answer:
		return step.OthersAnswer
	case known:
		return step.OthersWait
	}
	return step.OthersUnknown
}

// canLose reports whether the debate can go on without the reply of a step, as it does after other failures.
func canLose(r *core.State, p *step.Plan) bool {
	switch actor := p.Step.Actor; {
	case p.Participating:
		return core.CanDrop(r, &Failure{Key: p.Step.Key})
	case p.Judging:
		return len(r.Judges) > 1
	default:
		return actor == protocol.Summarizer && p.Step.Kind != transcript.Conclusion
	}
}

// othersThan returns those who go on with other providers if a step fails that cannot reach the given one: judges if it is
// a step of a judge, otherwise participants.
func (e *Engine) othersThan(r *core.State, p *step.Plan, provider string) (list []clients.Actor) {
	going := r.ParticipantNames()
	if p.Judging {
		going = r.Judges
	}
	for _, x := range e.clientsOf(r.Config) {
		person := x.NoText
		if !person &&
			x.Provider != provider &&
			x.Seat != p.Step.Actor &&
			slices.Contains(going, x.Seat) {
			list = append(list, x)
		}
	}
	return list
}
