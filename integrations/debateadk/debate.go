package debateadk

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/elenchus-go/debate/integrations/debatetool"
)

// NewTools returns the tools of a set. The first one, debate, suffices if no person takes part. The calling model reads texts
// of the debate between delimiters. A call that is repeated with the same id and input continues its debate.
func NewTools(set *debatetool.Toolset) (list []tool.Tool, err error) {
	for _, t := range set.Tools() {
		var input jsonschema.Schema
		if err := json.Unmarshal(t.InputSchema(), &input); err != nil {
			return nil, fmt.Errorf("decode schema of tool %s: %w", t.Name(), err)
		}
		c := functiontool.Config{Name: t.Name(), Description: t.Description(), InputSchema: &input}
		made, err := functiontool.New(c, func(ctx agent.Context, in map[string]any) (map[string]string, error) {
			b, err := json.Marshal(in)
			if err != nil {
				return nil, fmt.Errorf("encode input: %w", err)
			}
			text, err := t.Call(debatetool.WithCallID(ctx, ctx.FunctionCallID()), string(b))
			return map[string]string{"result": text}, err
		})
		if err != nil {
			return nil, err
		}
		list = append(list, made)
	}
	return list, nil
}

// NewAgent returns an agent that answers by a debate. The topic is the user's message, and what was said before in the
// session is added to the background; the other fields of the debate are those of in. Each turn is a partial event whose
// author is the speaker, so ADK does not store it. The last event is the agent's own, with the answer and what is degraded.
// Its texts are for people; see [debatetool.Toolset.ForPeople].
//
// If the debate waits for a person, has failed, or takes too long, the last event says so, and the state of the session
// holds the debate's id and nothing else of it. The next message in this session continues the debate. It is the person's
// reply, or the chosen action, if the debate waits for one.
func NewAgent(set *debatetool.Toolset, name, description string, in debatetool.Input) (agent.Agent, error) {
	set = set.ForPeople()
	return agent.New(agent.Config{Name: name, Description: description, Run: func(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
		return func(yield func(*session.Event, error) bool) {
			key := "debate:" + name
			for p, err := range stream(ctx, set, in, key) {
				if e := event(ctx, name, key, p); (e != nil || err != nil) && !yield(e, err) {
					return
				}
			}
		}
	}})
}

// stream runs the debate of a message.
func stream(ctx agent.InvocationContext, set *debatetool.Toolset, in debatetool.Input, key string) iter.Seq2[debatetool.Progress, error] {
	in.Topic = textOf(ctx.UserContent())
	kept, _ := ctx.Session().State().Get(key) // fails if there is none
	if id, _ := kept.(string); id != "" {
		return set.Resume(ctx, debatetool.Reply{ID: id, Text: in.Topic})
	}
	for e := range ctx.Session().Events().All() {
		if asks := e.Author == "user" && e.InvocationID == ctx.InvocationID(); !asks && mayRead(ctx, e) {
			in.Earlier = append(in.Earlier, debatetool.Turn{Actor: e.Author, Text: textOf(e.Content)})
		}
	}
	return set.Stream(ctx, in)
}

// mayRead reports whether ADK shows an event to the models of an agent, too. It hides those of agents that run in parallel.
func mayRead(ctx agent.InvocationContext, e *session.Event) bool {
	branch := ctx.Branch()
	return e.IsolationScope == ctx.IsolationScope() &&
		(branch == "" || e.Branch == "" || branch == e.Branch || strings.HasPrefix(branch, e.Branch+"."))
}

// textOf returns what a content says. It may be nil.
func textOf(c *genai.Content) (text string) {
	if c == nil {
		return ""
	}
	for _, p := range c.Parts {
		if !p.Thought {
			text += p.Text
		}
	}
	return text
}

// event returns the event for a progress, or nil if there is none.
func event(ctx agent.InvocationContext, name, key string, p debatetool.Progress) *session.Event {
	e := session.NewEvent(ctx, ctx.InvocationID())
	switch {
	case p.Turn != nil:
		e.Author = p.Turn.Actor
		e.Partial = true
		e.Content = genai.NewContentFromText(p.Turn.Said(), genai.RoleModel)
	case p.Output != nil:
		e.Author, e.Content = name, genai.NewContentFromText(p.Output.Text(), genai.RoleModel)
		e.Actions.StateDelta[key] = ""
		if p.Output.Next != "" {
			e.Actions.StateDelta[key] = p.ID
		}
	default:
		return nil
	}
	return e
}
