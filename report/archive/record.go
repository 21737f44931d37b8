package archive

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/chain"
	"github.com/elenchus-go/debate/internal/seal"
	"github.com/elenchus-go/debate/store"
)

// File is a record of a debate: its entries in a hash chain, and signatures of the last hash. docs/record.md specifies the
// file. Record makes one, and ReadFile reads one.
type File struct {
	// Parent is the record of the debate of which this one is a fork. It is not part of the file. If it is set, Verify
	// compares the first entries, and what a rejudged debate repeats.
	Parent *File

	header  header
	parent  *forkHead
	entries []chain.Entry
	notes   []string
}

// header holds the first line of a file.
type header struct {
	Record   int    `json:"record"` // version of the file
	ID       string `json:"id"`
	Entries  int    `json:"entries"`
	Format   int    `json:"format"`            // of the journal
	Library  string `json:"library,omitempty"` // version of the library that wrote the file
	Protocol string `json:"protocol"`          // name and version
	Secret   string `json:"secret,omitempty"`  // base64url; a redacted record has none
	// Keys has those of calls that a redacted record can show, by the ID of the hash.
	Keys map[string]seal.Key `json:"keys,omitempty"`
	// Code has the rules, the texts of the templates and the names of own code. What it names occurs in entries, too.
	Code *debate.Code `json:"code,omitempty"`
}

// forkHead holds the head of the parent at its last entry that the fork has.
type forkHead struct {
	Seq  int64
	Head chain.Hash
}

// Record returns the record of a debate. It is not signed, unless the engine has signed the debate.
func Record(ctx context.Context, e *debate.Engine, id string) (*File, error) {
	f, err := record(ctx, e, id)
	if err != nil {
		return nil, fmt.Errorf("record debate %s: %w", id, err)
	}
	return f, nil
}

func record(ctx context.Context, e *debate.Engine, id string) (*File, error) {
	d, err := e.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	stored, status, err := storedEntries(ctx, d)
	if err != nil {
		return nil, err
	}
	secret, first, err := secretOf(stored)
	if err != nil {
		return nil, err
	}
	code, err := d.Code(ctx)
	if err != nil {
		return nil, err
	}
	f := &File{header: header{
		Record: chain.Version, ID: id, Entries: len(stored), Format: status.Format, Library: libraryVersion(), Protocol: status.Protocol,
		Secret: base64.RawURLEncoding.EncodeToString(secret), Code: code,
	}}
	c := chain.New(id, secret)
	for _, b := range stored {
		entry, err := c.Add(b)
		if err != nil {
			return nil, err
		}
		f.entries = append(f.entries, entry)
	}
	if p := first.Parent; p.ID != "" {
		f.parent, err = headOf(ctx, e, p.ID, p.Seq)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, fmt.Errorf("read parent: %w", err)
		}
	}
	return f, nil
}

// storedEntries returns the stored bytes of a debate's entries, each on one line.
func storedEntries(ctx context.Context, d *debate.Debate) (list [][]byte, status store.Status, err error) {
	status, err = d.Status(ctx)
	if err != nil {
		return nil, status, err
	}
	entries, err := d.Entries(ctx)
	if err != nil {
		return nil, status, err
	}
	for _, entry := range entries {
		b, err := chain.Line(entry.Data)
		if err != nil {
			return nil, status, fmt.Errorf("encode entry %d: %w", entry.Seq, err)
		}
		list = append(list, b)
	}
	return list, status, nil
}

// firstEntry holds what a record needs of the first entry.
type firstEntry struct {
	Secret string `json:"secret"`
	Parent struct {
		ID  string `json:"id"`
		Seq int64  `json:"seq"`
	} `json:"parent"`
}

// secretOf returns the secret of a debate.
func secretOf(stored [][]byte) (secret []byte, first firstEntry, err error) {
	if len(stored) == 0 {
		return nil, first, errors.New("the journal has no entries")
	}
	if err := json.Unmarshal(stored[0], &first); err != nil {
		return nil, first, fmt.Errorf("read entry 1: %w", err)
	}
	secret, err = base64.RawURLEncoding.DecodeString(first.Secret)
	return secret, first, err
}

// headOf returns the head of a debate after an entry. It returns nil if the debate does not have the entry.
func headOf(ctx context.Context, e *debate.Engine, id string, seq int64) (*forkHead, error) {
	d, err := e.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	stored, _, err := storedEntries(ctx, d)
	if err != nil {
		return nil, err
	}
	secret, _, err := secretOf(stored)
	if err != nil || int64(len(stored)) < seq {
		return nil, err
	}
	c := chain.New(id, secret)
	for _, b := range stored[:seq] {
		if _, err := c.Add(b); err != nil {
			return nil, err
		}
	}
	return &forkHead{seq, c.Head}, nil
}

