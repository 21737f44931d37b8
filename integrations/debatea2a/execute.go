package debatea2a

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/store"
)

const maxEarlier = 10 // debates of a conversation that become background

// Execute starts the debate that a message asks for, or continues that of the task. It yields the turns as artifacts until
// the debate has ended, or needs a message. If you break out of the loop, the debate goes on.
func (a *Agent) Execute(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		defer a.execute(ec.TaskID)()
		if ec.StoredTask == nil {
			if stream, err := a.begin(ctx, ec); err != nil {
				yield(nil, explain(err))
			} else {
				_ = a.follow(ctx, ec.TaskInfo(), ec.Message, stream, yield)
			}
			return
		}
		out, err := a.reply(ctx, ec.TaskID, ec.Message)
		err = explain(err)
		if errors.Is(err, a2a.ErrInvalidParams) {
			yield(statusEvent(ec, out, "", err.Error()+"\n\n"), nil)
		} else if err != nil {
			yield(nil, err)
		} else {
			stream := a.tools(a.labels(ctx)).Stream(ctx, debatetool.Input{ID: string(ec.TaskID), After: position(ec.StoredTask)})
			_ = a.follow(ctx, ec.TaskInfo(), nil, stream, yield)
		}
	}
}

// begin returns what happens in the debate that a message asks for.
func (a *Agent) begin(ctx context.Context, ec *a2asrv.ExecutorContext) (iter.Seq2[debatetool.Progress, error], error) {
	raw, err := inputOf(ec.Message, "topic", nil)
	if err != nil {
		return nil, err
	}
	labels := a.labels(ctx)
	labels[contextLabel] = ec.ContextID
	earlier, err := a.earlier(ctx, labels)
	if err != nil {
		return nil, err
	}
	labels[messageLabel] = ec.Message.ID
	set := a.tools(labels)
	in, err := set.ParseInput(raw)
	in.ID, in.Earlier = string(ec.TaskID), earlier
	return set.Stream(ctx, in), err
}

// earlier returns what was asked and answered before in the debates with the given labels, among them that of a context.
func (a *Agent) earlier(ctx context.Context, labels map[string]string) (said []debatetool.Turn, err error) {
	before, err := a.list(ctx, store.Query{Labels: labels, Limit: maxEarlier})
	if err != nil {
		return nil, err
	}
	for _, status := range slices.Backward(before) { // oldest first
		d, err := a.engine.Open(ctx, status.ID)
		if err != nil {
			return nil, fmt.Errorf("read conversation: %w", err)
		}
		r, err := d.Result(ctx)
		if err != nil {
			return nil, fmt.Errorf("read conversation: %w", err)
		}
		said = append(said, debatetool.Turn{Actor: "user", Text: status.Topic}, debatetool.Turn{Actor: "assistant", Text: r.Answer.Text})
	}
	return said, nil
}

// reply passes on a message to the debate of a task, if the debate waits for one. It returns the debate as it was before.
func (a *Agent) reply(ctx context.Context, id a2a.TaskID, m *a2a.Message) (debatetool.Output, error) {
	set := a.tools(a.labels(ctx))
	out, err := set.Result(ctx, string(id))
	if err != nil || len(out.Waiting) == 0 {
		return out, err
	}
	raw, err := inputOf(m, "text", out.Waiting)
	if err != nil {
		return out, err
	}
	if len(out.Waiting) == 1 {
		if old, err := a.repeats(ctx, set, out, m.ID); old || err != nil {
			return out, err
		}
	}
	var input map[string]any
	err = json.Unmarshal(raw, &input)
	if err == nil {
		input["id"] = string(id)
		raw, err = json.Marshal(input)
	}
	if err != nil {
		return out, err
	}
	tools := set.Tools()
	_, err = tools[slices.IndexFunc(tools, func(t debatetool.Tool) bool { return t.Name() == "debate_answer" })].Run(ctx, raw)
	return out, err
}

// repliesNote is the note of a debate with the last messages that were replies, and the steps that they were for.
const (
	repliesNote = "a2a.replies"
	maxReplies  = 20
)

type given struct{ Message, Step string }

