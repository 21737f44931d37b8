package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/strictjson"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Event is something that happened in a debate: one of the types below.
//
// Events are values, never pointers. Write case debate.TurnDone, not case *debate.TurnDone: the compiler accepts the
// second one, but it never matches.
//
// Durable events are the entries of the debate's journal, and Debate.Watch can show them again. Live events are not
// stored: [TurnStarted], [Chunk], [TurnFailed], [Warning] and [Ended]. In JSON an event is an object with a type;
// [ParseEvent] decodes it. What an event refers to belongs to the debate: do not modify it.
type Event interface {
	// Meta returns the fields that all events have.
	Meta() EventMeta
	sealed()
}

// EventMeta holds the fields that all events have.
type EventMeta struct {
	Type string `json:"type"`           // such as "turn"
	Seq  int64  `json:"seq"`            // sequence number of the event, or of the durable event before it if it is live
	Live bool   `json:"live,omitempty"` // whether the event is not stored
	// Act is what led to this entry and to those after it, up to the next one that has an act. They were committed together.
	Act Act `json:"act,omitempty"`
	// Rules are the rules of the engine that wrote the entry, if they are others than those of the entry before it. They apply
	// to the entries that follow, until another one has rules.
	Rules *Rules `json:"rules,omitempty"`
	// Repeats is the seq of the entry of its parent that an entry of a rejudged debate repeats; see Engine.Rejudge. It is 0
	// for what the debate has added.
	Repeats int64 `json:"repeats,omitempty"`
}

// Rules name what shapes a debate besides its configuration, its models and the templates of its prompts. An engine with
// equal rules makes the same requests and transitions from the same journal.
type Rules struct {
	// Number changes whenever a version of the library makes other prompts, windows, pseudonyms or transitions.
	Number int `json:"number"`
	// Counter names the type of Options.TokenCounter. It is empty for window.Estimate.
	Counter string `json:"counter,omitempty"`
	// Extractor names the function Options.ExtractAnswer. It is empty if there is none.
	Extractor string `json:"extractor,omitempty"`
}

// Meta returns s.
func (s EventMeta) Meta() EventMeta { return s }

func (EventMeta) sealed() {}

