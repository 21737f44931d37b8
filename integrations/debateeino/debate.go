package debateeino

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/elenchus-go/debate/debatetool"
)

// NewTool returns the tool debate of a set. If ToolsConfig.EmitInternalEvents is set, an agent that calls the tool passes
// on an event for each turn; its AgentName is the speaker. If the debate waits for people, the tool interrupts the run;
// see [NewAgent].
func NewTool(ctx context.Context, set *debatetool.Toolset) (tool.BaseTool, error) {
	t := set.Tools()[0]
	var input jsonschema.Schema
	if err := json.Unmarshal(t.InputSchema(), &input); err != nil {
		return nil, fmt.Errorf("decode schema of tool %s: %w", t.Name(), err)
	}
	a := &agent{set: set, name: t.Name(), description: t.Description(), tool: &t}
	return adk.NewAgentTool(ctx, a, adk.WithAgentInputSchema(schema.NewParamsOneOfByJSONSchema(&input))), nil
}

// NewAgent returns an agent that answers by a debate. The question is the last message of its input; the other fields of
// the debate are those of in. Each turn is an event whose AgentName is the speaker. The last event is the agent's own, with
// the answer and what is degraded.
//
// If the debate waits for people, has failed, or takes too long, the agent interrupts the run, with the debate's id as the
// info; [debatetool.Toolset.Status] says what it waits for. Resume the run, with a [debatetool.Reply] as the data if a
// person has replied. A checkpoint has the debate's id and nothing else of it. To continue a debate whose process has died,
// run the agent again, both times with the same [debatetool.WithCallID].
func NewAgent(set *debatetool.Toolset, name, description string, in debatetool.Input) adk.ResumableAgent {
	return &agent{set: set, name: name, description: description, input: in}
}

type agent struct {
	set               *debatetool.Toolset
	name, description string
	input             debatetool.Input
	tool              *debatetool.Tool // if the agent stands for a tool
}

func (a *agent) Name(context.Context) string        { return a.name }
func (a *agent) Description(context.Context) string { return a.description }

// Run holds a debate.
func (a *agent) Run(ctx context.Context, input *adk.AgentInput, _ ...adk.AgentRunOption) *adk.AsyncIterator[*adk.AgentEvent] {
	text := ""
	for _, m := range input.Messages {
		text = m.Content // of the last one
	}
	if a.tool == nil {
		in := a.input
		in.Question = text
		return a.events(ctx, a.set.Stream(ctx, in))
	}
	ctx = debatetool.WithCallID(ctx, compose.GetToolCallID(ctx))
	return a.events(ctx, a.tool.Stream(ctx, json.RawMessage(text)))
}

// Resume continues the debate of a checkpoint.
func (a *agent) Resume(ctx context.Context, info *adk.ResumeInfo, _ ...adk.AgentRunOption) *adk.AsyncIterator[*adk.AgentEvent] {
	id, _ := info.InterruptState.(string)
	reply, _ := info.ResumeData.(debatetool.Reply)
	reply.ID = id
	return a.events(ctx, a.set.Resume(ctx, reply))
}

// events returns the events of a debate.
func (a *agent) events(ctx context.Context, stream iter.Seq2[debatetool.Progress, error]) *adk.AsyncIterator[*adk.AgentEvent] {
	events, gen := adk.NewAsyncIteratorPair[*adk.AgentEvent]()
	go func() {
		defer gen.Close()
		for p, err := range stream {
			switch {
			case err != nil && a.tool != nil && ctx.Err() == nil:
				gen.Send(says("", err.Error())) // the model can correct its call
			case err != nil:
				gen.Send(&adk.AgentEvent{Err: err})
			case p.Turn != nil:
				e := says(p.Turn.Actor, p.Turn.Text)
				// With a path of its own, Eino keeps the event out of the session, and so out of checkpoints.
				e.AgentName, e.RunPath = p.Turn.Actor, []adk.RunStep{{}}
				gen.Send(e)
			case p.Output == nil:
			case p.Output.Status == "waiting", p.Output.Status == "paused", p.Output.Next != "" && a.tool == nil:
				gen.Send(adk.StatefulInterrupt(ctx, p.Output.ID, p.Output.ID))
			default:
				gen.Send(says("", p.Output.Text()))
			}
		}
	}()
	return events
}

// says returns an event in which somebody says a text.
func says(name, text string) *adk.AgentEvent {
	return adk.EventFromMessage(&schema.Message{Role: schema.Assistant, Name: name, Content: text}, nil, schema.Assistant, "")
}
