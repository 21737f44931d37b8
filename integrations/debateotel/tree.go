package debateotel

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// tracing starts and ends spans.
type tracing struct {
	content
	tracer    trace.Tracer
	providers map[string]string // see Options.Providers
}

// providerName returns the value of gen_ai.provider.name for a provider of the engine.
func (t *tracing) providerName(name string) string {
	return clip(cmp.Or(t.providers[name], name), maxName)
}

// drive is the tree of spans of one drive.
type drive struct {
	t    *tracing
	id   string
	ctx  context.Context
	span trace.Span

	mu    sync.Mutex
	round *group // nil outside of rounds
	phase *group
}

// group is the span of a round or a phase. It begins with its first step, and ends with its last.
type group struct {
	ctx        context.Context
	span       trace.Span
	run, round int
	phase      string
	ended      time.Time // when its last step so far has ended
}

// startDrive starts the span of a drive. It is linked to the previous one, if there is one.
func (t *tracing) startDrive(ctx context.Context, id string, at time.Time, previous trace.SpanContext) *drive {
	options := []trace.SpanStartOption{
		trace.WithTimestamp(at), trace.WithSpanKind(trace.SpanKindInternal),
		trace.WithAttributes(attribute.String(keyOperation, operationWorkflow), attribute.String(keyConversation, id)),
	}
	if previous.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: previous}))
	}
	d := &drive{t: t, id: id}
	d.ctx, d.span = t.tracer.Start(ctx, operationWorkflow, options...)
	return d
}

// note adds an event to the span of the drive.
func (d *drive) note(n note) {
	d.span.AddEvent(n.name, trace.WithTimestamp(n.at), trace.WithAttributes(n.list...))
}

// end ends the drive, with its last round and phase.
func (d *drive) end(s store.Status, kind, message string, at time.Time) {
	d.mu.Lock()
	d.leavePhase()
	d.leaveRound()
	d.mu.Unlock()
	if d.span.IsRecording() {
		if s.Protocol != "" {
			d.span.SetName(operationWorkflow + " " + clip(s.Protocol, maxName))
		}
		d.span.SetAttributes(d.t.driveAttributes(s)...)
		d.t.setError(d.span, kind, message)
	}
	d.span.End(trace.WithTimestamp(at))
}

// enter returns the phase of a step. It starts the phase if it is not the current one, and ends that.
func (d *drive) enter(s debate.Step, at time.Time) *group {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := s.Key
	if s.Kind == transcript.Setup || s.Kind == transcript.Conclusion {
		k.Round = 0 // before and after the rounds
	}
	if s.Kind == transcript.Summary && d.phase != nil { // it belongs to what it interrupts
		k.Round = d.phase.round
	}
	if p := d.phase; p != nil && p.phase == k.Phase && p.run == k.Run && p.round == k.Round {
		return p
	}
	d.leavePhase()
	if r := d.round; r != nil && (r.run != k.Run || r.round != k.Round) {
		d.leaveRound()
	}
	above := d.ctx
	if k.Round > 0 {
		if d.round == nil {
			d.round = d.startGroup(d.ctx, spanRound+" "+strconv.Itoa(k.Round), k, at, attribute.Int(keyRound, k.Round))
		}
		above = d.round.ctx
	}
	d.phase = d.startGroup(above, spanPhase+" "+clip(k.Phase, maxName), k, at, attribute.String(keyPhase, clip(k.Phase, maxName)))
	return d.phase
}

func (d *drive) startGroup(ctx context.Context, name string, k transcript.Key, at time.Time, attr attribute.KeyValue) *group {
	g := &group{run: k.Run, round: k.Round, phase: k.Phase, ended: at}
	g.ctx, g.span = d.t.tracer.Start(ctx, name, trace.WithTimestamp(at), trace.WithAttributes(attr, attribute.String(keyConversation, d.id)))
	return g
}

// leavePhase ends the current phase. The mutex is held.
func (d *drive) leavePhase() {
	if p := d.phase; p != nil {
		p.span.End(trace.WithTimestamp(p.ended))
		if d.round != nil {
			d.round.ended = p.ended
		}
	}
	d.phase = nil
}