// The durable events.
type (
	// ConfigChanged holds a configuration: it is the first entry of each journal, and an entry for each edit.
	ConfigChanged struct {
		EventMeta
		At     time.Time       `json:"at"`     // time of the commit
		Format int             `json:"format"` // number of the format of the journal; see store.Format
		Config json.RawMessage `json:"config"` // decode it with Engine.ParseConfig
		// Parent is what the debate is a fork of, and Forked is when it was made. Only the first entry of a fork has them.
		Parent transcript.Parent `json:"parent,omitzero"`
		Forked time.Time         `json:"forked,omitzero"`
		// ReplyTokens is as in StateChanged. Only the edited configuration of a fork that continues has it, because it is not
		// checked again.
		ReplyTokens map[string]int `json:"reply_tokens,omitempty"`

		// Origin is what only the first entry of a journal has. The store has it, and nothing shows it.
		Origin *Origin `json:"-"`
	}
	// StateChanged is a transition of the lifecycle.
	StateChanged struct {
		EventMeta
		At     time.Time         `json:"at"` // time of the commit
		From   fsm.State         `json:"from"`
		On     fsm.Event         `json:"on"`
		To     fsm.State         `json:"to"`
		Round  int               `json:"round"`           // current round after the transition
		Ending transcript.Ending `json:"ending,omitzero"` // why the debate ends, if this transition decided it
		// Instead is what would have been decided, where a rejudged debate keeps another course. It is zero if the debate would
		// have gone on.
		Instead       *transcript.Ending `json:"instead,omitempty"`
		Problems      []protocol.Problem `json:"problems,omitempty"`       // errors of a rejected configuration
		Failure       *Failure           `json:"failure,omitempty"`        // cause of an error or of an early end
		OtherFailures []*Failure         `json:"other_failures,omitempty"` // other steps of the phase that had failed by then
		Question      *Question          `json:"question,omitempty"`       // what a person has to decide
		ForPeople     bool               `json:"for_people,omitempty"`     // the debate pauses because it waits for people's replies
		Fork          bool               `json:"fork,omitempty"`           // it is paused, as a fork that nobody has started
		Findings      []detect.Finding   `json:"findings,omitempty"`       // findings of Config.Detect that the transition adds
		Warnings      []Warning          `json:"warnings,omitempty"`       // warnings about an accepted configuration
		// ReplyTokens holds the token limits of replies that were lowered to fit into windows when the configuration was
		// accepted, by field, such as "judges[0]". A warning names each of them.
		ReplyTokens map[string]int `json:"reply_tokens,omitempty"`
		// Windows holds windows that were known when the configuration was accepted, by field: those of actors without a
		// window of their own, and those that are smaller than the configured ones. A warning names each of the latter.
		Windows map[string]int `json:"windows,omitempty"`
	}
	// PhaseStarted announces the steps of a phase.
	PhaseStarted struct {
		EventMeta
		At       time.Time       `json:"at"` // time of the commit
		Stage    transcript.Kind `json:"stage"`
		Round    int             `json:"round"`
		Rounds   int             `json:"rounds"` // maximum number of rounds
		Phase    string          `json:"phase"`
		Parallel bool            `json:"parallel,omitempty"`
		Steps    int             `json:"steps"` // number of steps in the phase, including those that are already committed
		// Callers are the steps of a parallel phase whose actors have tools, each as actor/target, in their order. The numbers
		// of the sources that they find depend on it. It is empty if there are fewer than two.
		Callers []string `json:"callers,omitempty"`
		// Summary is what to summarize before another phase begins or continues; nil if the phase is not a summary.
		Summary *window.SummaryPlan `json:"summary,omitempty"`
	}
	// TurnDone is a committed turn, such as a speech, an assessment, a verdict or a remark.
	TurnDone struct {
		EventMeta
		At   time.Time       `json:"at"` // time of the commit
		Turn transcript.Turn `json:"turn"`
		// Reply is a hash of a person's reply as it was given, with a key that the journal has and nothing shows. It is empty if
		// a model replied.
		Reply string `json:"reply,omitempty"`
		// PromptSeq is the seq of the last entry that the engine had read when it made the prompt, and Templates the version
		// of its templates. Both are zero if no model was asked. See Debate.PromptOf.
		PromptSeq int64  `json:"prompt_seq,omitempty"`
		Templates string `json:"templates,omitempty"`
		// Remains reports that the prompt of a judge of a rejudged debate held words of a turn that was left out.
		Remains bool `json:"remains,omitempty"`
	}
	// Dropped reports that a participant or a judge takes no further part.
	Dropped struct {
		EventMeta
		At            time.Time  `json:"at"` // time of the commit
		Name          string     `json:"name"`
		Failure       *Failure   `json:"failure"`
		OtherFailures []*Failure `json:"other_failures,omitempty"` // other steps of the same actor that had failed by then
	}
	// Decided is a person's decision: the answer to a question, or "decline", which gives no reply to a step, or "hold" or
	// "release", which hold a debate that waits for people, or no longer. A reply does not continue a debate that is held.
	Decided struct {
		EventMeta
		At     time.Time `json:"at"`     // time of the commit
		Action string    `json:"action"` // action of the choice, or one of the three others
		// Question is the ID of the question. It is empty if the decision answers none.
		Question string         `json:"question,omitempty"`
		Key      transcript.Key `json:"key,omitzero"`     // the step that is declined
		By       string         `json:"by,omitempty"`     // who declines it, or refuses a call of a tool
		Reason   string         `json:"reason,omitempty"` // and why
	}
	// Asked asks a person for the reply of a step. There is one for each step of a person, and another if the configuration
	// was edited before the person replied.
	Asked struct {
		EventMeta
		At       time.Time       `json:"at"`  // time of the commit
		Key      transcript.Key  `json:"key"` // the step
		Kind     transcript.Kind `json:"kind"`
		Task     string          `json:"task"`               // what to reply to, in words
		Contract string          `json:"contract,omitempty"` // the reply's contract; empty for free text
		Fields   string          `json:"fields,omitempty"`   // description of the reply's fields; empty for free text
		Schema   json.RawMessage `json:"schema,omitempty"`   // JSON Schema of the reply; empty for free text
		Tokens   int             `json:"tokens"`             // most tokens of the reply
		// Attachments describes what is attached for the person: the name, the media type and the size of each. Its content
		// is in Config.
		Attachments []string `json:"attachments,omitempty"`
		// Documents describes the documents that the person may read: the name and the size of each. Debate.Document gives the
		// text.
		Documents []string `json:"documents,omitempty"`
		// Said is what the actor may read of what was said before, in order: the key, the kind, the seq and the text of
		// each turn, with the names that the actor sees. Only Debate.Waiting sets it.
		Said []transcript.Turn `json:"said,omitempty"`
		// Briefing is what the actor must know besides. Only Debate.Waiting sets it. It is nil if the engine lacks the prompt.
		Briefing *Briefing `json:"briefing,omitempty"`
	}
	// ToolsCalled is a round of tool calls in a step: what the model asked for before it replies, and what it got. It is
	// committed before the model reads the results. If a call waits for a person or must run only once, the round has an
	// entry before it runs, and another one with the results.
	ToolsCalled struct {
		EventMeta
		At     time.Time       `json:"at"`  // time of the commit
		Key    transcript.Key  `json:"key"` // the step
		Kind   transcript.Kind `json:"kind"`
		Number int             `json:"number"` // of the round in its step, from 1
		// VisibleSeq is that of the step. Attempts are those since the round before; the turn has them too. Parts are those of
		// the model's message that its service needs back: texts, calls, and reasoning. Only the first entry of a round has
		// these.
		VisibleSeq int64                `json:"visible_seq,omitempty"`
		Attempts   []transcript.Attempt `json:"attempts,omitempty"`
		Parts      []providers.Part     `json:"parts,omitempty"`
		Calls      []tool.Record        `json:"calls"` // in the order of the model's message
	}
	// Annotated is a note on the debate, such as a rating.
	Annotated struct {
		EventMeta
		At    time.Time       `json:"at"` // time of the commit
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	}
)