// repeats reports whether a message was the reply to an earlier step, so that it must not be the reply to the step that the
// debate waits for now. Otherwise it notes that the message is for this step.
func (a *Agent) repeats(ctx context.Context, set *debatetool.Toolset, out debatetool.Output, message string) (bool, error) {
	d, err := set.Open(ctx, out.ID)
	if err != nil {
		return false, err
	}
	r, err := d.Result(ctx)
	if err != nil {
		return false, err
	}
	var replies []given
	_ = json.Unmarshal(r.Annotations[repliesNote], &replies) // there may be none
	this := given{hash([]byte(message)), out.Waiting[0].Step}
	if i := slices.IndexFunc(replies, func(g given) bool { return g.Message == this.Message }); i >= 0 {
		return replies[i].Step != this.Step, nil
	}
	replies = append(replies, this)
	return false, d.Annotate(ctx, repliesNote, replies[max(0, len(replies)-maxReplies):])
}

// execute notes that a task is executed, until end is called.
func (a *Agent) execute(id a2a.TaskID) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.executing[id]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.executing[id]--
		if a.executing[id] == 0 {
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

// follow yields what happens in a debate. first is the message that starts the task; it is nil if the task exists. The last
// event is a status that ends the stream, or an error if there is no task. follow returns the error of the debate's stream.
func (a *Agent) follow(ctx context.Context, info a2a.TaskInfo, first *a2a.Message, stream iter.Seq2[debatetool.Progress, error], yield func(a2a.Event, error) bool) error {
	for p, err := range stream {
		more := false
		switch {
		case err != nil && first == nil:
			yield(statusEvent(info, debatetool.Output{ID: string(info.TaskID), Status: interrupted}, "", ""), nil)
		case err != nil:
			yield(nil, explain(err))
		case p.Turn != nil:
			more = yield(artifactEvent(info, turn(*p.Turn, p.Text)), nil)
		case p.Output == nil && first != nil:
			t := a2a.NewSubmittedTask(info, first)
			t.Status.State, first = a2a.TaskStateWorking, nil
			more = yield(t, nil)
		case p.Output == nil:
			said := a2a.NewMessageForTask(a2a.MessageRoleAgent, info, a2a.NewTextPart(p.Text)) // who calls which tools
			more = yield(a2a.NewStatusUpdateEvent(info, a2a.TaskStateWorking, said), nil)
		case p.Output.Status != string(fsm.Completed) || yield(artifactEvent(info, answer(*p.Output)), nil):
			yield(statusEvent(info, *p.Output, a.failureOf(ctx, *p.Output), ""), nil)
		}
		if !more {
			return err
		}
	}
	return nil
}

// failureOf returns the kind of the failure of a debate that has failed.
func (a *Agent) failureOf(ctx context.Context, o debatetool.Output) string {
	if o.Status != failed {
		return ""
	}
	d, err := a.engine.Open(ctx, o.ID)
	if err != nil {
		return ""
	}
	status, err := d.Status(ctx)
	if err != nil {
		return ""
	}
	return status.FailureKind
}

// Cancel ends the debate of a task without an answer. While a loop over Execute follows the debate, that loop yields the
// status, and Cancel yields nothing.
func (a *Agent) Cancel(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		told := a.isExecuted(ec.TaskID) // the server of the SDK takes no event after that of Execute
		d, err := a.tools(a.labels(ctx)).Open(ctx, string(ec.TaskID))
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

// task returns the task of a debate that has the given labels.
func (a *Agent) task(ctx context.Context, labels map[string]string, id a2a.TaskID) (*a2a.Task, error) {
	set := a.tools(labels)
	d, err := set.Open(ctx, string(id))
	if err != nil {
		return nil, explain(err)
	}
	status, err := d.Status(ctx)
	out, err2 := set.Result(ctx, d.ID())
	turns, err3 := set.Transcript(ctx, d.ID())
	err = cmp.Or(err, err2, err3)
	if err != nil {
		return nil, explain(err)
	}
	t := summary(status)
	for _, spoken := range turns {
		t.Artifacts = append(t.Artifacts, turn(spoken, ""))
		out.Position = spoken.Position
	}
	t.Metadata = map[string]any{positionKey: out.Position}
	if out.Status == string(fsm.Completed) {
		t.Artifacts = append(t.Artifacts, answer(out))
	}
	t.Status = statusEvent(t, out, status.FailureKind, "").Status
	t.Status.Timestamp = &status.Updated
	return t, nil
}
