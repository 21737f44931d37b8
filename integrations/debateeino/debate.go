package debateeino

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/elenchus-go/debate/integrations/debatetool"
)

// NewTool returns the tool debate of a set. The calling model reads texts of the debate between delimiters. If
// ToolsConfig.EmitInternalEvents is set, an agent that calls the tool passes on an event for each turn, for people; its
// AgentName is the speaker. If the debate waits for people, the tool interrupts the run; see [NewAgent].
func NewTool(ctx context.Context, set *debatetool.Toolset) (tool.BaseTool, error) {
	t := set.Tools()[0]
	var input jsonschema.Schema
	if err := json.Unmarshal(t.InputSchema(), &input); err != nil {
		return nil, fmt.Errorf("decode schema of tool %s: %w", t.Name(), err)
	}
	a := &agent{set: set, name: t.Name(), description: t.Description(), tool: &t}
	return adk.NewAgentTool(ctx, a, adk.WithAgentInputSchema(schema.NewParamsOneOfByJSONSchema(&input))), nil
}

// NewAgent returns an agent that answers by a debate. The topic is the last message of its input, and the messages
// before it are added to the background; the other fields of the debate are those of in. Each turn is an event whose
// AgentName is the speaker. The last event is the agent's own, with the answer and what is degraded. Its texts are for
// people; see [debatetool.Toolset.ForPeople].
//
// If the debate waits for people, has failed, or takes too long, the agent interrupts the run, with the debate's id as the
// info; [debatetool.Toolset.Status] says what it waits for. Resume the run. If a person has replied, the data is the text of
// the reply, a [debatetool.Reply], or a map with the fields of its JSON. A text is the reply to the first step that the
// debate waits for, or the chosen action. A checkpoint has the debate's id and nothing else of it. To continue a debate whose
// process has died, run the agent again, both times with the same [debatetool.WithCallID].
func NewAgent(set *debatetool.Toolset, name, description string, in debatetool.Input) adk.ResumableAgent {
	return &agent{set: set.ForPeople(), name: name, description: description, input: in}
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
	in := a.input
	for i, m := range input.Messages {
		text := textOf(m)
		if i == len(input.Messages)-1 {
			in.Topic = text
		} else {
			in.Earlier = append(in.Earlier, debatetool.Turn{Actor: string(m.Role), Text: text})
		}
	}
	if a.tool == nil {
		return a.events(ctx, a.set.Stream(ctx, in))
	}
	ctx = debatetool.WithCallID(ctx, compose.GetToolCallID(ctx))
	return a.events(ctx, a.tool.Stream(ctx, json.RawMessage(in.Topic)))
}

// textOf returns the text of a message. Debates read only text.
func textOf(m *schema.Message) string {
	texts := []string{m.Content}
	for _, p := range m.UserInputMultiContent {
		texts = append(texts, p.Text)
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// Resume continues the debate of a checkpoint.
func (a *agent) Resume(ctx context.Context, info *adk.ResumeInfo, _ ...adk.AgentRunOption) *adk.AsyncIterator[*adk.AgentEvent] {
	id, _ := info.InterruptState.(string)
	r, err := replyOf(info.ResumeData)
	if err != nil { // a mistake of the program, not of a model that calls the tool
		events, gen := adk.NewAsyncIteratorPair[*adk.AgentEvent]()
		gen.Send(&adk.AgentEvent{Err: fmt.Errorf("resume debate %s: %w", id, err)})
		gen.Close()
		return events
	}
	r.ID = id
	return a.events(ctx, a.set.Resume(ctx, r))
}

// replyOf returns the reply that the data of a resumed run are. It is empty if there are no data.
func replyOf(data any) (r debatetool.Reply, err error) {
	switch data := data.(type) {
	case nil:
	case string:
		r.Text = strings.TrimSpace(data)
		if r.Text == "" {
			err = errors.New("the text is empty; give the person's reply, or resume without data")
		}
	case debatetool.Reply, *debatetool.Reply, map[string]any:
		raw, failed := json.Marshal(data)
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		err = cmp.Or(failed, d.Decode(&r))
		if err != nil {
			err = fmt.Errorf("decode the fields of a reply: %w", err)
		}
	default:
		err = fmt.Errorf("the data have the type %T, use a text, a debatetool.Reply, or a map with its fields", data)
	}
	return r, err
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
				text := p.Turn.Said()
				if a.tool != nil { // the model reads the output only
					text = p.Turn.Plain()
				}
				e := says(p.Turn.Actor, text)
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