// leaveRound ends the current round. The mutex is held.
func (d *drive) leaveRound() {
	if d.round != nil {
		d.round.span.End(trace.WithTimestamp(d.round.ended))
	}
	d.round = nil
}

// step is the span of a step.
type step struct {
	drive     *drive
	phase     *group
	operation string // of its calls
	ctx       context.Context
	span      trace.Span
	calls     int // so far
}

func (d *drive) startStep(s debate.Step, at time.Time) *step {
	x := &step{drive: d, phase: d.enter(s, at), operation: operationOf(s)}
	list := []attribute.KeyValue{
		attribute.String(keyOperation, operationAgent), attribute.String(keyAgent, clip(s.Key.Actor, maxName)), attribute.String(keyConversation, d.id),
		attribute.String(keyStep, clip(s.Key.String(), maxName)), attribute.String(keyKind, string(s.Kind)),
	}
	if s.Role != "" {
		list = append(list, attribute.String(keyRole, clip(s.Role, maxName)))
	}
	if s.Key.Target != "" {
		list = append(list, attribute.String(keyTarget, clip(s.Key.Target, maxName)))
	}
	x.ctx, x.span = d.t.tracer.Start(x.phase.ctx, operationAgent+" "+clip(s.Key.Actor, maxName), trace.WithTimestamp(at), trace.WithAttributes(list...))
	return x
}

// operationOf returns the operation of a step's calls.
func operationOf(s debate.Step) string {
	switch {
	case s.Kind == transcript.Embeddings:
		return operationEmbeddings
	case s.Key.Actor == protocol.Retriever:
		return operationRetrieval
	}
	return operationChat
}

// stepEnd is how a step ended: with a turn, or with an error of a kind.
type stepEnd struct {
	turn          *transcript.Turn
	kind, message string
}

func (x *step) end(e stepEnd, at time.Time) {
	if x.span.IsRecording() {
		x.span.SetAttributes(attribute.Int(keyAttempts, x.calls))
		if e.turn != nil {
			x.span.SetAttributes(x.drive.t.turnAttributes(e.turn)...)
			x.drive.t.addEvaluations(x.span, e.turn, at)
		}
		x.drive.t.setError(x.span, e.kind, e.message)
	}
	x.span.End(trace.WithTimestamp(at))
	x.drive.mu.Lock()
	defer x.drive.mu.Unlock()
	if at.After(x.phase.ended) {
		x.phase.ended = at
	}
}

// call is the span of an attempt.
type call struct {
	*step
	span            trace.Span
	provider, model string // that is asked; the model is empty until the provider has chosen it
}

// startCall starts the span of the next attempt. Samplers see its provider and its model.
func (x *step) startCall(at time.Time, provider, model string) *call {
	x.calls++
	c := &call{step: x, provider: x.drive.t.providerName(provider), model: clip(model, maxName)}
	list := []attribute.KeyValue{
		attribute.String(keyOperation, x.operation), attribute.String(keyConversation, x.drive.id), attribute.Int(keyAttempt, x.calls),
		attribute.String(keyProvider, c.provider),
	}
	name := x.operation
	if model != "" {
		name += " " + c.model
		list = append(list, attribute.String(keyRequestModel, c.model))
	}
	_, c.span = x.drive.t.tracer.Start(x.ctx, name, trace.WithTimestamp(at), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(list...))
	return c
}

func (c *call) end(e callEnd, at time.Time) {
	message := ""
	if a := e.attempt; a != nil {
		message = a.ErrorMessage
		if c.model == "" && a.Model != "" { // the provider has chosen it
			c.model = clip(a.Model, maxName)
			c.span.SetName(c.operation + " " + c.model)
			c.span.SetAttributes(attribute.String(keyRequestModel, c.model))
		}
	}
	if c.span.IsRecording() {
		t := c.drive.t
		c.span.SetAttributes(t.callAttributes(&e)...)
		t.setError(c.span, e.kind, message)
	}
	c.span.End(trace.WithTimestamp(at))
}