// libraryVersion returns the version of the library in this program, or "" if it is not known.
func libraryVersion() string {
	const module = "github.com/elenchus-go/debate"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module && m.Version != "(devel)" {
			return m.Version
		}
	}
	return ""
}

// ID returns the id of the debate.
func (f *File) ID() string { return f.header.ID }

// heads returns the head after each entry, beginning with the one before the first.
func (f *File) heads() []chain.Hash {
	list := []chain.Hash{chain.Start(f.header.ID)}
	for _, e := range f.entries {
		list = append(list, chain.Next(list[len(list)-1], e.Leaf))
	}
	return list
}

// Head returns the last hash of the chain, in base64url.
func (f *File) Head() string {
	all := f.heads()
	return all[len(all)-1].String()
}

// Sign signs the last hash of the record, unless the same key has signed it. A signature that the engine has made covers the
// entries before it.
func (f *File) Sign(s note.Signer) error {
	heads := f.heads()
	list := f.stored()
	last := int64(len(f.entries))
	for n := last; ; n-- {
		signed, err := chain.Sign(s, f.header.ID, n, heads[n])
		switch {
		case err != nil:
			return fmt.Errorf("sign record of debate %s: %w", f.header.ID, err)
		case slices.ContainsFunc(list, func(x storedNote) bool { return x.text == signed }):
			return nil
		case slices.ContainsFunc(list, func(x storedNote) bool { return x.entry == n }):
			continue // a signature by the engine, perhaps by the same key
		}
		signed, err = chain.Sign(s, f.header.ID, last, heads[last])
		if err != nil {
			return fmt.Errorf("sign record of debate %s: %w", f.header.ID, err)
		}
		f.notes = append(f.notes, signed)
		return nil
	}
}

// storedNote is a signed note.
type storedNote struct {
	text  string
	entry int64 // number of the entry that holds it, or 0
}

// stored returns the notes of the file, and those that its entries hold.
func (f *File) stored() (list []storedNote) {
	for i := range f.entries {
		stored, _, err := f.entries[i].Unmask()
		if err != nil || !bytes.Contains(stored, []byte(chain.NoteName)) {
			continue
		}
		if ev, ok := eventOf(stored).(debate.Annotated); ok {
			if text, _, ok := chain.SignatureIn(ev.Name, ev.Value, f.header.ID); ok {
				list = append(list, storedNote{text, int64(i) + 1})
			}
		}
	}
	for _, text := range f.notes {
		list = append(list, storedNote{text, 0})
	}
	return list
}

// eventOf returns the event with some stored bytes, or nil if they are damaged.
func eventOf(stored []byte) debate.Event {
	ev, err := debate.ParseEvent(stored)
	if err != nil {
		return nil
	}
	return ev
}

// WriteTo writes the file.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	b, err := f.MarshalText()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(b)
	return int64(n), err
}

// The words with which lines begin.
const (
	entryWord  = "entry"
	textWord   = "text"
	parentWord = "parent"
	headWord   = "head"
	noteWord   = "note"
	sumWord    = "sum"
)

// MarshalText returns the file.
func (f *File) MarshalText() ([]byte, error) {
	var b bytes.Buffer
	first, err := json.Marshal(f.header)
	if err != nil {
		return nil, err
	}
	b.Write(append(first, '\n'))
	heads := f.heads()
	for i, e := range f.entries {
		fmt.Fprintf(&b, "%s %d %s %s %s\n", entryWord, i+1, e.Leaf, encode(e.Salt), e.Payload)
		for _, t := range e.Texts {
			fmt.Fprintf(&b, "%s %s %s\n", textWord, encode(t.Salt), t.Value)
		}
		if f.parent != nil && f.parent.Seq == int64(i+1) {
			fmt.Fprintf(&b, "%s %d %s\n", parentWord, f.parent.Seq, f.parent.Head)
		}
	}
	fmt.Fprintf(&b, "%s %d %s\n", headWord, len(f.entries), heads[len(f.entries)])
	for _, n := range f.notes {
		line, err := json.Marshal(n)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s %s\n", noteWord, line)
	}
	fmt.Fprintf(&b, "%s %s\n", sumWord, chain.Sum(b.Bytes()))
	return b.Bytes(), nil
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
