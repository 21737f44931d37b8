// Package chain computes the hash chain of a record of a debate, signs it, and finds its signatures. docs/record.md specifies it.
package chain

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Version is the version of the formulas. It is part of the first hash.
const Version = 1

// A Hash is a leaf or a head of the chain, or the digest of a text.
type Hash [sha256.Size]byte

// String returns the hash in base64url without padding.
func (h Hash) String() string { return base64.RawURLEncoding.EncodeToString(h[:]) }

// Parse reads a hash from the form that String returns.
func Parse(s string) (h Hash, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != len(h) {
		return h, fmt.Errorf("%.60q is not a hash", s)
	}
	return Hash(b), nil
}

// The first byte of everything that is hashed says what it is.
const (
	leafByte = iota
	headByte
	startByte
	textByte
)

// saltSize is the size of salts in bytes.
const saltSize = 16

// saltOf returns the salt that a debate with the given secret uses for something: for the entry 5 it is named "5", for the
// second text of that entry "5/2".
func saltOf(secret []byte, name string) []byte {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(name))
	return m.Sum(nil)[:saltSize]
}

// entrySalt returns the salt of an entry.
func entrySalt(secret []byte, seq int64) []byte { return saltOf(secret, strconv.FormatInt(seq, 10)) }

// textSalt returns the salt of a text of an entry. The first one is number 1.
func textSalt(secret []byte, seq int64, number int) []byte {
	return saltOf(secret, strconv.FormatInt(seq, 10)+"/"+strconv.Itoa(number))
}

// Leaf returns the leaf of an entry. In the payload, digests are in place of texts.
func Leaf(salt, payload []byte) Hash { return sum(leafByte, salt, payload) }

// Start returns the head before the first entry.
func Start(id string) Hash {
	return sum(startByte, fmt.Appendf(nil, "debate record %d\n", Version), []byte(id))
}

// Next returns the head after an entry with the given leaf.
func Next(head, leaf Hash) Hash { return sum(headByte, head[:], leaf[:]) }

// Digest returns the digest that stands for a text, given as JSON.
func Digest(salt, value []byte) Hash { return sum(textByte, salt, value) }

func sum(kind byte, parts ...[]byte) (h Hash) {
	d := sha256.New()
	d.Write([]byte{kind})
	for _, p := range parts {
		d.Write(p)
	}
	return Hash(d.Sum(nil))
}

// Note returns the text that a signer of a record signs.
func Note(id string, entries int64, head Hash) string {
	return fmt.Sprintf("debate record %d\n%s\n%d\n%s\n", Version, id, entries, head)
}

// ParseNote reads a text that Note has returned.
func ParseNote(text string) (id string, entries int64, head Hash, err error) {
	wrong := errors.New("the note is not that of a record")
	lines := strings.Split(text, "\n")
	if len(lines) != 5 || lines[0] != fmt.Sprintf("debate record %d", Version) || lines[4] != "" {
		return "", 0, head, wrong
	}
	entries, err = strconv.ParseInt(lines[2], 10, 64)
	if err != nil || entries < 1 || strconv.FormatInt(entries, 10) != lines[2] {
		return "", 0, head, wrong
	}
	head, err = Parse(lines[3])
	if err != nil {
		return "", 0, head, wrong
	}
	return lines[1], entries, head, nil
}

// Sum returns the hash of the lines of a file before the last one.
func Sum(lines []byte) Hash { return Hash(sha256.Sum256(lines)) }
