package googleai

import (
	"cmp"
	"slices"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Rounds of tool calls. Sources: https://ai.google.dev/gemini-api/docs/function-calling and
// https://ai.google.dev/gemini-api/docs/thought-signatures

// placeholder is the documented signature of a call that another model made. Models of version 3 refuse a message whose
// first call has no signature.
const placeholder = "skip_thought_signature_validator"

// signs reports whether the model requires signatures.
func (m model) signs() bool { return m.levels() }

// combines reports whether the model can have tools and a schema in one call.
// Source: https://ai.google.dev/gemini-api/docs/structured-output
func (m model) combines() bool { return m.version >= 300 }

// signBefore gives a signature to the last part, if that is a text without one. It returns the signature if there is no
// such part.
func signBefore(parts []part, signature string) string {
	last := len(parts) - 1
	if signature == "" || last < 0 || parts[last].Call != nil || parts[last].Signature != "" {
		return signature
	}
	parts[last].Signature = signature
	return ""
}

func hasCall(parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return p.Call != nil })
}

// callPart returns a call in the service's form. A signature that precedes the call is used if it has none of its own, and
// the placeholder if signed is set and there is neither.
func callPart(c *providers.ToolCall, before string, signed bool) part {
	p := part{Signature: cmp.Or(c.Opaque, before), Call: &functionCall{ID: c.ID, Name: c.Name, Args: c.Arguments}}
	if p.Signature == "" && signed {
		p.Signature = placeholder
	}
	return p
}

// response returns a tool result in the service's form.
func response(r *providers.ToolResult) *functionCall {
	name := "output"
	if r.Failed {
		name = "error"
	}
	return &functionCall{ID: r.ID, Name: r.Name, Response: wire.Object{name: r.Text}}
}
