package debateotel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// The values of error.type beyond those of providers.ErrorKind.
const (
	canceled   = "canceled"
	rejected   = "rejected"
	closed     = "closed"
	otherError = "_OTHER"
)

// errorType returns the value of error.type for an error, or "" for nil. cause is why the context in which it happened has
// ended; nil if it has not.
func errorType(err, cause error) string {
	if err == nil {
		return ""
	}
	if f, ok := errors.AsType[*debate.Failure](err); ok {
		return string(f.Kind)
	}
	if _, ok := errors.AsType[*debate.Problems](err); ok {
		return rejected
	}
	if errors.Is(err, debate.ErrClosed) {
		return closed
	}
	if cause != nil {
		if e, ok := errors.AsType[*providers.Error](cause); ok { // the step took too long
			return string(e.Kind)
		}
		return canceled
	}
	if e, ok := errors.AsType[*providers.Error](err); ok {
		return string(e.Kind)
	}
	if errors.Is(err, context.Canceled) {
		return canceled
	}
	return otherError
}

// messageOf returns the message of an error, or "" for nil.
func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// setError marks a span as failed, unless the kind is empty. The message is recorded only if texts are.
func (c content) setError(span trace.Span, kind, message string) {
	if kind == "" {
		return
	}
	if !c.texts {
		message = ""
	}
	span.SetStatus(codes.Error, clip(message, c.most))
	span.SetAttributes(attribute.String(keyError, kind))
}

// driveAttributes returns the attributes of a drive that has ended.
func (c content) driveAttributes(s store.Status) []attribute.KeyValue {
	list := []attribute.KeyValue{
		attribute.String(keyWorkflow, clip(s.Protocol, maxName)),
		attribute.Int(keyRun, s.Cursor.Run), attribute.Int(keyRounds, s.Cursor.Round), attribute.String(keyState, string(s.State)),
		attribute.Int(keyTotalInput, s.Usage.Input), attribute.Int(keyTotalOutput, s.Usage.Output),
	}
	if s.Ending.Outcome != "" {
		list = append(list, attribute.String(keyOutcome, clip(string(s.Ending.Outcome), maxName)))
	}
	if c.texts && s.Topic != "" {
		list = append(list, attribute.String(keyTopic, clip(s.Topic, c.most)))
	}
	return append(list, costAttributes(s.Usage)...)
}

// costAttributes returns what is not usual of a usage.
func costAttributes(u transcript.Usage) (list []attribute.KeyValue) {
	if u.Cost > 0 {
		list = append(list, attribute.Float64(keyCost, u.Cost))
	}
	if u.Unpriced {
		list = append(list, attribute.Bool(keyUnpriced, true))
	}
	if u.Estimated {
		list = append(list, attribute.Bool(keyEstimated, true))
	}
	return list
}

// turnAttributes returns the attributes of a step that gave a turn.
func (c content) turnAttributes(u *transcript.Turn) []attribute.KeyValue {
	list := []attribute.KeyValue{attribute.Int(keyInputTokens, u.Usage.Input), attribute.Int(keyOutputTokens, u.Usage.Output)}
	list = append(list, costAttributes(u.Usage)...)
	if u.Contract != "" {
		list = append(list, attribute.String(keyContract, clip(u.Contract, maxName)), attribute.String(keyOutputType, "json"))
	}
	if len(u.Flags) > 0 {
		list = append(list, stringList(keyFlags, u.Flags))
	}
	if w := u.Window; w != nil && w.Omitted+w.Summarized > 0 {
		list = append(list, attribute.Bool(keyCompacted, true), attribute.Int(keyOmitted, w.Omitted), attribute.Int(keySummarized, w.Summarized))
	}
	if c.texts && u.Text != "" {
		list = append(list, attribute.String(keyOutput, c.reply(u.Text, nil)))
	}
	return list
}

// stringList returns an attribute with the first entries of a list, each at most as long as a name.
func stringList[S ~string](key string, values []S) attribute.KeyValue {
	var list []string
	for _, v := range values[:min(len(values), maxList)] {
		list = append(list, clip(string(v), maxName))
	}
	return attribute.StringSlice(key, list)
}

// responseModel returns the attribute with the model that has replied.
func responseModel(a *transcript.Attempt) []attribute.KeyValue {
	if a.Model == "" || a.ErrorKind != "" {
		return nil
	}
	return []attribute.KeyValue{attribute.String(keyResponseModel, clip(a.Model, maxName))}
}

// callAttributes returns the attributes of a call that has ended.
func (c content) callAttributes(e *callEnd) (list []attribute.KeyValue) {
	if a := e.attempt; a != nil {
		if a.Usage.Input+a.Usage.Output > 0 {
			list = append(list, attribute.Int(keyInputTokens, a.Usage.Input), attribute.Int(keyOutputTokens, a.Usage.Output))
		}
		list = append(list, responseModel(a)...)
		if a.Usage.Cached > 0 {
			list = append(list, attribute.Int(keyCachedTokens, a.Usage.Cached))
		}
		if a.Usage.Written > 0 {
			list = append(list, attribute.Int(keyWrittenTokens, a.Usage.Written))
		}
		if a.Usage.Reasoning > 0 {
			list = append(list, attribute.Int(keyReasoningTokens, a.Usage.Reasoning))
		}
		if a.FinishReason != "" {
			list = append(list, attribute.StringSlice(keyFinishReasons, []string{clip(a.FinishReason, maxName)}))
		}
		if a.FirstChunk > 0 {
			list = append(list, attribute.Bool(keyRequestStream, true), attribute.Float64(keyFirstChunk, a.FirstChunk.Seconds()))
		}
		if a.Waited > 0 {
			list = append(list, attribute.Float64(keyWaited, a.Waited.Seconds()))
		}
		list = append(list, costAttributes(a.Usage)...)
	}
	return append(append(list, requestAttributes(e.request)...), c.messages(e)...)
}

// requestAttributes returns the settings of a request. It is nil in a journal.
func requestAttributes(r *providers.Request) (list []attribute.KeyValue) {
	if r == nil {
		return nil
	}
	if r.Temperature != nil {
		list = append(list, attribute.Float64(keyRequestTemperature, *r.Temperature))
	}
	if r.TopP != 0 {
		list = append(list, attribute.Float64(keyRequestTopP, r.TopP))
	}
	if r.MaxTokens != 0 {
		list = append(list, attribute.Int(keyRequestMaxTokens, r.MaxTokens))
	}
	if r.Seed != nil {
		list = append(list, attribute.Int64(keyRequestSeed, *r.Seed))
	}
	if len(r.Stop) > 0 {
		list = append(list, stringList(keyRequestStop, r.Stop))
	}
	if r.Reasoning != "" {
		list = append(list, attribute.String(keyRequestReasoning, clip(r.Reasoning, maxName)))
	}
	if r.SchemaName != "" {
		list = append(list, attribute.String(keyOutputType, "json"))
	}
	return list
}
