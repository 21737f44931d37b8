package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/chain"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Verdict is what Verify says of a record.
type Verdict string

// The verdicts, best first.
const (
	Signed   Verdict = "derived and signed"      // by a known key, and nothing follows the signed entries
	Unsigned Verdict = "derived, but not signed" // by no known key, or something follows the signed entries
	Partly   Verdict = "derived in part"
	Wrong    Verdict = "wrong" // an entry, a signature or the parent contradicts the rest
)

// Report is what Verify has found.
type Report struct {
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason,omitempty"` // why the verdict is not better
	Entries int     `json:"entries"`
	Head    string  `json:"head"`              // last hash of the chain, in base64url
	Hidden  int     `json:"hidden,omitempty"`  // number of texts that the record does not show
	Library string  `json:"library,omitempty"` // version of the library that wrote the record
	// Lacks says in words what shaped the debate and is not here, such as "the contract claim": code that was not among the
	// options, and rules of another version of the library.
	Lacks []string `json:"lacks,omitempty"`
	// Signatures are those of the notes, in order.
	Signatures []Signature `json:"signatures,omitempty"`
	// Prompts is the number of calls whose request was made again and has the hash in the journal, and UnknownPrompts that of
	// the other calls, of which EntryCheck.Missing says why. Replies is the number of turns that were compared with the reply of their model, and
	// UnknownReplies that of the other turns by models: the record does not have their replies.
	Prompts        int `json:"prompts"`
	UnknownPrompts int `json:"unknown_prompts"`
	Replies        int `json:"replies"`
	UnknownReplies int `json:"unknown_replies"`
	// Ending and Answer follow from the entries: why the debate ended, and what it has come to, such as the verdict of a jury.
	// They are zero if an entry is wrong.
	Ending transcript.Ending `json:"ending,omitzero"`
	Answer protocol.Answer   `json:"answer,omitzero"`
	// Checks says of each entry whether it follows from the entries before it.
	Checks []debate.EntryCheck `json:"checks"`
}

// Signature is a signature of a record.
type Signature struct {
	Name    string `json:"name"`    // of the key
	Hash    string `json:"hash"`    // of the key, as eight hexadecimal digits
	Known   bool   `json:"known"`   // the key was given, and the signature is valid; otherwise nothing was checked
	Entries int64  `json:"entries"` // number of the first entries that are signed
	// Entry is the number of the entry in which the engine has stored the signature, or 0 if the file has it beside the entries.
	Entry int64 `json:"entry,omitempty"`
}

// Count returns the number of entries with a verdict.
func (r *Report) Count(v debate.EntryVerdict) (n int) {
	for _, c := range r.Checks {
		if c.Verdict == v {
			n++
		}
	}
	return n
}

// Verify derives a debate again from its record, without a provider, a store or the network. Of o it uses the code that shaped
// the debate: protocols, contracts, tools, the counter of tokens and the extractor of answers. The zero Options have what the
// library has, and Report.Lacks says what is missing. The record has the templates of its prompts, which can compute whatever
// templates can: limit the time of a process that verifies files of strangers. The keys are those that may have signed the
// record. An error means that Verify could not work; what is wrong with the record is in the Report.
func Verify(ctx context.Context, f *File, o debate.Options, keys ...note.Verifier) (*Report, error) {
	r := &Report{ID: f.header.ID, Entries: len(f.entries), Head: f.Head(), Library: f.header.Library}
	entries, first, err := f.journal(r)
	var code *debate.Code
	wrong := f.useTemplates(&o, entries)
	if err == nil {
		code, err = r.derive(ctx, f.header.ID, o, entries, first)
	}
	if err != nil {
		return nil, fmt.Errorf("verify record of debate %s: %w", f.header.ID, err)
	}
	for _, check := range []func() error{
		func() error { return f.checkCode(code, entries) }, func() error { return f.checkNotes(r, keys) }, f.checkParent,
	} {
		if wrong == nil {
			wrong = check()
		}
	}
	r.judge(wrong)
	return r, nil
}

