// Package seal makes the keyed hashes that a journal holds in place of texts. Without the secret of the debate, a hash does not
// tell whether a text is the one that was hashed, even if only a few texts are possible.
package seal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// size is the size of a secret and of a key, in bytes.
const size = 16

// Secret is the secret of a debate. Printing it shows nothing of it.
type Secret [size]byte

// Key is the key of one hash. It depends on the secret, and tells nothing about the keys of other hashes. Printing it shows
// nothing of it.
type Key [size]byte

// Keys are the keys of a debate's hashes.
type Keys struct {
	Secret Secret `json:"secret"`
	// CopiedKeys holds the keys of hashes that a fork has from the debate that it is a fork of, by ID. A fork does not have the
	// secret of that debate, because it would tell about entries that the fork does not have.
	CopiedKeys map[string]Key `json:"copied_keys,omitempty"`
}

// New returns the keys of a new debate.
func New() *Keys {
	k := &Keys{}
	_, _ = rand.Read(k.Secret[:]) // it never fails
	return k
}

// Copy copies the keys of hashes from those of a debate that a fork has entries of.
func (k *Keys) Copy(from *Keys, ids []string) {
	for _, id := range ids {
		key, keyed := from.Of(id)
		if !keyed {
			continue
		}
		if k.CopiedKeys == nil {
			k.CopiedKeys = map[string]Key{}
		}
		k.CopiedKeys[id] = key
	}
}

// Of returns the key of the hash with the given ID. It reports false if the secret is hidden.
func (k *Keys) Of(id string) (key Key, ok bool) {
	key, ok = k.CopiedKeys[id]
	if !ok {
		if k.Secret == (Secret{}) {
			return key, false
		}
		sum := mac(k.Secret, id)
		copy(key[:], sum[:])
	}
	return key, true
}

// CallID returns the ID of the hash of a call: of the step with the given key, and when the call began.
func CallID(step string, began time.Time) string {
	var digits [20]byte
	return "call " + step + " " + string(strconv.AppendInt(digits[:0], began.UnixNano(), 10))
}

// ReplyID returns the ID of the hash of a person's reply to the step with the given key.
func ReplyID(step string) string { return "reply " + step }

// Reply returns a hash of a person's reply to the step with the given key, by which the journal recognizes a reply that is given
// again. The turn does not tell: it has real names in place of pseudonyms, and lacks what the contract removes. It is empty if the
// secret is hidden.
func (k *Keys) Reply(step, text string) string {
	key, ok := k.Of(ReplyID(step))
	if !ok {
		return ""
	}
	return key.Hash(sha256.Sum256([]byte(strings.TrimSpace(text))))
}

// IsReply reports whether a hash in the journal is that of a reply.
func (k *Keys) IsReply(hash, step, text string) bool {
	return hash != "" && hash == k.Reply(step, text)
}

// Hash returns the hash of what has the given digest, in 43 characters.
func (k Key) Hash(digest [sha256.Size]byte) string {
	var text [size + sha256.Size]byte
	copy(text[:], k[:])
	copy(text[size:], digest[:])
	sum := sha256.Sum256(text[:])
	var hash [43]byte
	base64.RawURLEncoding.Encode(hash[:], sum[:])
	return string(hash[:])
}

// mac returns the HMAC-SHA-256 of a text. Package crypto/hmac allocates five times for each; a debate needs one for each call.
func mac(secret Secret, text string) [sha256.Size]byte {
	var inner [sha256.BlockSize + 256]byte // on the stack if the text is not longer
	var outer [sha256.BlockSize + sha256.Size]byte
	for i := range sha256.BlockSize {
		b := byte(0)
		if i < len(secret) {
			b = secret[i]
		}
		inner[i], outer[i] = b^0x36, b^0x5c
	}
	sum := sha256.Sum256(append(inner[:sha256.BlockSize], text...))
	copy(outer[sha256.BlockSize:], sum[:])
	return sha256.Sum256(outer[:])
}

// Format implements fmt.Formatter.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[secret]") }

// Format implements fmt.Formatter.
func (Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[key]") }

// MarshalText encodes the secret for the journal.
func (s Secret) MarshalText() ([]byte, error) { return encode(s), nil }

// MarshalText encodes the key for the journal.
func (k Key) MarshalText() ([]byte, error) { return encode(k), nil }

// UnmarshalText decodes a secret.
func (s *Secret) UnmarshalText(text []byte) error { return decode((*[size]byte)(s), text) }

// UnmarshalText decodes a key.
func (k *Key) UnmarshalText(text []byte) error { return decode((*[size]byte)(k), text) }

func encode(b [size]byte) []byte { return base64.RawURLEncoding.AppendEncode(nil, b[:]) }

// decode decodes a secret or a key. Its errors do not show the text.
func decode(b *[size]byte, text []byte) error {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(string(text))
	if err != nil || len(raw) != size {
		return errors.New("a secret or key is not valid, want 16 bytes in base64url")
	}
	copy(b[:], raw)
	return nil
}
