package debateotel

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// metrics are the instruments.
type metrics struct {
	workflows, agents, tools                  metric.Float64Histogram
	inferences, operations, firstChunks       metric.Float64Histogram
	agentCalls                                metric.Int64Histogram
	input, cached, written, output, reasoning metric.Int64Counter
	cost                                      metric.Float64Counter
	outcomes                                  metric.Int64Counter
}

func newMetrics(m metric.Meter) (x metrics) {
	seconds := func(name, what string, bounds ...float64) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), metric.WithExplicitBucketBoundaries(bounds...))
		report(err)
		return h
	}
	tokens := func(name, what string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithUnit("{token}"), metric.WithDescription(what))
		report(err)
		return c
	}
	call := []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	long := []float64{1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200}
	x.workflows = seconds(metricWorkflow, "Duration of a drive.", long...)
	x.agents = seconds(metricAgent, "Duration of a step.", append(call, 163.84, 327.68)...)
	x.inferences = seconds(metricInference, "Duration of a call of a model.", call...)
	x.operations = seconds(metricOperation, "Duration of a call for vectors or documents.", call...)
	x.tools = seconds(metricTool, "Duration of a call of a tool.", call...)
	x.firstChunks = seconds(metricFirstChunk, "Time until the first piece of a reply.", call...)
	var err error
	x.agentCalls, err = m.Int64Histogram(metricAgentCalls, metric.WithUnit("{call}"), metric.WithDescription("Calls of models in a step."),
		metric.WithExplicitBucketBoundaries(1, 2, 3, 4, 6, 8, 12, 16))
	report(err)
	x.input = tokens(metricInputTokens, "Tokens of prompts, including cached ones.")
	x.cached = tokens(metricCachedTokens, "Tokens of prompts that came from a cache.")
	x.written = tokens(metricWrittenTokens, "Tokens of prompts that were written to a cache.")
	x.output = tokens(metricOutputTokens, "Tokens of replies, including reasoning.")
	x.reasoning = tokens(metricReasoningTokens, "Tokens of reasoning.")
	x.cost, err = m.Float64Counter(metricCost, metric.WithUnit("{currency}"), metric.WithDescription("Cost of calls of models with known prices."))
	report(err)
	x.outcomes, err = m.Int64Counter(metricOutcomes, metric.WithUnit("{debate}"), metric.WithDescription("Decisions that a debate ends, and stops in an error."))
	report(err)
	return x
}

// report passes an error to OpenTelemetry's handler of errors. An instrument that has one records nothing.
func report(err error) {
	if err != nil {
		otel.Handle(err)
	}
}

// withError appends error.type unless kind is empty.
func withError(kind string, list ...attribute.KeyValue) metric.MeasurementOption {
	if kind != "" {
		list = append(list, attribute.String(keyError, kind))
	}
	return metric.WithAttributes(list...)
}

func (x *metrics) workflow(ctx context.Context, protocol, kind string, took time.Duration) {
	if !x.workflows.Enabled(ctx) {
		return
	}
	x.workflows.Record(ctx, took.Seconds(), withError(kind, attribute.String(keyWorkflow, clip(protocol, maxName))))
}

func (x *metrics) agent(ctx context.Context, actor, kind string, took time.Duration, calls int) {
	if !x.agents.Enabled(ctx) && !x.agentCalls.Enabled(ctx) {
		return
	}
	with := withError(kind, attribute.String(keyOperation, operationAgent), attribute.String(keyAgent, clip(actor, maxName)))
	x.agents.Record(ctx, took.Seconds(), with)
	x.agentCalls.Record(ctx, int64(calls), with)
}

// transition counts how a debate ends, or that it has stopped in an error.
func (x *metrics) transition(ctx context.Context, s debate.StateChanged) {
	outcome, kind := string(s.Ending.Outcome), ""
	if s.To == fsm.Error {
		outcome = string(s.To)
		if s.Failure != nil {
			kind = string(s.Failure.Kind)
		}
	}
	if outcome != "" {
		x.outcomes.Add(ctx, 1, withError(kind, attribute.String(keyOutcome, clip(outcome, maxName))))
	}
}

// tool records a call of a tool.
func (x *metrics) tool(ctx context.Context, name, kind string, took time.Duration) {
	if x.tools.Enabled(ctx) {
		x.tools.Record(ctx, took.Seconds(), withError(kind, attribute.String(keyOperation, operationTool), attribute.String(keyTool, name)))
	}
}

// call records a call. Estimated tokens are not counted, but their cost is, as in the usage of the debate.
func (x *metrics) call(ctx context.Context, c *call, a *transcript.Attempt, kind string, took time.Duration) {
	duration := x.inferences
	if c.operation != operationChat {
		duration = x.operations
	}
	if !duration.Enabled(ctx) && !x.input.Enabled(ctx) {
		return
	}
	list := []attribute.KeyValue{attribute.String(keyOperation, c.operation), attribute.String(keyProvider, c.provider)}
	if c.model != "" {
		list = append(list, attribute.String(keyRequestModel, c.model))
	}
	if a != nil {
		list = append(list, responseModel(a)...)
	}
	duration.Record(ctx, took.Seconds(), withError(kind, slices.Clip(list)...))
	if a == nil {
		return
	}
	with := metric.WithAttributes(list...)
	if a.Usage.Cost > 0 {
		x.cost.Add(ctx, a.Usage.Cost, with)
	}
	if c.operation != operationChat {
		return
	}
	if a.FirstChunk > 0 {
		x.firstChunks.Record(ctx, a.FirstChunk.Seconds(), with)
	}
	if a.Usage.Estimated {
		return
	}
	for _, c := range []struct {
		counter metric.Int64Counter
		tokens  int
	}{{x.input, a.Usage.Input}, {x.cached, a.Usage.Cached}, {x.written, a.Usage.Written}, {x.output, a.Usage.Output}, {x.reasoning, a.Usage.Reasoning}} {
		if c.tokens > 0 {
			c.counter.Add(ctx, int64(c.tokens), with)
		}
	}
}