// journal returns the entries of the record, with null in place of hidden texts, and the number of the first one with a
// hidden text, or 0.
func (f *File) journal(r *Report) (list []store.Entry, first int64, err error) {
	for i := range f.entries {
		seq := int64(i) + 1
		stored, hidden, err := f.entries[i].Unmask()
		if err != nil {
			return nil, 0, fmt.Errorf("read entry %d: %w", seq, err)
		}
		r.Hidden += len(hidden)
		hidden = slices.DeleteFunc(hidden, isKey)
		if len(hidden) > 0 && first == 0 {
			first = seq
		}
		if seq == 1 {
			stored, err = withKeys(f, stored)
			if err != nil {
				return nil, 0, fmt.Errorf("read entry 1: %w", err)
			}
		}
		list = append(list, entryOf(seq, stored))
	}
	return list, first, nil
}

// entryOf returns the entry with some stored bytes. If these are damaged, the debate cannot be read from there on.
func entryOf(seq int64, stored []byte) store.Entry {
	e := store.Entry{Seq: seq, Data: json.RawMessage(stored)}
	var at struct {
		Type string    `json:"type"`
		At   time.Time `json:"at"`
	}
	_ = json.Unmarshal(stored, &at)
	e.Type, e.At = at.Type, at.At
	if done, ok := eventOf(stored).(debate.TurnDone); ok {
		e.Key = done.Turn.Key.String()
	}
	return e
}

// derive derives the entries, and returns the code that shaped the debate. first is the number of the first one with a hidden
// text, or 0.
func (r *Report) derive(ctx context.Context, id string, o debate.Options, entries []store.Entry, first int64) (code *debate.Code, err error) {
	o.Store = &sealed{store.Memory(), id, entries}
	o.Observer = debate.Observer{}
	o.Logger = nil
	e, err := debate.NewEngine(o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.Close(context.WithoutCancel(ctx)) }() // it drives nothing
	d, err := e.Open(ctx, id)
	if d == nil {
		return nil, err
	}
	code, err = d.Code(ctx)
	if err != nil {
		return nil, err
	}
	r.Lacks = code.Lacks
	for c, err := range d.VerifyEntries(ctx) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			c = debate.EntryCheck{Seq: int64(len(r.Checks)) + 1, Verdict: debate.EntryWrong, Reason: err.Error()}
			if damaged, ok := errors.AsType[*store.Damaged](err); ok {
				c.Reason = damaged.Err.Error()
			}
		}
		if c.Verdict == debate.EntryWrong && first > 0 && c.Seq >= first {
			c.Verdict, c.Reason = debate.EntryNotDerivable, "it may depend on a hidden text: "+c.Reason
		}
		r.add(c)
	}
	if len(r.Checks) == len(entries) && r.Count(debate.EntryWrong) == 0 {
		if res, err := d.Result(ctx); err == nil {
			r.Ending, r.Answer = res.Ending, res.Answer
		}
	}
	for seq := int64(len(r.Checks)) + 1; seq <= int64(len(entries)); seq++ {
		r.Checks = append(r.Checks, debate.EntryCheck{
			Seq: seq, Type: entries[seq-1].Type, Verdict: debate.EntryNotDerivable, Reason: "an entry before it cannot be read",
		})
	}
	return code, nil
}

// add adds the check of an entry.
func (r *Report) add(c debate.EntryCheck) {
	r.Checks = append(r.Checks, c)
	r.Prompts += c.Prompts
	r.UnknownPrompts += c.Unknown
	switch {
	case c.Read:
		r.Replies++
	case c.Prompts+c.Unknown > 0 && c.Type == "turn":
		r.UnknownReplies++
	}
}

// sealed is a store with the entries of one record, whatever they contain.
type sealed struct {
	store.Store

	id      string
	entries []store.Entry
}

func (s *sealed) Load(_ context.Context, _ string, after int64) (store.Status, []store.Entry, error) {
	return store.Status{ID: s.id, Seq: int64(len(s.entries))}, append([]store.Entry{}, s.entries[min(after, int64(len(s.entries))):]...), nil
}

func (s *sealed) Commit(context.Context, store.Change) error { return nil } // a wrong status is not replaced

