// Package sources numbers the sources of a debate, and checks what its turns cite and quote. It needs no engine.
//
// A [List] is computed from the entries of a journal, in their order. [List.Number] gives numbers to what tools have found,
// and [List.Cite] reads the citations of a turn.
//
// Sources have numbers that depend on what a step can know, and not on when it is committed. In a sequential phase, a new
// source gets the next number. The steps of a parallel phase do not know of one another, so they take turns: of three steps,
// the first one gets the numbers 1, 4, 7 and so on after the highest number before the phase, the second one 2, 5, 8.
package sources

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

// List is the sources of a debate. The zero List is empty.
type List struct {
	all     []source // in the order of the entries
	highest int
	phases  []phase // parallel ones of the current round, and of the setup
}

// source is a source with what only the list needs.
type source struct {
	evidence.Source

	document *evidence.Document // nil if a tool has found it
	removed  bool               // the document is not in the configuration any more
	step     transcript.Key     // whose tool has found it
	seq      int64              // of its entry
	id       string             // the same for the same text
	hash     string             // of text
	text     string             // if the journal has it
	partial  bool               // text is only a part
	line     int                // of the file, with which text begins; 0 for the first
}

// phase is a parallel phase.
type phase struct {
	key     transcript.Key // without an actor
	base    int            // the highest number before the phase
	callers []string       // see Callers
}

// Lane returns what stands for a step in the callers of a phase.
func Lane(k transcript.Key) string { return k.Actor + "/" + k.Target }

// isVisible reports whether a step that sees nothing after an entry knows of the source.
func (s *source) isVisible(k transcript.Key, visible int64) bool {
	return s.document != nil || s.seq <= visible || s.step == k
}

// SetDocuments takes over the documents of a configuration that is in the entry seq. A document keeps its number.
func (l *List) SetDocuments(list []evidence.Document, seq int64) {
	for i := range l.all {
		s := &l.all[i]
		s.removed, s.text = s.removed || s.document != nil, ""
	}
	for i := range list {
		d := &list[i]
		at := slices.IndexFunc(l.all, func(s source) bool { return s.document != nil && s.Name == d.Name && s.SHA256 == d.SHA256 })
		if at < 0 {
			l.highest++
			l.all = append(l.all, source{seq: seq, Source: evidence.Source{
				Number: l.highest, Name: d.Name, SHA256: d.SHA256, Size: d.Size, Document: true,
			}})
			at = len(l.all) - 1
		}
		s := &l.all[at]
		s.document = d
		s.removed = false
		s.Private = d.IsPrivate()
		s.text = d.Text
		s.hash = d.SHA256
		s.id = ""
		if !d.IsPrivate() {
			s.id = d.SHA256
		}
	}
}

// Shared returns the names and numbers of the documents that everybody reads.
func (l *List) Shared() (list []evidence.Source) {
	for i := range l.all {
		if s := &l.all[i]; s.document != nil && !s.removed && !s.Private {
			list = append(list, evidence.Source{Number: s.Number, Name: s.Name, SHA256: s.SHA256, Size: s.Size, Document: true})
		}
	}
	return list
}

// Begin notes that a parallel phase begins. A phase that begins again, after a failure, keeps its numbers.
func (l *List) Begin(k transcript.Key, callers []string) {
	k.Actor, k.Target = "", ""
	l.phases = slices.DeleteFunc(l.phases, func(p phase) bool { return p.key.Run != k.Run || p.key.Round > 0 && p.key.Round < k.Round })
	if l.phaseOf(k) == nil {
		l.phases = append(l.phases, phase{k, l.highest, callers})
	}
}

// phaseOf returns the parallel phase of a step, or nil if there is none.
func (l *List) phaseOf(k transcript.Key) *phase {
	k.Actor, k.Target = "", ""
	for i := range l.phases {
		if l.phases[i].key == k {
			return &l.phases[i]
		}
	}
	return nil
}

// Callers returns the number of callers of the parallel phase of a step, or 0 if there is none.
func (l *List) Callers(k transcript.Key) int {
	if p := l.phaseOf(k); p != nil {
		return len(p.callers)
	}
	return 0
}

// Reset removes what the tools of a run have found. No number is used again.
func (l *List) Reset() {
	l.all = slices.DeleteFunc(l.all, func(s source) bool { return s.document == nil })
	l.phases = nil
}

