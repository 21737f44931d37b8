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
		b = appendText(b, m.Role)
		b = appendText(b, m.Text)
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

// appendOptional appends whether there is a value, and what f appends of it.
func appendOptional[T any](b []byte, v *T, f func(b []byte, v *T) []byte) []byte {
	b = appendFlag(b, v != nil)
	if v == nil {
		return b
	}
	return f(b, v)
}

// appendPart appends all fields of a part.
func appendPart(b []byte, p *providers.Part) []byte {
	b = appendText(b, p.Text)
	b = appendOptional(b, p.ToolCall, appendToolCall)
	b = appendOptional(b, p.ToolResult, appendToolResult)
	b = appendOptional(b, p.Reasoning, appendReasoning)
	return appendOptional(b, p.Attachment, appendAttachment)
}

func appendToolCall(b []byte, c *providers.ToolCall) []byte {
	b = appendText(b, c.ID)
	b = appendText(b, c.Name)
	b = appendText(b, c.Arguments)
	return appendText(b, c.Opaque)
}

func appendToolResult(b []byte, r *providers.ToolResult) []byte {
	b = appendText(b, r.ID)
	b = appendText(b, r.Name)
	b = appendText(b, r.Text)
	return appendFlag(b, r.Failed)
}

func appendReasoning(b []byte, r *providers.Reasoning) []byte {
	b = appendText(b, r.Text)
	b = appendText(b, r.Service)
	return appendText(b, r.Data)
}

func appendAttachment(b []byte, a *providers.Attachment) []byte {
	b = appendText(b, a.Name)
	b = appendText(b, a.MediaType)
	b = binary.AppendVarint(b, int64(a.Pages))
	b = appendText(b, a.Data)
	return appendText(b, a.URL)
}

func appendFloat(b []byte, f *float64) []byte {
	return binary.BigEndian.AppendUint64(b, math.Float64bits(*f))
}

func appendInteger(b []byte, n *int64) []byte { return binary.AppendVarint(b, *n) }

// appendSettings appends all fields of a request but the messages and the schema.
func appendSettings(b []byte, r *providers.Request) []byte {
	b = appendText(b, r.Model)
	b = appendOptional(b, r.Temperature, appendFloat)
	b = appendFloat(b, &r.TopP)
	b = appendOptional(b, r.Seed, appendInteger)
	b = binary.AppendUvarint(b, uint64(len(r.Stop)))
	for _, s := range r.Stop {
		b = appendText(b, s)
	}
	b = appendText(b, r.Reasoning)
	b = binary.AppendVarint(b, int64(r.MaxTokens))
	b = appendFlag(b, r.AvoidRepetition)
	b = appendText(b, r.SchemaName)
	b = binary.AppendUvarint(b, uint64(len(r.Tools)))
	for i := range r.Tools {
		t := &r.Tools[i]
		b = appendText(b, t.Name)
		b = appendText(b, t.Description)
		b = appendText(b, t.Schema)
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
