package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

// event is an event of AG-UI, with the fields that this example uses.
type event struct {
	Type      string          `json:"type"`
	ThreadID  string          `json:"threadId,omitempty"`
	RunID     string          `json:"runId,omitempty"`
	StepName  string          `json:"stepName,omitempty"`
	MessageID string          `json:"messageId,omitempty"`
	Role      string          `json:"role,omitempty"`
	Delta     any             `json:"delta,omitempty"` // a text, or a JSON Patch
	Snapshot  *state          `json:"snapshot,omitempty"`
	Name      string          `json:"name,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
	Message   string          `json:"message,omitempty"`
	ToolCall  string          `json:"toolCallId,omitempty"`
	Tool      string          `json:"toolCallName,omitempty"`
	Content   string          `json:"content,omitempty"` // what a tool found
}

// state is the state that the agent shares with the user interface.
type state struct {
	Debate string    `json:"debate"` // its id
	State  fsm.State `json:"state"`
	Round  int       `json:"round"`
	Answer string    `json:"answer"`
}

// patch is an operation of a JSON Patch.
type patch struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// translate returns the events of AG-UI for the events of a debate. They end when the debate ends or is in error.
func translate(in input, id string, events iter.Seq2[debate.Event, error]) iter.Seq[event] {
	return func(yield func(event) bool) {
		t := &translator{yield: yield, debate: id, open: map[transcript.Key]*streaming{}, called: map[string]bool{}}
		t.send(event{Type: "RUN_STARTED", ThreadID: in.ThreadID, RunID: in.RunID})
		t.send(event{Type: "STATE_SNAPSHOT", Snapshot: &state{Debate: id}})
		for ev, err := range events {
			if err != nil {
				t.stop(event{Type: "RUN_ERROR", Message: err.Error()})
			} else {
				t.translate(in, ev)
			}
			if t.done {
				return
			}
		}
	}
}

// translator keeps what is open, because AG-UI wants everything closed before the end.
type translator struct {
	yield  func(event) bool
	done   bool
	debate string // id of the debate, which begins the ids of messages, because a conversation has several debates
	step   string
	open   map[transcript.Key]*streaming
	called map[string]bool // calls of tools that were sent, by their ids; true if the result was sent, too
}

// streaming is a message that has not ended.
type streaming struct{ id, text string }

func (t *translator) send(list ...event) {
	for _, e := range list {
		t.done = t.done || !t.yield(e)
	}
}

func (t *translator) translate(in input, ev debate.Event) {
	switch ev := ev.(type) {
	case debate.StateChanged:
		t.send(event{Type: "STATE_DELTA", Delta: []patch{{"replace", "/state", ev.To}, {"replace", "/round", ev.Round}}})
		if ev.To == fsm.Error && ev.Failure != nil {
			t.stop(event{Type: "RUN_ERROR", Message: ev.Failure.Error()})
		}
	case debate.PhaseStarted:
		t.startStep(fmt.Sprintf("round %d: %s", ev.Round, ev.Phase))
	case debate.TurnStarted:
		if ev.Kind == transcript.Speech { // judges reply in JSON
			t.start(ev.Key, ev.Number)
		}
	case debate.Chunk:
		if t.open[ev.Key] != nil {
			t.say(ev.Key, ev.Text)
		}
	case debate.ToolsCalled:
		t.end(ev.Key) // what the model says beside its calls is not its speech
		t.callTools(ev.Calls)
	case debate.TurnDone:
		t.finish(&ev.Turn)
	case debate.Ended:
		t.conclude(in, ev.Result)
	}
}

func (t *translator) startStep(name string) {
	t.endStep()
	t.step = name
	t.send(event{Type: "STEP_STARTED", StepName: name})
}

func (t *translator) endStep() {
	if t.step != "" {
		t.send(event{Type: "STEP_FINISHED", StepName: t.step})
		t.step = ""
	}
}

// start starts the message of an attempt. It ends that of an earlier attempt, which failed.
func (t *translator) start(k transcript.Key, attempt int) {
	t.end(k)
	m := &streaming{id: fmt.Sprintf("%s/%s#%d", t.debate, k, attempt)}
	t.open[k] = m
	t.send(event{Type: "TEXT_MESSAGE_START", MessageID: m.id, Role: "assistant", Name: k.Actor})
}

func (t *translator) say(k transcript.Key, text string) {
	if text == "" { // AG-UI has no empty deltas
		return
	}
	m := t.open[k]
	m.text += text
	t.send(event{Type: "TEXT_MESSAGE_CONTENT", MessageID: m.id, Delta: text})
}

func (t *translator) end(k transcript.Key) {
	if m := t.open[k]; m != nil {
		delete(t.open, k)
		t.send(event{Type: "TEXT_MESSAGE_END", MessageID: m.id})
	}
}

// callTools sends the calls of a round, and their results. A call that waits for a person gets its result later.
func (t *translator) callTools(calls []tool.Record) {
	for _, c := range calls {
		done, sent := t.called[c.ID]
		t.called[c.ID] = c.Done
		if !sent {
			t.send(event{Type: "TOOL_CALL_START", ToolCall: c.ID, Tool: c.Name}, event{Type: "TOOL_CALL_ARGS", ToolCall: c.ID, Delta: string(c.Arguments)},
				event{Type: "TOOL_CALL_END", ToolCall: c.ID})
		}
		if c.Done && !done {
			t.send(event{Type: "TOOL_CALL_RESULT", MessageID: c.ID + "-result", ToolCall: c.ID, Role: "tool", Content: cmp.Or(c.Text, "It found nothing.")})
		}
	}
}

// finish shows a committed turn: the rest of a speech, or the data of an assessment or a verdict.
func (t *translator) finish(turn *transcript.Turn) {
	k := turn.Key
	if turn.Kind == transcript.Speech || turn.Kind == transcript.Remark {
		if m := t.open[k]; m == nil { // it was not streamed
			t.start(k, max(1, len(turn.Attempts)))
		} else if !strings.HasPrefix(turn.Text, m.text) { // or not like this
			t.start(k, len(turn.Attempts)+1)
		}
		t.say(k, strings.TrimPrefix(turn.Text, t.open[k].text))
		t.end(k)
	} else if len(turn.Data) > 0 {
		t.send(event{Type: "CUSTOM", Name: string(turn.Kind), Value: turn.Data})
	}
}

// conclude sends the answer, as a message and in the state.
func (t *translator) conclude(in input, r *debate.Result) {
	answer := answerOf(r)
	if answer == "" {
		t.stop(event{Type: "RUN_ERROR", Message: fmt.Sprintf("the debate has ended without an answer: %s", r.Ending.Outcome)})
		return
	}
	id := t.debate + answerID
	t.send(event{Type: "STATE_DELTA", Delta: []patch{{"replace", "/answer", answer}}},
		event{Type: "TEXT_MESSAGE_START", MessageID: id, Role: "assistant"}, event{Type: "TEXT_MESSAGE_CONTENT", MessageID: id, Delta: answer},
		event{Type: "TEXT_MESSAGE_END", MessageID: id})
	t.stop(event{Type: "RUN_FINISHED", ThreadID: in.ThreadID, RunID: in.RunID})
}

// stop closes everything and sends the last event.
func (t *translator) stop(last event) {
	for k := range t.open {
		t.end(k)
	}
	t.endStep()
	t.send(last)
	t.done = true
}

// answerOf returns the answer of a debate as text, or as JSON if it has no text.
func answerOf(r *debate.Result) string { return cmp.Or(r.Answer.Text, string(r.Answer.Data)) }
