package step

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sync"

	"github.com/elenchus-go/debate/providers"
)

// Digest is the SHA-256 of a part of a request.
type Digest [sha256.Size]byte

// digestPool holds buffers in which what is hashed is put together.
var digestPool = sync.Pool{New: func() any { return new([]byte) }}

// digest returns the digest of what f appends.
func digest(f func(b []byte) []byte) Digest {
	b := digestPool.Get().(*[]byte)
	*b = f((*b)[:0])
	sum := sha256.Sum256(*b)
	digestPool.Put(b)
	return sum
}

// DigestOf returns the digest of a message.
func DigestOf(m *providers.Message) Digest {
	return digest(func(b []byte) []byte {
		b = appendText(appendText(b, string(m.Role)), m.Text)
		b = binary.AppendUvarint(b, uint64(len(m.Parts)))
		for i := range m.Parts {
			b = appendPart(b, &m.Parts[i])
		}
		return b
	})
}

// DigestOfSchema returns the digest of a schema.
func DigestOfSchema(schema []byte) Digest { return sha256.Sum256(schema) }

// appendText appends a text with its length, so that no two lists of texts are equal.
func appendText[T ~string | ~[]byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendFlag(b []byte, set bool) []byte {
	if set {
		return append(b, 1)
	}
	return append(b, 0)
}

// appendPart appends all fields of a part.
func appendPart(b []byte, p *providers.Part) []byte {
	b = appendText(b, p.Text)
	b = appendFlag(b, p.ToolCall != nil)
	if p.ToolCall != nil {
		c := p.ToolCall
		b = appendText(appendText(appendText(appendText(b, c.ID), c.Name), c.Arguments), c.Opaque)
	}
	b = appendFlag(b, p.ToolResult != nil)
	if p.ToolResult != nil {
		t := p.ToolResult
		b = appendFlag(appendText(appendText(appendText(b, t.ID), t.Name), t.Text), t.Failed)
	}
	b = appendFlag(b, p.Reasoning != nil)
	if p.Reasoning != nil {
		t := p.Reasoning
		b = appendText(appendText(appendText(b, t.Text), t.Service), t.Data)
	}
	b = appendFlag(b, p.Attachment != nil)
	if p.Attachment != nil {
		a := p.Attachment
		b = binary.AppendVarint(appendText(appendText(b, a.Name), a.MediaType), int64(a.Pages))
		b = appendText(appendText(b, a.Data), a.URL)
	}
	return b
}

// appendSettings appends all fields of a request but the messages and the schema.
func appendSettings(b []byte, r *providers.Request) []byte {
	b = appendText(b, r.Model)
	b = appendFlag(b, r.Temperature != nil)
	if r.Temperature != nil {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(*r.Temperature))
	}
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(r.TopP))
	b = appendFlag(b, r.Seed != nil)
	if r.Seed != nil {
		b = binary.AppendVarint(b, *r.Seed)
	}
	b = binary.AppendUvarint(b, uint64(len(r.Stop)))
	for _, s := range r.Stop {
		b = appendText(b, s)
	}
	b = binary.AppendVarint(appendText(b, r.Reasoning), int64(r.MaxTokens))
	b = appendFlag(b, r.AvoidRepetition)
	b = appendText(b, r.SchemaName)
	b = binary.AppendUvarint(b, uint64(len(r.Tools)))
	for i := range r.Tools {
		t := &r.Tools[i]
		b = appendText(appendText(appendText(b, t.Name), t.Description), t.Schema)
	}
	return appendText(b, r.ToolChoice)
}

// known are parts of a request whose digests are known.
type known struct {
	messages, attachments         []providers.Message
	digests, digestsOfAttachments []Digest
	schema                        []byte
	digestOfSchema                Digest
}

// digest returns the digest of a request. It computes only what is not known: in a prompt that was not shortened, the task.
func (k *known) digest(r *providers.Request) Digest {
	return digest(func(b []byte) []byte {
		b = appendSettings(b, r)
		switch {
		case len(r.Schema) == 0:
			b = append(b, 0)
		case len(k.schema) == len(r.Schema) && &k.schema[0] == &r.Schema[0]:
			b = append(append(b, 1), k.digestOfSchema[:]...)
		default:
			sum := DigestOfSchema(r.Schema)
			b = append(append(b, 1), sum[:]...)
		}
		next := 0
		for i := range r.Messages {
			var sum Digest
			sum, next = k.digestOf(&r.Messages[i], next)
			b = append(b, sum[:]...)
		}
		return b
	})
}

// digestOf returns the digest of a message that follows the first n of those that are known, and the new n.
func (k *known) digestOf(m *providers.Message, n int) (Digest, int) {
	for i := n; i < len(k.digests); i++ {
		if sameMessage(m, &k.messages[i]) {
			return k.digests[i], i + 1
		}
	}
	for i := range k.digestsOfAttachments {
		if sameMessage(m, &k.attachments[i]) {
			return k.digestsOfAttachments[i], n
		}
	}
	return DigestOf(m), n
}

// sameMessage reports whether two messages are the same one. Texts with the same bytes in memory are compared at once.
func sameMessage(a, b *providers.Message) bool {
	return a.Role == b.Role && len(a.Parts) == len(b.Parts) &&
		(len(a.Parts) == 0 || &a.Parts[0] == &b.Parts[0]) && a.Text == b.Text
}
