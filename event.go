package debate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Event is something that happened in a debate: one of the types below.
//
// Durable events are the entries of the debate's journal; [Debate.Watch] shows them again. Live ones, [TurnStarted],
// [Chunk], [TurnFailed], [Warning] and [Ended], are not stored. In JSON each is an object with its type; [ParseEvent]
// reads it.
type Event interface {
	// Meta is the stamp that all events have.
	Meta() EventMeta
	sealed()
}

// EventMeta is what all events have.
type EventMeta struct {
	Type string `json:"type"`
	Seq  int64  `json:"seq"`            // its own if it is durable, else that of the durable event before it
	Live bool   `json:"live,omitempty"` // it is not stored
}

// Meta is the stamp itself.
func (s EventMeta) Meta() EventMeta { return s }

func (EventMeta) sealed() {}

// The durable events.
type (
	// ConfigChanged is the first entry of each journal, and each edit.
	ConfigChanged struct {
		EventMeta
		At     time.Time       `json:"at"`     // when it was committed
		Format int             `json:"format"` // of the entries from here on; see store.Format
		Config json.RawMessage `json:"config"` // see Engine.ParseConfig
	}
	// StateChanged is a transition of the lifecycle.
	StateChanged struct {
		EventMeta
		At            time.Time          `json:"at"` // when it was committed
		From          fsm.State          `json:"from"`
		On            fsm.Event          `json:"on"`
		To            fsm.State          `json:"to"`
		Round         int                `json:"round"`                    // the round at hand after it
		Ending        transcript.Ending  `json:"ending,omitzero"`          // why the debate ends, where this decided it
		Problems      []protocol.Problem `json:"problems,omitempty"`       // of a configuration that was rejected
		Failure       *Failure           `json:"failure,omitempty"`        // what led to an error, or to an end
		OtherFailures []*Failure         `json:"other_failures,omitempty"` // what else had failed for good by then, in steps beside
		Question      *Question          `json:"question,omitempty"`       // what a person is to decide
		Findings      []detect.Finding   `json:"findings,omitempty"`       // what Config.Detect found in the round, as far as it was known by then
	}
	// PhaseStarted says how many steps are to come.
	PhaseStarted struct {
		EventMeta
		At       time.Time       `json:"at"` // when it was committed
		Stage    transcript.Kind `json:"stage"`
		Round    int             `json:"round"`
		Rounds   int             `json:"rounds"` // the limit: round n of N
		Phase    string          `json:"phase"`
		Parallel bool            `json:"parallel,omitempty"`
		Steps    int             `json:"steps"` // that the phase has; fewer calls where some are committed already
		// Summary is what is to be summed up before another phase begins or goes on, where that is what the phase is for.
		Summary *window.SummaryPlan `json:"summary,omitempty"`
	}
	// TurnDone is a committed turn: a speech, an assessment, a verdict, a remark.
	TurnDone struct {
		EventMeta
		At   time.Time       `json:"at"` // when it was committed
		Turn transcript.Turn `json:"turn"`
	}
	// Dropped says that a participant takes no further part.
	Dropped struct {
		EventMeta
		At            time.Time  `json:"at"` // when it was committed
		Name          string     `json:"name"`
		Failure       *Failure   `json:"failure"`
		OtherFailures []*Failure `json:"other_failures,omitempty"` // its further steps that had failed for good by then
	}
	// Decided is a person's answer to a question.
	Decided struct {
		EventMeta
		At     time.Time `json:"at"` // when it was committed
		Action string    `json:"action"`
	}
	// Annotated is a note on the debate, such as a rating.
	Annotated struct {
		EventMeta
		At    time.Time       `json:"at"` // when it was committed
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	}
)

// The live events.
type (
	// TurnStarted comes before each attempt. What was shown of an earlier attempt is void.
	TurnStarted struct {
		EventMeta
		*Attempt
	}
	// Chunk is a piece of a reply as it comes. Look at its Kind: a judge's reply is JSON, in which participants have the
	// labels that the judge knows them by.
	Chunk struct {
		EventMeta
		*Attempt
		Offset int    `json:"offset"` // in bytes, in the attempt's text
		Text   string `json:"text"`
	}
	// TurnFailed is an attempt that failed.
	TurnFailed struct {
		EventMeta
		*Attempt
		Error   providers.ErrorKind `json:"error"`
		Message string              `json:"message"`
		RetryIn time.Duration       `json:"retry_in"` // the wait until the next attempt, in nanoseconds; 0: none, negative: no attempt follows
	}
	// Warning is something that a user should know of a step.
	Warning struct {
		EventMeta
		Key  transcript.Key `json:"key"`
		Text string         `json:"text"`
	}
	// Ended is the last event of a debate that has ended.
	Ended struct {
		EventMeta
		Result *Result `json:"result"`
	}
)

// Attempt is one call of a model for a step. All its events share one, which is not to be changed.
type Attempt struct {
	Key    transcript.Key  `json:"key"`
	Kind   transcript.Kind `json:"kind"`
	Role   string          `json:"role,omitempty"` // of the actor, as configured
	Number int             `json:"attempt"`        // from 1
}

// eventTypes are the types of events by the word in their stamps.
var eventTypes = map[string]reflect.Type{
	"config": reflect.TypeFor[ConfigChanged](), "state": reflect.TypeFor[StateChanged](), "phase": reflect.TypeFor[PhaseStarted](),
	"turn": reflect.TypeFor[TurnDone](), "dropped": reflect.TypeFor[Dropped](), "decided": reflect.TypeFor[Decided](),
	"annotated": reflect.TypeFor[Annotated](), "turn_started": reflect.TypeFor[TurnStarted](), "chunk": reflect.TypeFor[Chunk](),
	"turn_failed": reflect.TypeFor[TurnFailed](), "warning": reflect.TypeFor[Warning](), "ended": reflect.TypeFor[Ended](),
}

// ParseEvent reads an event from its JSON.
func ParseEvent(b []byte) (Event, error) {
	var s EventMeta
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("parse event: %w", err)
	}
	t, ok := eventTypes[s.Type]
	if !ok {
		return nil, fmt.Errorf("parse event: type %q is unknown", s.Type)
	}
	v := reflect.New(t)
	switch ev := v.Interface().(type) { // whose attempt is not to be nil
	case *TurnStarted:
		ev.Attempt = &Attempt{}
	case *Chunk:
		ev.Attempt = &Attempt{}
	case *TurnFailed:
		ev.Attempt = &Attempt{}
	}
	if err := json.Unmarshal(b, v.Interface()); err != nil {
		return nil, fmt.Errorf("parse event of type %q: %w", s.Type, err)
	}
	return v.Elem().Interface().(Event), nil
}

// restamp gives a live event the seq of the durable event that was shown before it.
func restamp(ev Event, seq int64) Event {
	switch ev := ev.(type) {
	case Chunk:
		ev.Seq = seq
		return ev
	case TurnStarted:
		ev.Seq = seq
		return ev
	case TurnFailed:
		ev.Seq = seq
		return ev
	case Warning:
		ev.Seq = seq
		return ev
	}
	return ev
}

// stepOf is the step that a live event is about.
func stepOf(ev Event) (k transcript.Key, ok bool) {
	switch ev := ev.(type) {
	case TurnStarted:
		return ev.Key, true
	case Chunk:
		return ev.Key, true
	}
	return k, false
}
