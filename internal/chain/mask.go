package chain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// An Entry is what a record has of one entry of a journal.
type Entry struct {
	Leaf    Hash
	Salt    []byte
	Payload []byte // the stored JSON, with a placeholder in place of each text
	Texts   []Text // in the order of the payload
}

// A Text is a value of an entry that a record can hide.
type Text struct {
	Path   string // such as "turn.attempts[0].reply"
	Salt   []byte
	Value  []byte // the JSON as it is stored
	Digest Hash
}

// placeholder returns what stands for a text in a payload.
func placeholder(h Hash) []byte { return []byte(`{"...":"` + h.String() + `"}`) }

// hidable lists the names of fields whose values are texts, at any depth of an entry.
var hidable = map[string]bool{
	// Of turns, attempts and failures.
	"text": true, "data": true, "reply": true, "reasoning": true, "message": true, "error_message": true, "violations": true,
	"warnings": true, "stack": true, "extracted": true, "quote": true,
	// Of transitions, questions and decisions.
	"evidence": true, "findings": true, "problems": true, "cause": true, "reason": true, "task": true, "value": true,
	// Of calls of tools.
	"arguments": true, "parts": true, "sources": true, "sha256": true,
	// Of configurations.
	"topic": true, "background": true, "position": true, "persona": true, "key_arguments": true, "instructions": true, "rubric": true,
	"reference": true, "attachments": true, "documents": true, "secret": true, "copied_keys": true,
}

// isText reports whether a field of that name holds a text.
func isText(name string) bool { return hidable[name] }

// Mask returns an entry of a debate with the given secret. stored is one line of JSON.
func Mask(secret []byte, seq int64, stored []byte) (e Entry, err error) {
	e.Salt = entrySalt(secret, seq)
	last := 0
	err = find(stored, func(path string, start, end int) {
		t := Text{Path: path, Salt: textSalt(secret, seq, len(e.Texts)+1), Value: stored[start:end]}
		t.Digest = Digest(t.Salt, t.Value)
		e.Payload = append(append(e.Payload, stored[last:start]...), placeholder(t.Digest)...)
		e.Texts, last = append(e.Texts, t), end
	})
	e.Payload = append(e.Payload, stored[last:]...)
	e.Leaf = Leaf(e.Salt, e.Payload)
	return e, err
}

// Unmask returns the stored bytes of a payload. It puts null in place of texts that are not shown, sets the paths of those
// that are, and returns the paths of the others.
func (e *Entry) Unmask() (stored []byte, hidden []string, err error) {
	known := map[string]*Text{}
	for i := range e.Texts {
		t := &e.Texts[i]
		known[string(placeholder(t.Digest))] = t
	}
	last, shown := 0, 0
	err = find(e.Payload, func(path string, start, end int) {
		stored = append(stored, e.Payload[last:start]...)
		last = end
		if t := known[string(e.Payload[start:end])]; t != nil {
			stored = append(stored, t.Value...)
			t.Path = path
			shown++
			return
		}
		stored, hidden = append(stored, "null"...), append(hidden, path)
	})
	if err == nil && shown != len(e.Texts) {
		err = errors.New("it has a text that no digest stands for")
	}
	return append(stored, e.Payload[last:]...), hidden, err
}

// find calls found with the path and the place of each text in an entry, in order.
func find(stored []byte, found func(path string, start, end int)) error {
	if !json.Valid(stored) {
		return errors.New("it is not valid JSON")
	}
	if bytes.ContainsAny(stored, "\n\r") {
		return errors.New("it has more than one line")
	}
	s := scanner{b: stored, found: found}
	s.value("")
	return nil
}

// A scanner walks through valid JSON.
type scanner struct {
	b     []byte
	at    int
	found func(path string, start, end int)
}

// blanks skips white space.
func (s *scanner) blanks() {
	for s.at < len(s.b) && bytes.IndexByte([]byte(" \t\n\r"), s.b[s.at]) >= 0 {
		s.at++
	}
}

// value walks through a value. If found is nil, it only skips it.
func (s *scanner) value(path string) {
	s.blanks()
	switch s.b[s.at] {
	case '{':
		s.members(path)
	case '[':
		s.elements(path)
	case '"':
		s.text()
	default:
		for s.at < len(s.b) && bytes.IndexByte([]byte(",]} \t\n\r"), s.b[s.at]) < 0 {
			s.at++
		}
	}
	s.blanks()
}

// text skips a string and returns it.
func (s *scanner) text() []byte {
	start := s.at
	for s.at++; s.b[s.at] != '"'; s.at++ {
		if s.b[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
	return s.b[start:s.at]
}

func (s *scanner) members(path string) {
	s.at++
	for s.blanks(); s.b[s.at] != '}'; {
		var name string
		_ = json.Unmarshal(s.text(), &name) // it is valid
		s.blanks()
		s.at++ // the colon
		s.blanks()
		at := name
		if path != "" {
			at = path + "." + name
		}
		s.member(name, at)
		if s.b[s.at] == ',' {
			s.at++
			s.blanks()
		}
	}
	s.at++
}

// member walks through the value of a field, or reports it if it is a text. Numbers and other short values that are no texts
// have the names of texts too, such as the tokens of reasoning.
func (s *scanner) member(name, path string) {
	start := s.at
	if s.found == nil || !isText(name) || name == "reasoning" && s.b[start] != '{' {
		s.value(path)
		return
	}
	found := s.found
	s.found = nil
	s.value(path)
	s.found = found
	end := start + len(bytes.TrimRight(s.b[start:s.at], " \t\n\r"))
	found(path, start, end)
}

func (s *scanner) elements(path string) {
	s.at++
	s.blanks()
	for i := 0; s.b[s.at] != ']'; i++ {
		s.value(element(path, i))
		if s.b[s.at] == ',' {
			s.at++
			s.blanks()
		}
	}
	s.at++
}

func element(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// A Chain computes the heads of a debate's entries, in order.
type Chain struct {
	Secret  []byte
	Head    Hash
	Entries int64
}

// New returns the chain of a debate before its first entry.
func New(id string, secret []byte) *Chain { return &Chain{Secret: secret, Head: Start(id)} }

// Add adds the next entry, as it is stored, and returns what a record has of it.
func (c *Chain) Add(stored []byte) (Entry, error) {
	c.Entries++
	e, err := Mask(c.Secret, c.Entries, stored)
	if err != nil {
		return e, fmt.Errorf("hash entry %d: %w", c.Entries, err)
	}
	c.Head = Next(c.Head, e.Leaf)
	return e, nil
}
