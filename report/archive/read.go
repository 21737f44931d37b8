package archive

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/chain"
	"github.com/elenchus-go/debate/internal/strictjson"
	"github.com/elenchus-go/debate/store"
)

// ReadFile reads the record of a debate, and checks its hashes. If a line is damaged, it returns an error that wraps a
// *store.Damaged with the number of the entry: 0 for the header, and the number after the last entry for what follows that.
// The error wraps debate.ErrUnsupported if a newer version of the library wrote the file, and a *debate.NewerFormat if it wrote the
// journal.
func ReadFile(r io.Reader) (*File, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	p := &parser{file: &File{}}
	if err := p.parse(b); err != nil {
		return nil, fmt.Errorf("read record: %w", &store.Damaged{ID: p.file.header.ID, Seq: p.seq, Err: err})
	}
	return p.file, nil
}

// parser reads a file.
type parser struct {
	file   *File
	seq    int64 // number of the entry that is read
	secret []byte
	heads  []chain.Hash
	lines  []string
}

func (p *parser) parse(b []byte) error {
	if !utf8.Valid(b) {
		p.seq = entryAt(b, invalidAt(b))
		return errors.New("it is not UTF-8")
	}
	text, whole := strings.CutSuffix(string(b), "\n")
	p.lines = strings.Split(text, "\n")
	if err := p.header(); err != nil {
		return err
	}
	if !whole {
		p.seq = entryAt(b, len(b))
		return errors.New("the last line is cut off")
	}
	p.heads = []chain.Hash{chain.Start(p.file.header.ID)}
	for p.seq = 1; p.seq <= int64(p.file.header.Entries); p.seq++ {
		if err := p.entry(); err != nil {
			return err
		}
	}
	if err := p.end(); err != nil {
		return err
	}
	last := bytes.LastIndexByte(b[:len(b)-1], '\n') + 1
	if text := fmt.Sprintf("%s %s\n", sumWord, chain.Sum(b[:last])); text != string(b[last:]) {
		p.seq = 0
		return errors.New("the header, or another line that is not part of an entry, does not match the sum of the file")
	}
	return nil
}