// The live events.
type (
	// TurnStarted precedes each attempt. Discard the chunks of earlier attempts of the same step.
	TurnStarted struct {
		EventMeta
		*Attempt
	}
	// Chunk is a piece of a reply while it streams. Check its Kind: a judge's reply is JSON and names participants by
	// their pseudonyms.
	Chunk struct {
		*EventMeta // shared by chunks of the attempt: do not change it
		*Attempt
		Offset int    `json:"offset"` // offset in the text of the attempt, in bytes
		Text   string `json:"text"`
	}
	// TurnFailed reports that an attempt failed, or that its reply is doubtful.
	TurnFailed struct {
		EventMeta
		*Attempt
		Error   providers.ErrorKind `json:"error"`
		Message string              `json:"message"`
		// Doubtful says that the reply is valid but doubtful, as Message says, and that the model is asked once more.
		// Error is "invalid_response" then. If the second reply is not valid, the first one stands.
		Doubtful bool `json:"doubtful,omitempty"`
		// RetryIn is the wait until the next attempt in nanoseconds. It is 0 if the attempt follows at once, and
		// negative if none follows.
		RetryIn time.Duration `json:"retry_in"`
	}
	// Warning is something that a user should know. It precedes the durable event that it is about: the TurnDone of a
	// step, or the StateChanged that accepts a configuration.
	Warning struct {
		EventMeta
		// Key is the key of the step. In a warning about the configuration, it holds the run, the phase "configuration",
		// the name of the actor, and as target the field, such as "judges[0]". It is zero in a warning that concerns
		// only the viewer.
		Key  transcript.Key `json:"key"`
		Text string         `json:"text"`
	}
	// Ended is the last event of a debate that has ended.
	Ended struct {
		EventMeta
		Result *Result `json:"result"`
	}
)

// Attempt identifies one call of a model for a step. All events of the attempt share one value: do not change it.
type Attempt struct {
	Key    transcript.Key  `json:"key"`
	Kind   transcript.Kind `json:"kind"`
	Role   string          `json:"role,omitempty"` // role of the actor, as configured
	Number int             `json:"number"`         // 1 for the first attempt of the step
}

// eventTypes maps the value of EventMeta.Type to the type of the event.
var eventTypes = map[string]reflect.Type{
	"config": reflect.TypeFor[storedConfig](), "state": reflect.TypeFor[StateChanged](), "phase": reflect.TypeFor[PhaseStarted](),
	"turn": reflect.TypeFor[TurnDone](), "dropped": reflect.TypeFor[Dropped](), "decided": reflect.TypeFor[Decided](),
	"asked": reflect.TypeFor[Asked](), "tools": reflect.TypeFor[ToolsCalled](), "annotated": reflect.TypeFor[Annotated](),
	"turn_started": reflect.TypeFor[TurnStarted](), "chunk": reflect.TypeFor[Chunk](),
	"turn_failed": reflect.TypeFor[TurnFailed](), "warning": reflect.TypeFor[Warning](), "ended": reflect.TypeFor[Ended](),
}

// ParseEvent decodes an event from its JSON.
func ParseEvent(b []byte) (Event, error) {
	var s EventMeta
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("parse event: %w", err)
	}
	return parseEvent(s.Type, b, json.Unmarshal)
}