// checkNotes adds the signatures, and returns what is wrong with one.
func (f *File) checkNotes(r *Report, keys []note.Verifier) error {
	heads := f.heads()
	for _, x := range f.stored() {
		n, err := note.Open([]byte(x.text), note.VerifierList(keys...))
		if unverified, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
			n, err = unverified.Note, nil
		}
		if err != nil {
			return fmt.Errorf("a note is wrong: %w", err)
		}
		id, entries, head, err := chain.ParseNote(n.Text)
		switch {
		case err != nil:
			return err
		case id != f.header.ID:
			return fmt.Errorf("a note signs the debate %.100q", id)
		case entries > int64(len(f.entries)) || x.entry > 0 && entries >= x.entry:
			return fmt.Errorf("a note signs %d entries, but the record has %d before it", entries, cmp.Or(x.entry-1, int64(len(f.entries))))
		case heads[entries] != head:
			return fmt.Errorf("a note signs another head for entry %d than the record has", entries)
		}
		for _, s := range n.Sigs {
			r.Signatures = append(r.Signatures, Signature{Name: s.Name, Hash: fmt.Sprintf("%08x", s.Hash), Known: true, Entries: entries, Entry: x.entry})
		}
		for _, s := range n.UnverifiedSigs {
			r.Signatures = append(r.Signatures, Signature{Name: s.Name, Hash: fmt.Sprintf("%08x", s.Hash), Entries: entries, Entry: x.entry})
		}
	}
	return nil
}

// signed returns the number of entries that given keys have signed. The entries that hold such a signature count, if they
// follow those that it signs.
func (r *Report) signed() (n int64) {
	holds := map[int64]bool{}
	for _, s := range r.Signatures {
		if s.Known {
			n = max(n, s.Entries)
			holds[s.Entry] = true
		}
	}
	for holds[n+1] {
		n++
	}
	return n
}

// checkParent compares the record with that of its parent, if it is given.
func (f *File) checkParent() error {
	p := f.Parent
	if p == nil {
		return nil
	}
	var first firstEntry
	stored, _, err := f.entries[0].Unmask()
	if err == nil {
		err = json.Unmarshal(stored, &first)
	}
	seq := first.Parent.Seq
	switch {
	case err != nil:
		return err
	case first.Parent.ID != p.header.ID || seq < 1:
		return fmt.Errorf("the debate is not a fork of %q", p.header.ID)
	case seq > int64(len(p.entries)):
		return fmt.Errorf("the debate is a fork of %q at entry %d, but that has %d entries", p.header.ID, seq, len(p.entries))
	case f.parent != nil && f.parent.Head != p.heads()[seq]:
		return fmt.Errorf("the parent has another head at entry %d", seq)
	}
	for i := range seq {
		ours, hidden, err1 := f.entries[i].Unmask()
		theirs, missing, err2 := p.entries[i].Unmask()
		if err1 != nil || err2 != nil || len(hidden)+len(missing) > 0 {
			continue // only the head tells
		}
		if entryOf(i+1, ours).Type != "config" && string(ours) != string(theirs) {
			return fmt.Errorf("entry %d is not that of the parent", i+1)
		}
	}
	return checkCourse(f)
}

// judge sets the verdict.
func (r *Report) judge(wrong error) {
	signed := r.signed()
	for _, c := range r.Checks {
		if c.Verdict == debate.EntryWrong && wrong == nil {
			wrong = fmt.Errorf("entry %d: %s", c.Seq, c.Reason)
		}
	}
	switch n := r.Count(debate.EntryNotDerivable); {
	case wrong != nil:
		r.Verdict, r.Reason = Wrong, wrong.Error()
	case n > 0:
		r.Verdict, r.Reason = Partly, fmt.Sprintf("%d of %d entries cannot be derived%s", n, r.Entries, r.lacking())
	case signed == int64(r.Entries):
		r.Verdict = Signed
	case signed > 0:
		r.Verdict, r.Reason = Unsigned, fmt.Sprintf("only the first %d of %d entries are signed by a given key", signed, r.Entries)
	default:
		r.Verdict, r.Reason = Unsigned, "no given key has signed it"
	}
}

// lacking says what the engine lacks to derive the whole record, and which version of the library has its rules.
func (r *Report) lacking() string {
	if r.Lacks == nil {
		return ""
	}
	text := ": it lacks " + strings.Join(r.Lacks, ", ")
	if r.Library != "" {
		text += fmt.Sprintf("; version %s of the library wrote the record", r.Library)
	}
	return text
}
