package debate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/journals"
	"github.com/elenchus-go/debate/internal/presets"
	"github.com/elenchus-go/debate/internal/protocoljson"
	"github.com/elenchus-go/debate/internal/rejudging"
	"github.com/elenchus-go/debate/internal/strictjson"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// configJSON holds a Config in its JSON form.
type configJSON struct {
	*plainConfig
	Protocol json.RawMessage `json:"protocol,omitempty"`
	Limits   budget.JSON     `json:"limits,omitzero"`
}

type plainConfig Config // has no methods, so that encoding it does not call MarshalJSON again

// MarshalJSON encodes the protocol as an object with its name and protocoljson.Parameters, and durations as strings such as
// "10m0s". UnmarshalJSON and [Engine.ParseConfig] decode it.
func (c Config) MarshalJSON() ([]byte, error) {
	w := configJSON{plainConfig: (*plainConfig)(&c), Limits: budget.Limits(c.Limits).JSON()}
	if c.Protocol != nil {
		var err error
		if w.Protocol, err = protocoljson.Encode(c.Protocol); err != nil {
			return nil, err
		}
	}
	return json.Marshal(w)
}

// UnmarshalJSON decodes a configuration with one of the protocols of the library. It rejects unknown fields. It returns
// *Problems with everything that is wrong, by the names of the fields as you wrote them. [Engine.ParseConfig] decodes
// configurations with other protocols.
func (c *Config) UnmarshalJSON(b []byte) error {
	return decodeStrict(b, c, protocoljson.NewRegistry(presets.Protocols()...), "decode other protocols with Engine.ParseConfig")
}

// decodeStrict decodes a configuration that a person wrote. It returns *Problems with everything that is wrong with it. advice
// says what to do about a protocol that is not known.
func decodeStrict(b []byte, c *Config, known *protocoljson.Registry, advice string) error {
	w := configJSON{plainConfig: (*plainConfig)(c), Limits: budget.Limits(c.Limits).JSON()}
	found := strictjson.Decode("", b, &w)
	c.Limits = Limits(w.Limits.Limits())
	p, wrong := known.Read(w.Protocol, advice)
	if p != nil {
		c.Protocol = p
	}
	l := &problemList{}
	for _, x := range append(found, wrong...) {
		l.add(cmp.Or(x.Path, "configuration"), "%s", x.Reason)
	}
	return problemsError(l.problems)
}

// unmarshalStrictly decodes an event from its JSON. It rejects unknown fields.
func unmarshalStrictly(b []byte, v any) error {
	unknown, err := strictjson.Unmarshal(b, v)
	return cmp.Or(err, unknown)
}

// decodeEntry returns the event in an entry. It returns an error if the entry's seq, type, key or time is not that of
// the event, or if the event has an unknown field, because one of them is damaged.
func decodeEntry(e store.Entry) (Event, error) {
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
	is := store.Entry{Seq: ev.Meta().Seq, Type: ev.Meta().Type}
	is.Key, is.At = entryFields(ev)
	if err := journals.Check(e, is); err != nil {
		return nil, err
	}
	return ev, nil
}

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

// failureOf returns the failure that an event reports, or nil if there is none.
func failureOf(ev Event) *Failure {
	switch ev := ev.(type) {
	case StateChanged:
		if ev.Question != nil {
			return ev.Question.Failure
		}
		return ev.Failure
	case Dropped:
		return ev.Failure
	}
	return nil
}

// failuresIn returns all failures in an event, that of a question after the one that the event reports.
func failuresIn(ev Event) (list []*Failure) {
	switch ev := ev.(type) {
	case StateChanged:
		if ev.Failure != nil {
			list = append(list, ev.Failure)
		}
		if ev.Question != nil {
			list = append(list, ev.Question.Failure)
		}
		list = append(list, ev.OtherFailures...)
	case Dropped:
		list = append(append(list, ev.Failure), ev.OtherFailures...)
	}
	return slices.DeleteFunc(list, func(f *Failure) bool { return f == nil })
}