func parseEvent(kind string, b []byte, decode func([]byte, any) error) (Event, error) {
	t, ok := eventTypes[kind]
	if !ok {
		return nil, fmt.Errorf("parse event: type %q is unknown", kind)
	}
	v := reflect.New(t)
	switch ev := v.Interface().(type) { // embedded pointers must not be nil
	case *TurnStarted:
		ev.Attempt = &Attempt{}
	case *Chunk:
		ev.EventMeta = &EventMeta{}
		ev.Attempt = &Attempt{}
	case *TurnFailed:
		ev.Attempt = &Attempt{}
	}
	if err := decode(b, v.Interface()); err != nil {
		return nil, fmt.Errorf("parse event of type %q: %w", kind, err)
	}
	if c, ok := reflect.TypeAssert[*storedConfig](v); ok {
		return c.event(), nil
	}
	return v.Elem().Interface().(Event), nil
}

// storedConfig adds to a ConfigChanged what only the journal has.
type storedConfig struct {
	ConfigChanged
	*Origin
}

// event returns the event, which holds what nothing shows but does not encode it.
func (c storedConfig) event() ConfigChanged {
	c.ConfigChanged.Origin = c.Origin
	return c.ConfigChanged
}

// Data returns what an entry holds of an event.
func Data(ev Event) any {
	if c, ok := ev.(ConfigChanged); ok && c.Origin != nil {
		return storedConfig{c, c.Origin}
	}
	return ev
}

// unmarshalStrictly decodes an event from its JSON. It rejects unknown fields.
func unmarshalStrictly(b []byte, v any) error {
	unknown, err := strictjson.Unmarshal(b, v)
	return cmp.Or(err, unknown)
}

// DecodeEntry returns the event in an entry. It returns an error if the entry's seq, type, key or time is not that of
// the event, or if the event has an unknown field, because one of them is damaged.
func DecodeEntry(e store.Entry) (Event, error) {
	var ev Event
	switch data := e.Data.(type) {
	case storedConfig:
		ev = data.event()
	case Event:
		ev = data
	case json.RawMessage:
		strict, err := parseEvent(e.Type, data, unmarshalStrictly)
		ev = strict
		if err != nil { // perhaps only the type is damaged
			if other, parsed := ParseEvent(data); parsed == nil && other.Meta().Type != e.Type ||
				parsed != nil {
				ev = other
				err = parsed
			}
		}
		if err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("decode entry: data is %T, want an event or its JSON", e.Data)
	}
	is := store.Entry{Seq: ev.Meta().Seq, Type: ev.Meta().Type}
	is.Key, is.At = KeyAndTime(ev)
	if err := checkEntry(e, is); err != nil {
		return nil, err
	}
	return ev, nil
}

// checkEntry returns an error if an entry does not have the seq, the type, the key and the time of its event: one of them is damaged.
func checkEntry(e, of store.Entry) error {
	switch {
	case e.Seq != of.Seq:
		return fmt.Errorf("decode entry: it has the seq %d, but its data has %d", e.Seq, of.Seq)
	case e.Type != of.Type:
		return fmt.Errorf("decode entry: it has the type %q, but its data has %q", e.Type, of.Type)
	case e.Key != of.Key:
		return fmt.Errorf("decode entry: it has the key %q, but its data has %q", e.Key, of.Key)
	case !e.At.Equal(of.At):
		return fmt.Errorf("decode entry: it has the time %v, but its data has %v", e.At, of.At)
	}
	return nil
}

// Entries returns the entries that hold events.
func Entries(events []Event) []store.Entry {
	entries := make([]store.Entry, len(events))
	for i, ev := range events {
		s := ev.Meta()
		entries[i] = store.Entry{
			Seq:  s.Seq,
			Type: s.Type,
			Data: Data(ev),
		}
		entries[i].Key, entries[i].At = KeyAndTime(ev)
	}
	return entries
}

// KeyAndTime returns the key and the time of the entry that holds an event. Only turns have keys.
func KeyAndTime(ev Event) (key string, at time.Time) {
	switch ev := ev.(type) {
	case TurnDone:
		return ev.Turn.Key.String(), ev.At
	case ConfigChanged:
		at = ev.At
	case StateChanged:
		at = ev.At
	case PhaseStarted:
		at = ev.At
	case Dropped:
		at = ev.At
	case Decided:
		at = ev.At
	case Asked:
		at = ev.At
	case ToolsCalled:
		at = ev.At
	case Annotated:
		at = ev.At
	}
	return "", at
}

// Failures returns all failures in an event, that of a question after the one that the event reports.
func Failures(ev Event) (list []*Failure) {
	add := func(found ...*Failure) {
		for _, f := range found {
			if f != nil {
				list = append(list, f)
			}
		}
	}
	switch ev := ev.(type) {
	case StateChanged:
		add(ev.Failure)
		if ev.Question != nil {
			add(ev.Question.Failure)
		}
		add(ev.OtherFailures...)
	case Dropped:
		add(ev.Failure)
		add(ev.OtherFailures...)
	}
	return list
}
