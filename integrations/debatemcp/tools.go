package debatemcp

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// hints say what hosts may tell their users about a tool, and whether they need to ask them before a call. By default, a
// tool may destroy something and reaches an open world. No tool here destroys anything, and those that only read reach
// nothing but the debates.
var hints = map[string]mcp.ToolAnnotations{
	"debate":        {Title: "Hold a debate", DestructiveHint: new(false)},
	"debate_start":  {Title: "Start a debate", DestructiveHint: new(false)},
	"debate_status": {Title: "Read a debate", ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)},
	"debate_result": {Title: "Read the answer of a debate", ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)},
	"debate_list":   {Title: "Find debates", ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)},
	"debate_stop":   {Title: "End a debate early", IdempotentHint: true, DestructiveHint: new(false)},
	"debate_answer": {Title: "Pass on a reply", IdempotentHint: true, DestructiveHint: new(false)},
}

// describe returns a tool with its title and its hints.
func describe(name, description string, input json.RawMessage) *mcp.Tool {
	a := hints[name]
	t := &mcp.Tool{Name: name, Title: a.Title, Description: description, InputSchema: input, Annotations: &a}
	a.Title = "" // the tool has it
	return t
}

// outline returns the schema of an output without descriptions and without the fields of its parts, because the list of
// tools stands in the context of each conversation.
func outline(schema json.RawMessage) json.RawMessage {
	type field struct {
		Type                 string          `json:"type,omitempty"`
		Enum                 []string        `json:"enum,omitempty"`
		Format               string          `json:"format,omitempty"`
		Items                *field          `json:"items,omitempty"`
		AdditionalProperties json.RawMessage `json:"additionalProperties,omitempty"`
	}
	var s struct {
		Type       string           `json:"type"`
		Properties map[string]field `json:"properties"`
		Required   []string         `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return schema
	}
	short, err := json.Marshal(s)
	if err != nil {
		return schema
	}
	return short
}
