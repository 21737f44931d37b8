package debateotel

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/elenchus-go/debate/providers/tool"
)

// startTool starts the span of a call of a tool.
func (x *step) startTool(name string, at time.Time) trace.Span {
	_, span := x.drive.t.tracer.Start(x.ctx, operationTool+" "+name, trace.WithTimestamp(at), trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(
		attribute.String(keyOperation, operationTool), attribute.String(keyTool, name), attribute.String(keyToolType, "function"), attribute.String(keyConversation, x.drive.id)))
	return span
}

// endTool ends the span of a call. A call of a step that reads a private document has neither arguments nor a result, but the
// size of the result.
func (x *step) endTool(span trace.Span, c *tool.Record, at time.Time) {
	if c != nil && span.IsRecording() {
		span.SetAttributes(attribute.String(keyToolCall, c.ID), attribute.Int(keyToolSize, max(c.Size, len(c.Text))))
		if t := x.drive.t; t.texts && c.Arguments != nil {
			span.SetAttributes(attribute.String(keyToolArguments, clip(string(c.Arguments), t.most)), attribute.String(keyToolResult, clip(c.Text, t.most)))
		}
		if c.Error != "" {
			span.SetAttributes(attribute.String(keyError, string(c.Error)))
			span.SetStatus(codes.Error, "")
		}
	}
	span.End(trace.WithTimestamp(at))
}

// replayTool records the span of a call that has run since a time. A call that was only answered, or that shares a result, has
// none.
func (x *step) replayTool(c *tool.Record, since time.Time) {
	if !c.Began.IsZero() && !c.Began.Before(since) && c.Shared == "" {
		x.endTool(x.startTool(clip(c.Name, maxName), c.Began), c, c.Began.Add(c.Duration))
	}
}
