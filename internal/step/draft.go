package step

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// draft is the turn that a step produces. Only the methods in this file write its fields.
type draft struct{ transcript.Turn }

// start begins the turn of a step, with its first attempt.
func (d *draft) start(s *protocol.Step) {
	d.Turn = transcript.Turn{
		Key:        s.Key,
		Kind:       s.Kind,
		Order:      s.Order,
		VisibleSeq: s.VisibleSeq,
		Contract:   s.Contract,
		Started:    time.Now(),
	}
}

// addAttempt adds an attempt and its usage, and returns where it is.
func (d *draft) addAttempt(a transcript.Attempt) *transcript.Attempt {
	d.Attempts = append(d.Attempts, a)
	d.Usage = d.Usage.Add(a.Usage)
	return &d.Attempts[len(d.Attempts)-1]
}

// note notes what followed the last attempt.
func (d *draft) note(next transcript.Next) {
	d.Attempts[len(d.Attempts)-1].Next = next
}

// end notes that nothing followed the last attempt, if it has failed.
func (d *draft) end() {
	if n := len(d.Attempts); n > 0 && d.Attempts[n-1].ErrorKind != "" {
		d.note(transcript.NextGivenUp)
	}
}

// clearFlags removes the flags of an earlier attempt.
func (d *draft) clearFlags() { d.Flags = nil }

func (d *draft) flag(f transcript.Flag) { d.Flags = append(d.Flags, f) }

// maxKept limits, in bytes, the reasoning that a turn keeps, which is its text and what is opaque, and a reply that an
// attempt keeps.
const maxKept = 64 << 10

// setReasoning sets the reasoning that the turn keeps: a text, and the opaque part that goes back to the model, or nil. If
// the opaque part is too large, setReasoning omits it and returns a warning.
func (d *draft) setReasoning(text string, o *reasoning.Opaque) (warning string) {
	d.Reasoning = nil
	text = characters.First(text, maxKept)
	if text != "" {
		d.Reasoning = &transcript.Reasoning{Text: text}
	}
	if o == nil {
		return ""
	}
	raw, err := json.Marshal(o)
	if err != nil || len(raw) > maxKept {
		return fmt.Sprintf(
			"the encrypted reasoning of %d bytes is not kept for the next turns, at most %d are",
			len(raw),
			maxKept,
		)
	}
	d.Reasoning = &transcript.Reasoning{
		Text:   text,
		Opaque: raw,
	}
	return ""
}

// opaqueParts returns the parts of a reply that only the service can read, without the model. Each has about 4 bytes for a
// token if the service does not report the tokens. It returns nil if there are none.
func opaqueParts(r providers.Response) *reasoning.Opaque {
	o := &reasoning.Opaque{}
	for _, p := range r.Parts {
		if p.Reasoning != nil && p.Reasoning.Data != nil {
			o.Parts = append(o.Parts, reasoning.Part{
				Service: p.Reasoning.Service,
				Data:    p.Reasoning.Data,
			})
			o.Tokens += len(p.Reasoning.Data) / 4
		}
	}
	if o.Parts == nil {
		return nil
	}
	if r.Usage.Reasoning > 0 {
		o.Tokens = r.Usage.Reasoning
	}
	return o
}

// partsReasoning returns the reasoning in the parts of a reply that a person can read.
func partsReasoning(parts []providers.Part) string {
	var texts []string
	for _, p := range parts {
		if p.Reasoning != nil && p.Reasoning.Text != "" {
			texts = append(texts, p.Reasoning.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// readableReasoning returns all reasoning of a reply that a person can read.
func readableReasoning(r providers.Response) string {
	text := partsReasoning(r.Parts)
	if _, inline := reasoning.Split(r.Text); inline != "" {
		text = strings.TrimLeft(text+"\n\n"+inline, "\n")
	}
	return characters.Valid(text)
}

// onlyReasons reports whether a model has reasoned and written no reply.
func onlyReasons(r providers.Response) bool {
	said, _ := reasoning.Split(r.Text)
	return strings.TrimSpace(said) == "" &&
		(r.Usage.Reasoning > 0 || readableReasoning(r) != "" || opaqueParts(r) != nil)
}

func (d *draft) setReply(text string, data json.RawMessage, tokens int) {
	d.Text = text
	d.Data = data
	d.Tokens = tokens
}

// restore sets the reply of an earlier attempt, with its flags and its reasoning.
func (d *draft) restore(from *draft) {
	d.setReply(from.Text, from.Data, from.Tokens)
	d.Flags = from.Flags
	d.Reasoning = from.Reasoning
}

// setDefault sets a default reply in place of the model's or a substitute's.
func (d *draft) setDefault(text string, data json.RawMessage, tokens int) {
	d.setReply(text, data, tokens)
	d.Flags = slices.DeleteFunc(d.Flags, func(f transcript.Flag) bool {
		return f == transcript.Substituted
	})
	d.flag(transcript.Defaulted)
}

// finish records when the turn was complete, how the history was fitted into the window, and how much time the viewer took.
func (d *draft) finish(w *transcript.Window, viewed time.Duration) {
	d.end()
	d.Window = w
	d.Ended = time.Now()
	d.ViewerTime = viewed
}
