package debate

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// draft is the turn that an execution makes. The methods in this file are the only code that writes a turn's fields before
// it is committed.
type draft struct{ transcript.Turn }

func newDraft(s *protocol.Step) draft {
	return draft{transcript.Turn{Key: s.Key, Kind: s.Kind, Order: s.Order, VisibleSeq: s.VisibleSeq, Contract: s.Contract}}
}

// start notes when the first attempt begins.
func (d *draft) start() { d.Started = time.Now() }

// setWindow notes how the history was setWindow into the window; nil: all of it.
func (d *draft) setWindow(w *transcript.Window) { d.Window = w }

// omit notes that the history is shorter by so many tokens and turns, which is all that there is room for. without is the
// history as it was if nothing was noted before.
func (d *draft) omit(tokens, turns int, without transcript.Window) {
	w := without
	if d.Window != nil {
		w = *d.Window
	}
	w.Used, w.Kept, w.Omitted = max(w.Used-tokens, 0), w.Kept-turns, w.Omitted+turns
	w.Limit = w.Used
	d.Window = &w
}

// addAttempt adds an attempt and what it used.
func (d *draft) addAttempt(a transcript.Attempt) {
	d.Attempts = append(d.Attempts, a)
	d.Usage = d.Usage.Add(a.Usage)
}

// clearFlags takes back the flags of an attempt before.
func (d *draft) clearFlags() { d.Flags = nil }

func (d *draft) flag(f transcript.Flag) { d.Flags = append(d.Flags, f) }

// setReply sets the reply.
func (d *draft) setReply(text string, data json.RawMessage, tokens int) {
	d.Text, d.Data, d.Tokens = text, data, tokens
}

// setDefault sets a reply that stands in for the model's and a substitute's.
func (d *draft) setDefault(text string, data json.RawMessage, tokens int) {
	d.setReply(text, data, tokens)
	d.Flags = slices.DeleteFunc(d.Flags, func(f transcript.Flag) bool { return f == transcript.Substituted })
	d.flag(transcript.Defaulted)
}

// finish notes when the turn was complete and how much of its time the viewer took.
func (d *draft) finish(viewed time.Duration) { d.Ended, d.ViewerTime = time.Now(), viewed }

// commit returns the turn as the journal's entry seq has it. A measured time of the viewer replaces the timer's.
func (d *draft) commit(seq int64, viewed time.Duration, measured bool) transcript.Turn {
	t := d.Turn
	t.Seq = seq
	if measured {
		t.ViewerTime = viewed
	}
	return t
}
