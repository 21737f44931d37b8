package live

import (
	"encoding/json"
	"slices"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Blindfold withholds events of the type E from the viewer.
type Blindfold[E any] struct {
	Seat  string
	After int64 // seq of the last event that the viewer has seen
	// Masked withholds everything. It is set for a judge who knows the participants only by pseudonyms.
	Masked bool

	list  []withheld[E] // what was not shown yet
	phase string        // the parallel phase in which the seat has yet to speak; "" if there is none
	since int64         // its first seq
}

// withheld holds an event that was not shown yet.
type withheld[E any] struct {
	event E
	seq   int64
	by    transcript.Key // the step that it is about, if it is a turn or a round of calls of tools
}

// At finds the open parallel phase in which the seat has yet to speak, after an entry of a debate. next returns the steps that may
// run, and final reports whether the debate has ended. A debate in error keeps the phase: it may continue.
func (b *Blindfold[E]) At(r *protocol.Record, parallel, final bool, next func() []protocol.Step) {
	if r.Cursor.Phase == "" && r.Cursor.Stage != transcript.Conclusion && !final {
		return
	}
	b.phase = ""
	if parallel && slices.ContainsFunc(next(), func(s protocol.Step) bool { return s.Actor == b.Seat && s.Phase == r.Cursor.Phase }) {
		b.phase, b.since = r.Cursor.Phase, r.Cursor.PhaseSeq
	}
}

// Wants reports whether the viewer may see an event at some time, and has not seen it. own reports whether the event is about a step
// of the seat. Live events that the viewer must not see now are not kept.
func (b *Blindfold[E]) Wants(seq int64, live, own bool) bool {
	if live && (len(b.list) > 0 || b.phase != "" || b.Masked) && !own {
		return false
	}
	return seq > b.After || live && seq == b.After
}

// Add adds an event that is wanted. by is the key of a turn or of a round of calls of tools.
func (b *Blindfold[E]) Add(ev E, seq int64, by transcript.Key) {
	b.list = append(b.list, withheld[E]{ev, seq, by})
}

// Take returns the events that the viewer may see now, and removes them.
func (b *Blindfold[E]) Take() []E {
	n := slices.IndexFunc(b.list, func(x withheld[E]) bool {
		return b.Masked || x.by.Phase != "" && x.by.Phase == b.phase && x.seq > b.since && x.by.Actor != b.Seat
	})
	if n < 0 {
		n = len(b.list)
	}
	shown := make([]E, n)
	for i := range shown {
		shown[i] = b.list[i].event
	}
	b.list = slices.Delete(b.list, 0, n)
	return shown
}

// ConfigFor returns a configuration without what is not for a seat: attachments of other readers, and the reference answer unless a
// judge sits there. It returns nil if the configuration cannot be read.
func ConfigFor(config json.RawMessage, seat string) json.RawMessage {
	var c struct {
		Attachments []json.RawMessage
		Reference   string
		Judges      []struct{ Name string }
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(config, &c) != nil || json.Unmarshal(config, &fields) != nil {
		return nil
	}
	all := len(c.Attachments)
	c.Attachments = slices.DeleteFunc(c.Attachments, func(raw json.RawMessage) bool {
		var a struct{ Readers []string }
		err := json.Unmarshal(raw, &a)
		return err != nil || len(a.Readers) > 0 && !slices.Contains(a.Readers, seat)
	})
	hidden := c.Reference != "" && !slices.ContainsFunc(c.Judges, func(j struct{ Name string }) bool { return j.Name == seat })
	if len(c.Attachments) == all && !hidden {
		return config
	}
	if all > 0 {
		fields["attachments"], _ = json.Marshal(c.Attachments) // they were decoded
	}
	if hidden {
		delete(fields, "reference")
	}
	shown, _ := json.Marshal(fields)
	return shown
}

// WithoutReplies returns a copy of attempts without their raw replies.
func WithoutReplies(list []transcript.Attempt) []transcript.Attempt {
	list = slices.Clone(list)
	for i := range list {
		list[i].Reply = ""
	}
	return list
}
