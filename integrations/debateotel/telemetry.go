package debateotel

import (
	"context"
	"maps"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/transcript"
)

// Options configures telemetry. The zero value uses OpenTelemetry's global providers and records no texts.
type Options struct {
	TracerProvider trace.TracerProvider // of the spans; defaults to otel.GetTracerProvider()
	MeterProvider  metric.MeterProvider // of the metrics; defaults to otel.GetMeterProvider()
	// Providers maps names of debate.Options.Providers to values of gen_ai.provider.name, such as "openai", "anthropic" or
	// "gcp.gemini". A name that is missing stands for itself.
	Providers map[string]string
	// Texts records the topic, prompts, replies, explanations of scores, and messages of errors. They may be confidential.
	Texts bool
	// MaxText limits each attribute that holds such texts, in bytes. Defaults to 16,384.
	MaxText int
}

// defaultMaxText applies if Options.MaxText is not set.
const defaultMaxText = 16384

// Telemetry records what engines do as spans and metrics. It is safe for concurrent use.
type Telemetry struct {
	tracing
	metrics metrics
	debates memories
}

// New returns the telemetry for one or more engines.
func New(o Options) *Telemetry {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	if o.MaxText <= 0 {
		o.MaxText = defaultMaxText
	}
	const scope = "github.com/elenchus-go/debate/integrations/debateotel"
	return &Telemetry{
		tracing: tracing{
			content: content{texts: o.Texts, most: o.MaxText}, providers: maps.Clone(o.Providers),
			tracer: o.TracerProvider.Tracer(scope, trace.WithSchemaURL(schemaURL)),
		},
		metrics: newMetrics(o.MeterProvider.Meter(scope, metric.WithSchemaURL(schemaURL))),
		debates: memories{byID: map[string]*memory{}},
	}
}

// Observer returns the observer for debate.Options. You may set its Event, which telemetry does not use.
func (t *Telemetry) Observer() debate.Observer {
	return debate.Observer{Begin: t.begin, Commit: t.commit}
}

// begin starts the span of a drive, a step, an attempt or a call of a tool.
func (t *Telemetry) begin(ctx context.Context, s debate.Step) (context.Context, func(debate.Outcome)) {
	now := time.Now()
	switch {
	case s.Tool != "":
		return t.beginTool(ctx, s, now)
	case s.Number > 0:
		return t.beginCall(ctx, s, now)
	case s.Key != transcript.Key{}:
		return t.beginStep(ctx, s, now)
	}
	return t.beginDrive(ctx, s.Debate, now)
}

type contextKey struct{}

func (t *Telemetry) beginDrive(ctx context.Context, id string, at time.Time) (context.Context, func(debate.Outcome)) {
	d := t.debates.begin(id, func(previous trace.SpanContext) *drive { return t.startDrive(ctx, id, at, previous) })
	return context.WithValue(d.ctx, contextKey{}, d), func(o debate.Outcome) {
		now := time.Now()
		kind := errorType(o.Err, nil) // its context has always ended by now
		t.debates.end(d, o.Status.State.Final())
		d.end(o.Status, kind, messageOf(o.Err), now)
		t.metrics.workflow(d.ctx, o.Status.Protocol, kind, now.Sub(at))
	}
}

func (t *Telemetry) beginStep(ctx context.Context, s debate.Step, at time.Time) (context.Context, func(debate.Outcome)) {
	d, ok := ctx.Value(contextKey{}).(*drive)
	if !ok {
		return ctx, nil
	}
	x := d.startStep(s, at)
	// The calls need ctx, which can be canceled. The context of the phase is for its span only.
	within := context.WithValue(trace.ContextWithSpan(ctx, x.span), contextKey{}, x)
	return within, func(o debate.Outcome) {
		now := time.Now()
		e := stepEnd{turn: o.Turn, kind: errorType(o.Err, context.Cause(ctx)), message: messageOf(o.Err)}
		x.end(e, now)
		t.metrics.agent(within, s.Key.Actor, e.kind, now.Sub(at), x.calls)
	}
}

func (t *Telemetry) beginCall(ctx context.Context, s debate.Step, at time.Time) (context.Context, func(debate.Outcome)) {
	x, ok := ctx.Value(contextKey{}).(*step)
	if !ok {
		return ctx, nil
	}
	c := x.startCall(at, s.Provider, s.Model)
	within := trace.ContextWithSpan(ctx, c.span)
	return within, func(o debate.Outcome) {
		now := time.Now()
		e := callEnd{attempt: o.Attempt, request: o.Request, response: o.Response, kind: errorType(o.Err, context.Cause(ctx))}
		if o.Attempt == nil && e.kind == "" {
			e.kind = canceled
		}
		c.end(e, now)
		t.metrics.call(within, c, o.Attempt, e.kind, now.Sub(at))
	}
}

// beginTool starts the span of a call of a tool.
func (t *Telemetry) beginTool(ctx context.Context, s debate.Step, at time.Time) (context.Context, func(debate.Outcome)) {
	x, ok := ctx.Value(contextKey{}).(*step)
	if !ok {
		return ctx, nil
	}
	name := clip(s.Tool, maxName)
	span := x.startTool(name, at)
	within := trace.ContextWithSpan(ctx, span)
	return within, func(o debate.Outcome) {
		now := time.Now()
		kind := ""
		if o.Call != nil {
			kind = string(o.Call.Error)
		}
		x.endTool(span, o.Call, now)
		t.metrics.tool(within, name, kind, now.Sub(at))
	}
}

// commit shows an event on the span of the drive, and counts outcomes.
func (t *Telemetry) commit(ctx context.Context, id string, ev debate.Event) {
	if n, ok := t.noteOf(ev, time.Now()); ok {
		s, _ := ev.(debate.StateChanged)
		t.metrics.transition(ctx, s)
		t.debates.note(id, n, s.To.Final())
	}
}
