package debatea2a

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/debatetool"
	"github.com/elenchus-go/debate/fsm"
)

const (
	rpcPath      = "/rpc"
	contextLabel = "a2a.context" // label of debates: the id of the task's context
)

// Agent holds debates for other agents. It is an [a2asrv.AgentExecutor], and safe for concurrent use.
type Agent struct {
	engine  *debate.Engine
	options debatetool.Options

	mu        sync.Mutex
	executing map[a2a.TaskID]int // number of loops over Execute that have not ended
}

// New returns an agent for the debates of an engine. It ignores Options.MaxWait.
func New(e *debate.Engine, o debatetool.Options) (*Agent, error) {
	o.MaxWait = 0
	if _, err := debatetool.New(e, o); err != nil {
		return nil, err
	}
	return &Agent{engine: e, options: o, executing: map[a2a.TaskID]int{}}, nil
}

// Card returns the card of an agent whose Handler clients reach at a URL, with a skill for each preset. Change it as you
// like.
func (a *Agent) Card(url string) *a2a.AgentCard {
	url = strings.TrimSuffix(url, "/")
	modes := []string{"text/plain", "application/json"}
	card := &a2a.AgentCard{
		Name: "Debate", Version: "1.0.0", DefaultInputModes: modes, DefaultOutputModes: modes, Capabilities: a2a.AgentCapabilities{Streaming: true},
		Description:         "Has models debate a question that has several possible answers, and returns their answer. Send the question as text. It takes minutes.",
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(url+rpcPath, a2a.TransportProtocolJSONRPC), a2a.NewAgentInterface(url, a2a.TransportProtocolHTTPJSON)},
	}
	skill := a2a.AgentSkill{ID: "debate", Name: "debate", Description: "A debate before a decision that is hard to reverse.", Tags: []string{"debate"}, Examples: []string{"Should we write the new service in Go?"}}
	for _, name := range slices.Sorted(maps.Keys(a.options.Presets)) {
		skill.ID, skill.Name = name, name
		skill.Description = fmt.Sprintf(`%s Send the data {"preset": %q, "question": ...}.`, a.options.Presets[name].Description, name)
		card.Skills = append(card.Skills, skill)
	}
	if len(card.Skills) == 0 {
		card.Skills = append(card.Skills, skill)
	}
	return card
}

// tools returns the tools for the debates of the user who calls, and of a context if it is not empty.
func (a *Agent) tools(ctx context.Context, contextID string) *debatetool.Toolset {
	o := a.options
	o.Labels = map[string]string{"a2a.user": "anonymous"}
	if call, ok := a2asrv.CallContextFrom(ctx); ok && call.User != nil && call.User.Name != "" {
		o.Labels["a2a.user"] = "user " + call.User.Name
	}
	if contextID != "" {
		o.Labels[contextLabel] = contextID
	}
	maps.Copy(o.Labels, a.options.Labels)
	set, _ := debatetool.New(a.engine, o) // New has checked the options
	return set
}

// Execute starts the debate that a message asks for, or continues that of the task. It yields the turns as artifacts until
// the debate has ended, or needs a message. If you break out of the loop, the debate goes on.
func (a *Agent) Execute(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		defer a.execute(ec.TaskID)()
		set, first, stream := a.tools(ctx, ec.ContextID), ec.Message, a.rest(ctx, ec.StoredTask)
		if ec.StoredTask == nil {
			input, err := inputOf(ec.Message, ec.TaskID, "question", nil)
			if err != nil {
				yield(nil, err)
				return
			}
			stream = set.Tools()[0].Stream(ctx, input)
		} else {
			first = nil
			out, err := set.Result(ctx, string(ec.TaskID))
			if err == nil && len(out.Waiting) > 0 {
				var input []byte
				if input, err = inputOf(ec.Message, ec.TaskID, "text", out.Waiting); err == nil {
					_, err = set.Tools()[5].Run(ctx, input) // debate_answer
				}
			}
			if err = explain(err); errors.Is(err, a2a.ErrInvalidParams) {
				yield(statusEvent(ec, out, err.Error()+"\n\n"), nil)
				return
			} else if err != nil {
				yield(nil, err)
				return
			}
		}
		follow(ec.TaskInfo(), first, stream, yield)
	}
}

