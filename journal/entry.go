package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/elenchus-go/debate/internal/strictjson"
	"github.com/elenchus-go/debate/store"
)

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