// course holds what a rejudged debate keeps of its parent. Other debates have the zero course.
type course struct {
	*rejudging.Course

	events []Event // of the parent, after the first ones
}

func (s *storedCourse) plan() rejudging.Plan {
	return rejudging.Plan{From: s.From, Omit: rejudging.Omission(s.Omit), Swap: s.Swap, Phases: s.Phases}
}

// newCourse decodes a course. It returns the zero course if there is none.
func newCourse(stored *storedCourse) (c course, err error) {
	if stored == nil {
		return c, nil
	}
	for i, raw := range stored.Entries {
		ev, err := ParseEvent(raw)
		if err != nil {
			return c, fmt.Errorf("read entry %d of the course: %w", stored.From+int64(i)+1, err)
		}
		c.events = append(c.events, ev)
	}
	c.Course = rejudging.New(stored.plan(), courseEntries(c.events))
	return c, nil
}

func courseEntries(events []Event) []rejudging.Entry {
	list := make([]rejudging.Entry, len(events))
	for i, ev := range events {
		list[i] = courseEntry(ev)
	}
	return list
}

func courseEntry(ev Event) rejudging.Entry {
	x := rejudging.Entry{Seq: ev.Meta().Seq, Repeats: ev.Meta().Repeats}
	switch ev := ev.(type) {
	case StateChanged:
		x.Kind, x.On, x.From, x.To, x.Round, x.Ending, x.Instead = rejudging.Transition, ev.On, ev.From, ev.To, ev.Round, ev.Ending, ev.Instead
	case PhaseStarted:
		x.Kind, x.Phase, x.Summary = rejudging.Phase, ev.Phase, ev.Summary != nil
	case TurnDone:
		x.Kind, x.Phase, x.Summary, x.Key, x.Remains = rejudging.Turn, ev.Turn.Phase, ev.Turn.Kind == transcript.Summary, ev.Turn.Key, ev.Remains
	case ToolsCalled:
		x.Kind, x.Phase = rejudging.Calls, ev.Key.Phase
	case Dropped:
		x.Kind, x.Name = rejudging.Drop, ev.Name
	}
	return x
}

// repeated returns an event of the course as the debate has it after the entry last.
func (c *course) repeated(ev Event, stampOf func(kind string) EventMeta, now time.Time, last int64) Event {
	stamp := stampOf(ev.Meta().Type)
	stamp.Repeats = ev.Meta().Seq
	switch ev := ev.(type) {
	case StateChanged:
		ev.EventMeta, ev.At = stamp, now
		return ev
	case PhaseStarted:
		ev.EventMeta, ev.At, ev.Summary = stamp, now, c.Summary(ev.Summary)
		return ev
	case TurnDone:
		visible := c.SeqOf(ev.Turn.VisibleSeq)
		if ev.PromptSeq = c.SeqOf(ev.PromptSeq); ev.Turn.Kind == transcript.Remark {
			visible = last
		}
		ev.EventMeta, ev.At = stamp, now
		ev.Turn.Seq, ev.Turn.VisibleSeq = ev.Seq, visible
		return ev
	case Dropped:
		ev.EventMeta, ev.At = stamp, now
		return ev
	case ToolsCalled:
		ev.EventMeta, ev.At, ev.VisibleSeq = stamp, now, c.SeqOf(ev.VisibleSeq)
		return ev
	}
	return nil
}

// result returns what the result of the debate says of the course.
func (c *course) result() *Rejudged {
	if c.Course == nil {
		return nil
	}
	is := &Rejudged{Omit: deepcopy.Of(Omission(c.Omit)), Swap: c.Swap, Remains: slices.Clone(c.Remaining)}
	for _, d := range c.Departures {
		is.Departures = append(is.Departures, Departure(d))
	}
	return is
}
