package chain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"

	"github.com/elenchus-go/debate/store"
)

// NoteName is the name of the note of a journal that holds a signed note.
const NoteName = "signature"

// Signature is what a signed note says. Nobody has checked the signatures.
type Signature struct {
	ID      string
	Entries int64 // number of the entries that are signed
	Head    Hash
	Signers []note.Signature
}

// readSigned reads a signed note.
func readSigned(text string) (s Signature, err error) {
	_, err = note.Open([]byte(text), note.VerifierList())
	unverified, ok := errors.AsType[*note.UnverifiedNoteError](err)
	if !ok {
		return s, errors.New("the note is not that of a record")
	}
	s.Signers = unverified.Note.UnverifiedSigs
	s.ID, s.Entries, s.Head, err = ParseNote(unverified.Note.Text)
	return s, err
}

// SignatureIn reads a note of a journal. It reports false if the note holds no signature of the debate with that id.
func SignatureIn(name string, value json.RawMessage, id string) (text string, s Signature, ok bool) {
	if name != NoteName || len(value) == 0 {
		return "", s, false
	}
	var note string // on the heap: most notes are others
	if json.Unmarshal(value, &note) != nil {
		return "", s, false
	}
	text = note
	s, err := readSigned(text)
	return text, s, err == nil && s.ID == id
}

// Sign returns the note with which a signer signs entries.
func Sign(signer note.Signer, id string, entries int64, head Hash) (string, error) {
	signed, err := note.Sign(&note.Note{Text: Note(id, entries, head)}, signer)
	return string(signed), err
}

// SignJournal returns the note with which a signer signs the entries of a debate with a secret, as JSON.
func SignJournal(signer note.Signer, id string, secret []byte, entries []store.Entry) (json.RawMessage, error) {
	c := New(id, secret)
	for _, e := range entries {
		line, err := Line(e.Data)
		if err == nil {
			_, err = c.Add(line)
		}
		if err != nil {
			return nil, err
		}
	}
	text, err := Sign(signer, id, int64(len(entries)), c.Head)
	if err != nil {
		return nil, err
	}
	return json.Marshal(text)
}

// Line returns the stored bytes of an entry with the given data, on one line: only an imported debate has more.
func Line(data any) ([]byte, error) {
	b, ok := data.(json.RawMessage)
	if !ok {
		return json.Marshal(data)
	}
	if !bytes.ContainsAny(b, "\n\r") {
		return b, nil
	}
	var line bytes.Buffer
	if err := json.Compact(&line, b); err != nil {
		return nil, fmt.Errorf("encode entry: %w", err)
	}
	return line.Bytes(), nil
}
