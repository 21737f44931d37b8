package debate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/internal/seal"
	"github.com/elenchus-go/debate/internal/strictjson"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// decodeEntry returns the event in an entry. It returns an error if the entry's seq, type, key or time is not that of
// the event, or if the event has an unknown field, because one of them is damaged.
func decodeEntry(e store.Entry) (Event, error) { return decodeEntryBy(e, unmarshalEvent) }

// unmarshalEvent decodes an event from its JSON. It rejects unknown fields, unless a newer version wrote them.
func unmarshalEvent(b []byte, v any) error {
	unknown, err := strictjson.Unmarshal(b, v)
	if c, ok := v.(*storedConfig); ok && c.Format > store.Format || v.(Event).Meta().Revision > revision {
		unknown = nil
	}
	return cmp.Or(err, unknown)
}

// decodeEntryBy returns the event in an entry. decode decodes it from JSON.
func decodeEntryBy(e store.Entry, decode func([]byte, any) error) (Event, error) {
	var ev Event
	switch data := e.Data.(type) {
	case storedConfig:
		ev = data.event()
	case Event:
		ev = data
	case json.RawMessage:
		var err error
		if ev, err = parseEvent(e.Type, data, decode); err != nil { // perhaps only the type is damaged
			if other, parsed := ParseEvent(data); parsed == nil && other.Meta().Type != e.Type || parsed != nil {
				ev, err = other, parsed
			}
		}
		if err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("decode entry: data is %T, want an event or its JSON", e.Data)
	}
	if c, ok := ev.(ConfigChanged); ok && (c.Format < store.OldestFormat || c.Format > store.Format) { // another format may have other fields
		return ev, nil
	}
	key, at := entryFields(ev)
	switch meta := ev.Meta(); {
	case e.Seq != meta.Seq:
		return nil, fmt.Errorf("decode entry: it has the seq %d, but its data has %d", e.Seq, meta.Seq)
	case e.Type != meta.Type:
		return nil, fmt.Errorf("decode entry: it has the type %q, but its data has %q", e.Type, meta.Type)
	case e.Key != key:
		return nil, fmt.Errorf("decode entry: it has the key %q, but its data has %q", e.Key, key)
	case !e.At.Equal(at):
		return nil, fmt.Errorf("decode entry: it has the time %v, but its data has %v", e.At, at)
	}
	return ev, nil
}

// entriesOf returns the entries that hold events.
func entriesOf(events []Event) []store.Entry {
	entries := make([]store.Entry, len(events))
	for i, ev := range events {
		s := ev.Meta()
		entries[i] = store.Entry{Seq: s.Seq, Type: s.Type, Data: dataOf(ev)}
		entries[i].Key, entries[i].At = entryFields(ev)
	}
	return entries
}

// dataOf returns the data of the entry that holds an event.
func dataOf(ev Event) any {
	if c, ok := ev.(ConfigChanged); ok && (c.keys != nil || c.course != nil || c.silent != nil) {
		return storedConfig{c, c.keys, c.course, c.silent}
	}
	return ev
}

// entryFields returns the key and the time of the entry that holds an event.
func entryFields(ev Event) (key string, at time.Time) {
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

// keysOfFork returns the keys of a fork that begins with the given entries: a secret of its own, and the keys of the hashes in
// these entries and in its course. parent gives those, and is nil if the parent has no secret.
func keysOfFork(parent *seal.Keys, entries []store.Entry, stored *storedCourse) (*seal.Keys, error) {
	k, c := seal.New(), &course{}
	if stored != nil {
		var err error
		if c, err = newCourse(stored); err != nil {
			return nil, err
		}
	}
	for _, e := range append(slices.Clip(entries), entriesOf(c.events)...) {
		ev, err := decodeEntry(e)
		if err != nil { // whoever reads the entries into a record names it
			continue
		}
		for _, id := range hashesIn(ev) {
			if key, keyed := parent.Of(id); keyed {
				put(&k.Copied, id, key)
			}
		}
	}
	return k, nil
}

// hashesIn returns the IDs of the hashes in an entry.
func hashesIn(ev Event) (ids []string) {
	calls := func(step transcript.Key, list []transcript.Attempt) {
		for _, a := range list {
			if a.Hash != "" {
				ids = append(ids, seal.CallID(step.String(), a.Began))
			}
		}
	}
	failures := func(list ...*Failure) {
		for _, f := range list {
			if f != nil {
				calls(f.Key, f.AttemptDetails)
			}
		}
	}
	switch ev := ev.(type) {
	case TurnDone:
		if calls(ev.Turn.Key, ev.Turn.Attempts); ev.Reply != "" {
			ids = append(ids, seal.ReplyID(ev.Turn.Key.String()))
		}
	case ToolsCalled:
		calls(ev.Key, ev.Attempts)
	case StateChanged:
		failures(append(slices.Clip(ev.OtherFailures), ev.Failure, failureOf(ev))...)
	case Dropped:
		failures(append(slices.Clip(ev.OtherFailures), ev.Failure)...)
	}
	return ids
}
