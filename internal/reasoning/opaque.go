package reasoning

import "encoding/json"

// Opaque is reasoning that only the service of a model can read, as a turn stores it.
type Opaque struct {
	Provider string `json:"provider"` // its name in the options
	Model    string `json:"model,omitempty"`
	Tokens   int    `json:"tokens"` // estimated, in a prompt
	Parts    []Part `json:"parts"`
}

// Part is one part of opaque reasoning.
type Part struct {
	Service string          `json:"service"`
	Data    json.RawMessage `json:"data"`
}

// ParseOpaque decodes what a turn stores. It returns nil if there is nothing, or if it has another form, which a later
// version of the library may write.
func ParseOpaque(raw json.RawMessage) *Opaque {
	var o Opaque
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil || len(o.Parts) == 0 || o.Tokens < 0 {
		return nil
	}
	return &o
}
