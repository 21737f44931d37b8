package debate

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// draft is the turn that an execution produces. Only the methods in this file write the fields of a turn before it is
// committed.
type draft struct{ transcript.Turn }

func newDraft(s *protocol.Step) draft {
	return draft{transcript.Turn{Key: s.Key, Kind: s.Kind, Order: s.Order, VisibleSeq: s.VisibleSeq, Contract: s.Contract}}
}

// start records the start of the first attempt.
func (d *draft) start() { d.Started = time.Now() }

// setWindow records how the history was fitted into the window. w is nil if nothing was cut.
func (d *draft) setWindow(w *transcript.Window) { d.Window = w }

// omit records that an overflow removed the given number of tokens and turns from the history, and that the rest is
// all that fits. without is the window to start from if none was recorded before.
func (d *draft) omit(tokens, turns int, without transcript.Window) {
	w := without
	if d.Window != nil {
		w = *d.Window
	}
	w.Used, w.Kept, w.Omitted = max(w.Used-tokens, 0), w.Kept-turns, w.Omitted+turns
	w.Limit = w.Used
	d.Window = &w
}

// addAttempt adds an attempt and its usage.
func (d *draft) addAttempt(a transcript.Attempt) {
	d.Attempts = append(d.Attempts, a)
	d.Usage = d.Usage.Add(a.Usage)
}

// clearFlags removes the flags of an earlier attempt.
func (d *draft) clearFlags() { d.Flags = nil }

func (d *draft) flag(f transcript.Flag) { d.Flags = append(d.Flags, f) }

func (d *draft) setReply(text string, data json.RawMessage, tokens int) {
	d.Text, d.Data, d.Tokens = text, data, tokens
}

// setDefault sets a default reply in place of the model's or a substitute's.
func (d *draft) setDefault(text string, data json.RawMessage, tokens int) {
	d.setReply(text, data, tokens)
	d.Flags = slices.DeleteFunc(d.Flags, func(f transcript.Flag) bool { return f == transcript.Substituted })
	d.flag(transcript.Defaulted)
}

// finish records when the turn was complete and how much time the viewer took.
func (d *draft) finish(viewed time.Duration) { d.Ended, d.ViewerTime = time.Now(), viewed }

// commit returns the turn for the journal entry seq. If the viewer's time was measured, it replaces the timer's
// estimate.
func (d *draft) commit(seq int64, viewed time.Duration, measured bool) transcript.Turn {
	t := d.Turn
	t.Seq = seq
	if measured {
		t.ViewerTime = viewed
	}
	return t
}
