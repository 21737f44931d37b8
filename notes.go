package debate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// The limits of what people add to a debate, so that its results, pages and reports stay small.
const (
	maxNotes        = 100
	maxNoteName     = 128      // bytes
	maxNote         = 16 << 10 // bytes of a value
	maxAllNotes     = 64 << 10 // bytes of all names and values
	maxNotesWritten = 4 << 20  // bytes in the journal, with notes that were replaced
	noteEntry       = 64       // bytes that an entry of the journal takes besides
	maxRemarks      = 1000     // in a run
	maxAllRemarks   = 1 << 20  // bytes of the texts of all remarks in a run
	maxRemarkID     = 128      // bytes
	maxLabels       = 64       //
	maxLabelName    = 128      // bytes
	maxLabel        = 4096     // bytes of a value
	maxAllLabels    = 16 << 10 // bytes of all names and values
)

// checkNote returns everything that is wrong with a new note.
func checkNote(r *record, name string, value json.RawMessage) []protocol.Problem {
	l := &problemList{}
	switch {
	case characters.IsBlank(name):
		l.add("name", "it is blank")
	case len(name) > maxNoteName:
		l.add("name", "it has %d bytes, use at most %d", len(name), maxNoteName)
	case !characters.IsPlain(name):
		l.add("name", "%q is not valid, remove control characters", name)
	}
	if len(value) > maxNote {
		l.add("value", "it has %d bytes, use at most %d", len(value), maxNote)
	}
	_, replaced := r.notes.values[name]
	if n := len(r.notes.values); n >= maxNotes && !replaced {
		l.add("name", "the debate has %d notes already, which is the most: replace one of them", n)
	}
	all := len(name) + len(value)
	for other, v := range r.notes.values {
		if other != name {
			all += len(other) + len(v)
		}
	}
	if all > maxAllNotes {
		l.add("value", "all notes would have %d bytes, use at most %d", all, maxAllNotes)
	}
	if all := r.notes.written + len(name) + len(value) + noteEntry; all > maxNotesWritten {
		l.add("value", "all notes that were ever stored would have %d bytes, use at most %d", all, maxNotesWritten)
	}
	return l.problems
}

// shownNotes returns the notes that a result has. It leaves out those that are too large, which earlier versions have
// accepted, and says so in a warning.
func shownNotes(r *record) (shown map[string]json.RawMessage, warning string) {
	var left []string
	all := 0
	for _, name := range slices.Sorted(maps.Keys(r.notes.values)) {
		value := r.notes.values[name]
		size := len(name) + len(value)
		if len(name) > maxNoteName || len(value) > maxNote || all+size > maxAllNotes || len(shown) == maxNotes {
			left = append(left, fmt.Sprintf("%q with %d bytes", cutText(name, maxNoteName), len(value)))
			continue
		}
		all += size
		put(&shown, name, slices.Clone(value))
	}
	const named = 3
	switch n := len(left); {
	case n == 0:
		return shown, ""
	case n > named:
		left = append(left[:named], fmt.Sprintf("%d more", n-named))
	}
	return shown, "notes are left out, because they are too large: " + listOf(left)
}

// checkRemark returns everything that is wrong with the ID and the length of a new remark.
func checkRemark(r *record, id, from, text string) []protocol.Problem {
	l := &problemList{}
	if len(id) > maxRemarkID || !characters.IsPlain(id) {
		l.add("id", "it is not valid, use at most %d bytes of UTF-8 without control characters", maxRemarkID)
	}
	n, all := 0, len(text)
	for i := range r.Turns {
		if t := &r.Turns[i]; t.Kind == transcript.Remark {
			if t.Actor == from && t.Target == id { // it is there already
				return l.problems
			}
			n++
			all += len(t.Text)
		}
	}
	if n >= maxRemarks {
		l.add("text", "the debate has %d remarks already, which is the most", n)
	}
	if all > maxAllRemarks {
		l.add("text", "it has %d bytes, and all remarks would have %d, use at most %d", len(text), all, maxAllRemarks)
	}
	return l.problems
}

// checkLabels adds a problem for each label of a new debate that is not valid.
func checkLabels(l *problemList, labels map[string]string) {
	all := 0
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		value := labels[name]
		all += len(name) + len(value)
		switch {
		case len(name) > maxLabelName:
			l.add("labels", "a name has %d bytes, use at most %d", len(name), maxLabelName)
		case !characters.IsPlain(name) || !characters.IsPlain(value):
			l.add("labels", "%q is not valid, remove control characters", name)
		case len(value) > maxLabel:
			l.add("labels", "%s: the value has %d bytes, use at most %d", name, len(value), maxLabel)
		}
	}
	if n := len(labels); n > maxLabels {
		l.add("labels", "there are %d, use at most %d", n, maxLabels)
	}
	if all > maxAllLabels {
		l.add("labels", "all names and values have %d bytes, use at most %d", all, maxAllLabels)
	}
}

// cutText returns text, cut to at most that many bytes without breaking a character.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most -= len("…"); most > 0 && !utf8.RuneStart(text[most]); {
		most--
	}
	return text[:most] + "…"
}

// put sets a value of a map, which may be nil.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}