// execute notes that a task is executed, until end is called.
func (a *Agent) execute(id a2a.TaskID) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.executing[id]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.executing[id]--; a.executing[id] == 0 {
			delete(a.executing, id)
		}
	}
}

// isExecuted reports whether a task is executed now.
func (a *Agent) isExecuted(id a2a.TaskID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.executing[id] > 0
}

// rest returns what happens in the debate of a task from now on.
func (a *Agent) rest(ctx context.Context, t *a2a.Task) iter.Seq2[debatetool.Progress, error] {
	if t == nil {
		return nil
	}
	after, _ := t.Metadata[positionKey].(int64)
	return a.tools(ctx, "").Stream(ctx, debatetool.Input{ID: string(t.ID), After: after})
}

// follow yields what happens in a debate. first is the message that starts the task; it is nil if the task exists. The last
// event is a status that ends the stream, or an error if there is no task.
func follow(info a2a.TaskInfo, first *a2a.Message, stream iter.Seq2[debatetool.Progress, error], yield func(a2a.Event, error) bool) {
	for p, err := range stream {
		more := false
		switch {
		case err != nil && first == nil:
			yield(statusEvent(info, debatetool.Output{ID: string(info.TaskID), Status: "interrupted"}, ""), nil)
		case err != nil:
			yield(nil, explain(err))
		case p.Turn != nil:
			more = yield(artifactEvent(info, turn(*p.Turn, p.Text)), nil)
		case p.Output == nil && first != nil:
			t := a2a.NewSubmittedTask(info, first)
			t.Status.State, first = a2a.TaskStateWorking, nil
			more = yield(t, nil)
		case p.Output == nil:
			more = yield(a2a.NewStatusUpdateEvent(info, a2a.TaskStateWorking, nil), nil)
		case p.Output.Status != string(fsm.Completed) || yield(artifactEvent(info, answer(*p.Output)), nil):
			yield(statusEvent(info, *p.Output, ""), nil)
		}
		if !more {
			return
		}
	}
}

// Cancel ends the debate of a task without an answer. While a loop over Execute follows the debate, that loop yields the
// status, and Cancel yields nothing.
func (a *Agent) Cancel(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		told := a.isExecuted(ec.TaskID) // the server of the SDK takes no event after that of Execute
		d, err := a.tools(ctx, "").Open(ctx, string(ec.TaskID))
		if err == nil {
			err = d.Cancel(ctx)
		}
		if _, ended := errors.AsType[*fsm.Refused](err); ended {
			err = a2a.ErrTaskNotCancelable
		}
		if err != nil {
			yield(nil, explain(err))
			return
		}
		if !told {
			yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCanceled, nil), nil)
		}
	}
}

// task returns the task of a debate.
func (a *Agent) task(ctx context.Context, id a2a.TaskID) (*a2a.Task, error) {
	set := a.tools(ctx, "")
	d, err := set.Open(ctx, string(id))
	if err != nil {
		return nil, explain(err)
	}
	status, err := d.Status(ctx)
	out, err2 := set.Result(ctx, d.ID())
	turns, err3 := set.Transcript(ctx, d.ID())
	if err = cmp.Or(err, err2, err3); err != nil {
		return nil, explain(err)
	}
	t := &a2a.Task{ID: id, ContextID: cmp.Or(status.Labels[contextLabel], d.ID())}
	for _, spoken := range turns {
		t.Artifacts = append(t.Artifacts, turn(spoken, ""))
		out.Position = spoken.Position
	}
	t.Metadata = map[string]any{positionKey: out.Position}
	if out.Status == string(fsm.Completed) {
		t.Artifacts = append(t.Artifacts, answer(out))
	}
	t.History = []*a2a.Message{{ID: d.ID(), TaskID: id, ContextID: t.ContextID, Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart(status.Topic)}}}
	t.Status = statusEvent(t, out, "").Status
	t.Status.Timestamp = &status.Updated
	return t, nil
}
