package debatea2a

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/elenchus-go/debate/debatetool"
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

// inputOf returns the input of the tool for a message: its data, and its text as the named field. What people are asked
// completes a reply: a single step need not be named, and a text can be the name of an action.
func inputOf(m *a2a.Message, id a2a.TaskID, field string, waiting []debatetool.Ask) ([]byte, error) {
	input, text := map[string]any{}, ""
	for _, p := range m.Parts {
		data, isData := p.Data().(map[string]any)
		if _, isText := p.Content.(a2a.Text); isText {
			text = strings.TrimSpace(text + "\n" + p.Text())
		} else if !isData || len(input) > 0 {
			return nil, refuse("parts: send text, and at most one object as data")
		} else {
			input = data
		}
	}
	if text != "" && input[field] != nil || input["id"] != nil || input["after"] != nil {
		return nil, refuse("parts: send " + field + " as text or in the data, not both; leave out id and after; to continue a debate, send the message to its task")
	}
	if text != "" {
		input[field] = text
	}
	if field == "question" && (input[field] == nil || input[field] == "") {
		return nil, refuse("question: it is empty; send it as text or in the data")
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
	input["id"] = string(id)
	return json.Marshal(input)
}

func artifactEvent(info a2a.TaskInfo, artifact *a2a.Artifact) a2a.Event {
	return &a2a.TaskArtifactUpdateEvent{TaskID: info.TaskID, ContextID: info.ContextID, Artifact: artifact, LastChunk: true}
}

// turn returns the artifact of a turn.
func turn(t debatetool.Turn, description string) *a2a.Artifact {
	meta := map[string]any{"round": t.Round, "kind": string(t.Kind), positionKey: t.Position}
	return &a2a.Artifact{ID: a2a.ArtifactID(fmt.Sprintf("turn-%d", t.Position)), Name: t.Actor, Description: description, Parts: a2a.ContentParts{a2a.NewTextPart(t.Text)}, Metadata: meta}
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

// statusEvent returns the status of a task whose debate has the given output. Its message says what to send, after a note.
func statusEvent(info a2a.TaskInfoProvider, o debatetool.Output, note string) *a2a.TaskStatusUpdateEvent {
	state := map[string]a2a.TaskState{"completed": a2a.TaskStateCompleted, "canceled": a2a.TaskStateCanceled, "running": a2a.TaskStateWorking}[o.Status]
	next := map[string]string{
		"waiting":     `Ask the people, and send each reply to this task: text, or the data {"step": ..., "text": ..., "action": ...}. Do not reply in their place.`,
		"paused":      "A person has paused the debate, and has to resume it. After that, send a message to this task to continue.",
		"failed":      "Send a message to this task to try again. Nothing that was said is lost.",
		"interrupted": "Send a message to this task to continue. Nothing that was said is lost.",
	}[o.Status]
	switch {
	case state != "":
		return a2a.NewStatusUpdateEvent(info, state, nil)
	case o.Status == "failed" && o.Next == "":
		state, next = a2a.TaskStateFailed, ""
	default:
		state = a2a.TaskStateInputRequired
	}
	o.Turns, o.Next = nil, next
	parts := []*a2a.Part{a2a.NewTextPart(note + o.Text())}
	if len(o.Waiting) > 0 {
		parts = append(parts, dataPart(map[string]any{"waiting": o.Waiting}))
	}
	return a2a.NewStatusUpdateEvent(info, state, a2a.NewMessageForTask(a2a.MessageRoleAgent, info, parts...))
}