// Number sets the numbers of the sources in the calls of a step, which sees nothing after the entry visible. The list does
// not change.
func (l *List) Number(k transcript.Key, visible int64, calls []tool.Record) {
	known, taken := map[string]int{}, map[int]bool{}
	for i := range l.all {
		s := &l.all[i]
		taken[s.Number] = true
		if was := known[s.id]; s.id != "" && (was == 0 || s.Number < was) && !s.removed && s.isVisible(k, visible) {
			known[s.id] = s.Number
		}
	}
	next, step := l.lane(k)
	for i := range calls {
		c := &calls[i]
		for j := range c.Sources {
			f := found(c, j)
			if known[f.id] == 0 {
				for taken[next] {
					next += step
				}
				known[f.id], taken[next] = next, true
			}
			c.Sources[j].Number = known[f.id]
		}
	}
}

// lane returns the first number that a step can give, and the distance to its next one.
func (l *List) lane(k transcript.Key) (first, step int) {
	p := l.phaseOf(k)
	if p == nil {
		return l.highest + 1, 1
	}
	at := slices.Index(p.callers, Lane(k))
	if at < 0 { // a step that the phase did not have when it began
		return l.highest + 1, 1
	}
	return p.base + 1 + at, len(p.callers)
}

// found returns a source of a call, with its text. The text of the result is that of its only source, if the source has
// none.
func found(c *tool.Record, i int) (s source) {
	x := &c.Sources[i]
	s.Source = evidence.Source{Number: x.Number, Name: cmp.Or(x.Title, x.URI, c.Name), URI: x.URI, SHA256: x.SHA256, Size: x.Size}
	s.line = x.Line
	switch s.text = x.Text; {
	case x.Text != "":
		s.SHA256, s.Size = evidence.Hash(x.Text), len(x.Text)
	case x.SHA256 == "" && len(c.Sources) == 1 && c.Text != "":
		s.text, s.partial = c.Text, c.SHA256 != ""
		s.SHA256, s.Size = c.SHA256, c.Size
		if !s.partial {
			s.SHA256, s.Size = evidence.Hash(c.Text), len(c.Text)
		}
	}
	s.hash = s.SHA256
	if s.partial {
		s.hash = evidence.Hash(s.text)
	}
	switch s.id = s.SHA256; {
	case s.id == "":
		s.id = "uri " + x.URI + " " + x.Title
	case x.Line > 0: // the same lines in two files are two sources
		s.id += fmt.Sprintf(" line %d of %s", x.Line, x.Title)
	}
	return s
}

// Add adds the sources of calls, which have their numbers, from the entry seq. Sources without a number are left out.
func (l *List) Add(k transcript.Key, seq int64, calls []tool.Record) {
	for i := range calls {
		for j := range calls[i].Sources {
			f := found(&calls[i], j)
			if f.Number == 0 {
				continue
			}
			l.highest = max(l.highest, f.Number)
			if at := slices.IndexFunc(l.all, func(s source) bool { return s.Number == f.Number }); at >= 0 {
				note(&l.all[at].FoundBy, k.Actor)
				continue
			}
			f.seq, f.step = seq, k
			note(&f.FoundBy, k.Actor)
			l.all = append(l.all, f)
		}
	}
}

// maxNumber is greater than any number that a debate gives, so that no sum overflows.
const maxNumber = 1_000_000_000

// Check returns an error if no version of the library gives the sources of calls such numbers.
func Check(calls []tool.Record) error {
	for i := range calls {
		for _, s := range calls[i].Sources {
			if s.Number < 0 || s.Number > maxNumber {
				return fmt.Errorf("a source of call %d has the number %d, want 1 to %d", i+1, s.Number, maxNumber)
			}
		}
	}
	return nil
}

// CheckNumbers returns an error if the numbers of sources in calls are not those that [List.Number] gives.
func (l *List) CheckNumbers(k transcript.Key, visible int64, calls []tool.Record) error {
	want := Clone(calls)
	l.Number(k, visible, want)
	for i := range calls {
		for j, s := range calls[i].Sources {
			if n := want[i].Sources[j].Number; s.Number != n {
				return fmt.Errorf("source %d of call %d has the number %d, want %d", j+1, i+1, s.Number, n)
			}
		}
	}
	return nil
}

// Clone returns a copy of calls whose sources can be changed.
func Clone(calls []tool.Record) []tool.Record {
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].Sources = slices.Clone(calls[i].Sources)
	}
	return calls
}

// NumberOf returns the number of a document, or 0 if the list does not have it.
func (l *List) NumberOf(document string) int {
	for i := range l.all {
		if s := &l.all[i]; s.document != nil && !s.removed && s.Name == document {
			return s.Number
		}
	}
	return 0
}

// note adds a name to a list, once.
func note(list *[]string, name string) {
	if !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
}