// invalidAt returns the place of the first byte that is not UTF-8.
func invalidAt(b []byte) (at int) {
	for at < len(b) {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return at
}

// entryAt returns the number of the entry that has a byte of a file.
func entryAt(b []byte, at int) int64 {
	return int64(bytes.Count(b[:at], []byte("\n"+entryWord+" ")))
}

// next returns what follows a word on the next line.
func (p *parser) next(word string) (string, error) {
	if len(p.lines) == 0 {
		return "", fmt.Errorf("the file ends, want a line that begins with %q", word)
	}
	rest, ok := strings.CutPrefix(p.lines[0], word+" ")
	if !ok {
		return "", fmt.Errorf("the line %.40q… does not begin with %q", p.lines[0], word)
	}
	p.lines = p.lines[1:]
	return rest, nil
}

// has reports whether the next line begins with a word.
func (p *parser) has(word string) bool {
	return len(p.lines) > 0 && strings.HasPrefix(p.lines[0], word+" ")
}

func (p *parser) header() error {
	h := &p.file.header
	unknown, err := strictjson.Unmarshal([]byte(p.lines[0]), h)
	switch {
	case err != nil, h.Record == 0:
		return fmt.Errorf("read header: %w; a record of a debate begins with a line such as {\"record\":%d, …}", cmp.Or(err, unknown, errors.New(`the first line has no field "record"`)), chain.Version)
	case h.Record > chain.Version:
		return fmt.Errorf("read header: the record has version %d, this version of the library reads version %d: %w", h.Record, chain.Version, debate.ErrUnsupported)
	case unknown != nil:
		return fmt.Errorf("read header: %w", unknown)
	case h.Record != chain.Version || h.Entries < 1 || h.ID == "":
		return errors.New("read header: it is not the header of a record")
	}
	if err := readsFormat(h.ID, h.Format); err != nil {
		return fmt.Errorf("read header: %w", err)
	}
	p.lines = p.lines[1:]
	p.secret, err = base64.RawURLEncoding.Strict().DecodeString(h.Secret)
	if err != nil {
		return fmt.Errorf("read header: secret: %w", err)
	}
	return nil
}

// entry reads an entry with its texts.
func (p *parser) entry() error {
	rest, err := p.next(entryWord)
	if err != nil {
		return err
	}
	parts := strings.SplitN(rest, " ", 4)
	if len(parts) != 4 || parts[0] != strconv.FormatInt(p.seq, 10) {
		return fmt.Errorf("the line does not have the number %d, a leaf, a salt and a payload", p.seq)
	}
	e := chain.Entry{Payload: []byte(parts[3])}
	e.Leaf, err = chain.Parse(parts[1])
	if err != nil {
		return err
	}
	e.Salt, err = base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if err != nil {
		return fmt.Errorf("read salt: %w", err)
	}
	if chain.Leaf(e.Salt, e.Payload) != e.Leaf {
		return errors.New("its leaf is not the hash of its payload")
	}
	for p.has(textWord) {
		rest, _ := p.next(textWord)
		salt, value, _ := strings.Cut(rest, " ")
		t := chain.Text{Value: []byte(value)}
		t.Salt, err = base64.RawURLEncoding.Strict().DecodeString(salt)
		if err != nil {
			return fmt.Errorf("read salt of a text: %w", err)
		}
		if !json.Valid(t.Value) {
			return errors.New("a text is not valid JSON")
		}
		t.Digest = chain.Digest(t.Salt, t.Value)
		e.Texts = append(e.Texts, t)
	}
	stored, hidden, err := e.Unmask()
	if err != nil {
		return err
	}
	if len(p.secret) > 0 {
		if err := p.checkSecret(&e, stored, hidden); err != nil {
			return err
		}
	}
	p.file.entries = append(p.file.entries, e)
	p.heads = append(p.heads, chain.Next(p.heads[p.seq-1], e.Leaf))
	return p.forkHead()
}

// checkSecret checks that an entry of a full record is what its stored bytes and the secret lead to.
func (p *parser) checkSecret(e *chain.Entry, stored []byte, hidden []string) error {
	if len(hidden) > 0 {
		return fmt.Errorf("the text %s is missing, but the record is not redacted", hidden[0])
	}
	want, err := chain.Mask(p.secret, p.seq, stored)
	if err != nil {
		return err
	}
	if want.Leaf != e.Leaf {
		return errors.New("its salts are not those of the secret")
	}
	return nil
}

// forkHead reads the head of the parent.
func (p *parser) forkHead() error {
	if !p.has(parentWord) {
		return nil
	}
	rest, _ := p.next(parentWord)
	seq, head, _ := strings.Cut(rest, " ")
	h, err := chain.Parse(head)
	if err != nil || seq != strconv.FormatInt(p.seq, 10) || p.file.parent != nil {
		return errors.New("the head of the parent is not valid")
	}
	p.file.parent = &forkHead{p.seq, h}
	return nil
}

// end reads what follows the entries.
func (p *parser) end() error {
	rest, err := p.next(headWord)
	if err != nil {
		return err
	}
	n := len(p.file.entries)
	if want := fmt.Sprintf("%d %s", n, p.heads[n]); rest != want {
		return fmt.Errorf("the head is %.80q, want %q", rest, want)
	}
	for p.has(noteWord) {
		rest, _ := p.next(noteWord)
		var text string
		if err := json.Unmarshal([]byte(rest), &text); err != nil {
			return fmt.Errorf("read note: %w", err)
		}
		p.file.notes = append(p.file.notes, text)
	}
	_, err = p.next(sumWord)
	if err == nil && len(p.lines) > 0 {
		err = errors.New("something follows the last line")
	}
	return err
}
