package providers

import "encoding/json"

// Part is one part of a message. Exactly one field is set.
type Part struct {
	Text       string      `json:"text,omitempty"`
	ToolCall   *ToolCall   `json:"tool_call,omitempty"`   // in messages of the assistant
	ToolResult *ToolResult `json:"tool_result,omitempty"` // in messages of the user
	Reasoning  *Reasoning  `json:"reasoning,omitempty"`   // in messages of the assistant
}

// Tool is a tool that a model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"` // the JSON Schema of the arguments, an object
}

// ToolCall is a model's call of a tool.
type ToolCall struct {
	ID        string          `json:"id,omitempty"` // empty if the service does not number its calls
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`        // as the model wrote them, or a JSON string if that is not JSON: validate them
	Opaque    string          `json:"opaque,omitempty"` // what the service needs back with the call
}

// ToolResult is the result of a tool call.
type ToolResult struct {
	ID     string `json:"id,omitempty"` // that of the call
	Name   string `json:"name"`         // that of the tool
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"` // Text describes an error
}

// Reasoning is what a model thought before it replied. It has Text that a person can read, or Data that only the service
// can read. A provider sends Data back to the service that it came from, and omits all other reasoning.
type Reasoning struct {
	Text    string          `json:"text,omitempty"`
	Service string          `json:"service,omitempty"` // the service of Data, such as "anthropic"
	Data    json.RawMessage `json:"data,omitempty"`
}
