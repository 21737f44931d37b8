// Package userinput limits what people add to a debate: IDs and labels, notes and remarks.
package userinput

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// list is a list of problems.
type list []protocol.Problem

func (l *list) add(field, format string, args ...any) {
	*l = append(*l, protocol.Problemf(field, format, args...))
}

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

// Notes are the notes on a debate. The zero value has none.
type Notes struct {
	Values map[string]json.RawMessage // by name

	written int // bytes of all notes in the journal
}

// Check returns everything that is wrong with a new note.
func (n *Notes) Check(name string, value json.RawMessage) []protocol.Problem {
	var l list
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
	_, replaced := n.Values[name]
	if has := len(n.Values); has >= maxNotes && !replaced {
		l.add("name", "the debate has %d notes already, which is the most: replace one of them", has)
	}
	all := len(name) + len(value)
	for other, v := range n.Values {
		if other != name {
			all += len(other) + len(v)
		}
	}
	if all > maxAllNotes {
		l.add("value", "all notes would have %d bytes, use at most %d", all, maxAllNotes)
	}
	if all := n.written + len(name) + len(value) + noteEntry; all > maxNotesWritten {
		l.add("value", "all notes that were ever stored would have %d bytes, use at most %d", all, maxNotesWritten)
	}
	return l
}

// Add adds a note.
func (n *Notes) Add(name string, value json.RawMessage) {
	if n.Values == nil {
		n.Values = map[string]json.RawMessage{}
	}
	n.Values[name] = value
	n.written += len(name) + len(value) + noteEntry
}

// CheckSignature returns an error if the value of a signature is larger than the engine makes one. The limits of people's notes do
// not apply to signatures.
func CheckSignature(value json.RawMessage) error {
	if len(value) > maxNote {
		return fmt.Errorf("the signature has %d bytes, use at most %d", len(value), maxNote)
	}
	return nil
}

// CheckRemark returns everything that is wrong with the ID and the length of a new remark after the given turns.
func CheckRemark(turns []transcript.Turn, id, from, text string) []protocol.Problem {
	var l list
	if len(id) > maxRemarkID || !characters.IsPlain(id) {
		l.add("id", "it is not valid, use at most %d bytes of UTF-8 without control characters", maxRemarkID)
	}
	n, all := 0, len(text)
	for i := range turns {
		if t := &turns[i]; t.Kind == transcript.Remark {
			if t.Actor == from && t.Target == id { // it is there already
				return l
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
	return l
}

// CheckID returns a problem if the ID of a debate is not valid. It may be empty.
func CheckID(id string) (l []protocol.Problem) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	if len(id) > 128 || strings.Trim(id, letters) != "" {
		l = append(l, protocol.Problemf("id", "%q is not valid, use up to 128 letters, digits, '.', '_' and '-'", id))
	}
	return l
}

// CheckBy returns a problem if the name of a person who replies or decides is not valid.
func CheckBy(by string) (l []protocol.Problem) {
	if len(by) > 256 || !utf8.ValidString(by) || strings.ContainsFunc(by, unicode.IsControl) {
		l = append(l, protocol.Problemf("by", "it is not valid, use at most 256 bytes of UTF-8 without control characters"))
	}
	return l
}

// CheckLabels returns a problem for each label of a new debate that is not valid.
func CheckLabels(labels map[string]string) []protocol.Problem {
	var l list
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
	return l
}

// CheckReaders returns a problem for each private document that would get readers, or become public, by a change of the
// configuration.
func CheckReaders(was, is []evidence.Document) (list []protocol.Problem) {
	for i := range is {
		d := &is[i]
		known, readers := false, []string(nil)
		for j := range was {
			if old := &was[j]; old.SHA256 == d.SHA256 {
				known = known || old.IsPrivate()
				readers = append(readers, old.Readers...)
			}
		}
		field := fmt.Sprintf("documents[%d].readers", i)
		switch {
		case known && !d.IsPrivate():
			list = append(list, protocol.Problemf(field, "%s is private and must stay so: create another debate", d.Name))
			continue
		case !known || slices.Contains(readers, evidence.Everybody):
			continue
		}
		for _, name := range d.Readers {
			if !slices.Contains(readers, name) {
				list = append(list, protocol.Problemf(field, "%q must not read %s, which is private: create another debate", name, d.Name))
			}
		}
	}
	return list
}
