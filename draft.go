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
	return draft{transcript.Turn{Key: s.Key, Kind: s.Kind, Order: s.Order, Horizon: s.Horizon, Output: s.Output}}
}

// begin notes when the first attempt begins.
func (d *draft) begin() { d.Began = time.Now() }

// fitted notes how the history was fitted into the window; nil: all of it.
func (d *draft) fitted(w *transcript.Window) { d.Window = w }

// cut notes that the history is shorter by so many tokens and turns, which is all that there is room for. without is the
// history as it was if nothing was noted before.
func (d *draft) cut(tokens, turns int, without transcript.Window) {
	w := without
	if d.Window != nil {
		w = *d.Window
	}
	w.Used, w.Kept, w.Cut = max(w.Used-tokens, 0), w.Kept-turns, w.Cut+turns
	w.Limit = w.Used
	d.Window = &w
}

// tried adds an attempt and what it used.
func (d *draft) tried(a transcript.Attempt) {
	d.Attempts = append(d.Attempts, a)
	d.Usage = d.Usage.Add(a.Usage)
}

// clear takes back the flags of an attempt before.
func (d *draft) clear() { d.Flags = nil }

func (d *draft) flag(f transcript.Flag) { d.Flags = append(d.Flags, f) }

// says sets the reply.
func (d *draft) says(text string, data json.RawMessage, tokens int) {
	d.Text, d.Data, d.Tokens = text, data, tokens
}

// fallBack sets a reply that stands in for the model's and a substitute's.
func (d *draft) fallBack(text string, data json.RawMessage, tokens int) {
	d.says(text, data, tokens)
	d.Flags = slices.DeleteFunc(d.Flags, func(f transcript.Flag) bool { return f == transcript.Substituted })
	d.flag(transcript.Fallback)
}

// end notes when the turn was complete and how much of its time the viewer took.
func (d *draft) end(viewed time.Duration) { d.Ended, d.Viewed = time.Now(), viewed }

// commit returns the turn as the journal's entry seq has it. A measured time of the viewer replaces the timer's.
func (d *draft) commit(seq int64, viewed time.Duration, measured bool) transcript.Turn {
	t := d.Turn
	t.Seq = seq
	if measured {
		t.Viewed = viewed
	}
	return t
}
