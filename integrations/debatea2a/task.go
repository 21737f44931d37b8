package debatea2a

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// The labels of debates.
const (
	userLabel    = "a2a.user"
	contextLabel = "a2a.context" // the id of the task's context
	messageLabel = "a2a.message" // the id of the message that has started the task
)

// positionKey names the metadata that hold the position of a turn, or of the last turn of a task.
const positionKey = "position"

func refuse(reason string) error { return a2a.NewError(a2a.ErrInvalidParams, reason) }

// explain returns the error for a client: what is wrong with its call. It hides other causes.
func explain(err error) error {
	e, ok := errors.AsType[*debatetool.Error](err)
	switch {
	case ok && len(e.Problems) > 0 && e.Problems[0].Field == "id":
		return a2a.ErrTaskNotFound
	case ok && !e.Again:
		return refuse(e.Error())
	case err == nil || a2a.ErrorReason(err) != a2a.ErrorReason(a2a.ErrInternalError):
		return err
	}
	return a2a.ErrInternalError
}

// inputOf returns the input of the tool for a message, without the id of the debate: its data, and its text as the named
// field. What people are asked completes a reply: a single step need not be named, and a text can be the name of an action.
func inputOf(m *a2a.Message, field string, waiting []debatetool.Ask) ([]byte, error) {
	input, text := map[string]any{}, ""
	for _, p := range m.Parts {
		data, isData := p.Data().(map[string]any)
		if _, isText := p.Content.(a2a.Text); isText {
			text = strings.TrimSpace(text + "\n" + p.Text())
		} else if !isData || len(input) > 0 {
			return nil, refuse("parts: send text, and at most one object as data")
		} else {
			input = maps.Clone(data)
		}
	}
	if text != "" && input[field] != nil || input["id"] != nil || input["after"] != nil {
		return nil, refuse("parts: send " + field + " as text or in the data, not both; leave out id and after; to continue a debate, send the message to its task")
	}
	if text != "" {
		input[field] = text
	}
	if field == "topic" && (input[field] == nil || input[field] == "") {
		return nil, refuse("topic: it is empty; send it as text or in the data")
	}
	if len(waiting) == 1 && input["step"] == nil {
		input["step"] = waiting[0].Step
		for _, c := range waiting[0].Choices {
			if input["action"] == nil && strings.EqualFold(text, c.Action) {
				input["action"] = c.Action
				delete(input, field)
			}
		}
	}
	return json.Marshal(input)
}

// hash returns a short text that differs for different values.
func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return "a2a-" + hex.EncodeToString(sum[:16])
}

func artifactEvent(info a2a.TaskInfo, artifact *a2a.Artifact) a2a.Event {
	return &a2a.TaskArtifactUpdateEvent{TaskID: info.TaskID, ContextID: info.ContextID, Artifact: artifact, LastChunk: true}
}

// turn returns the artifact of a turn.
func turn(t debatetool.Turn, description string) *a2a.Artifact {
	meta := map[string]any{"round": t.Round, "kind": string(t.Kind), positionKey: t.Position}
	return &a2a.Artifact{ID: a2a.ArtifactID(fmt.Sprintf("turn-%d", t.Position)), Name: t.Actor, Description: description, Parts: a2a.ContentParts{a2a.NewTextPart(t.Said())}, Metadata: meta}
}

// position returns the position of the last turn of a task.
func position(t *a2a.Task) int64 {
	at, _ := t.Metadata[positionKey].(int64)
	return at
}

// answer returns the last artifact of a debate.
func answer(o debatetool.Output) *a2a.Artifact {
	o.Turns, o.Next = nil, ""
	return &a2a.Artifact{ID: "answer", Name: "answer", Parts: a2a.ContentParts{a2a.NewTextPart(o.Text()), dataPart(o)}}
}

// dataPart returns a part with the JSON of a value that comes from package debatetool.
func dataPart(v any) *a2a.Part {
	var data map[string]any
	if raw, err := json.Marshal(v); err == nil {
		_ = json.Unmarshal(raw, &data) // what was encoded can be decoded
	}
	return a2a.NewDataPart(data)
}

// The statuses of a [debatetool.Output] that are no states of debates.
const (
	waiting     = "waiting"
	failed      = "failed"
	interrupted = "interrupted" // the server ends, and another one can continue
)

// passing are the kinds of failures whose cause may pass, so that a message may help.
var passing = []providers.ErrorKind{providers.Network, providers.RateLimit, providers.ServerError, providers.Timeout, providers.InvalidResponse, providers.Declined}

// stateOf returns the state of a task. A failure asks for input only if a message may help: the user of the client cannot
// correct the key of this server.
func stateOf(s fsm.State, failure string) a2a.TaskState {
	hasFailed := s == fsm.Error || s == fsm.Configuring || s == failed
	switch {
	case s == fsm.Completed:
		return a2a.TaskStateCompleted
	case s == fsm.Canceled:
		return a2a.TaskStateCanceled
	case hasFailed && !slices.Contains(passing, providers.ErrorKind(failure)):
		return a2a.TaskStateFailed
	case hasFailed, s == fsm.Paused, s == waiting, s == interrupted:
		return a2a.TaskStateInputRequired
	}
	return a2a.TaskStateWorking
}

// statusEvent returns the status of a task whose debate has the given output, and failed with the given kind if it has
// failed. Its message says what to send, after a note.
func statusEvent(info a2a.TaskInfoProvider, o debatetool.Output, failure, note string) *a2a.TaskStatusUpdateEvent {
	state := stateOf(fsm.State(o.Status), failure)
	switch {
	case o.Status == waiting:
		o.Next = `Ask the people, and send each reply to this task: text, or the data {"step": ..., "text": ..., "action": ...}. Do not reply in their place.`
	case o.Status == interrupted:
		o.Next = "Send a message to this task to continue. Nothing that was said is lost."
	case o.Status == failed && state == a2a.TaskStateFailed && o.Next != "":
		o.Next = "Whoever runs this server has to correct the cause. After that, a message to this task continues the debate. Nothing that was said is lost."
	case state != a2a.TaskStateInputRequired && state != a2a.TaskStateFailed:
		return a2a.NewStatusUpdateEvent(info, state, nil)
	}
	o.Turns = nil
	parts := []*a2a.Part{a2a.NewTextPart(note + o.Text())}
	if len(o.Waiting) > 0 {
		parts = append(parts, dataPart(map[string]any{"waiting": o.Waiting}))
	}
	return a2a.NewStatusUpdateEvent(info, state, a2a.NewMessageForTask(a2a.MessageRoleAgent, info, parts...))
}

// summary returns the task of a debate without what was said.
func summary(s store.Status) *a2a.Task {
	t := &a2a.Task{ID: a2a.TaskID(s.ID), ContextID: cmp.Or(s.Labels[contextLabel], s.ID), Status: a2a.TaskStatus{State: stateOf(s.State, s.FailureKind), Timestamp: &s.Updated}}
	asked := &a2a.Message{ID: cmp.Or(s.Labels[messageLabel], s.ID), TaskID: t.ID, ContextID: t.ContextID, Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart(s.Topic)}}
	t.History = []*a2a.Message{asked}
	return t
}

// withHistory returns the task with at most n messages of its history. A nil n is no limit.
func withHistory(t *a2a.Task, n *int) *a2a.Task {
	if n != nil && *n >= 0 && *n < len(t.History) {
		t.History = t.History[len(t.History)-*n:]
	}
	return t
}
