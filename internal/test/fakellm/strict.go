package fakellm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Services refuse malformed rounds of tool calls, and the fakes do it too. Each function returns what is wrong with a request,
// in words like those of the service, or the empty string. Fakes compare a signature or opaque reasoning with what they send.

// signature and opaque are the opaque parts of the replies of fakes. Tests use sealed as the signature of a text.
const (
	signature = "c2ln"
	opaque    = "b3BhcXVl"
	sealed    = "c2VhbGVk"
)

// Patterns of the IDs of tool calls.
// Sources: https://platform.openai.com/docs/api-reference/chat/create, https://github.com/langchain-ai/langchain/pull/24668
// (Mistral), and the error "String should match pattern" of https://platform.claude.com/docs/en/api/messages/create
var (
	chatIDs      = regexp.MustCompile(`^\S{1,40}$`)
	responsesIDs = regexp.MustCompile(`^\S{1,64}$`)
	mistralIDs   = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
	anthropicIDs = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

// complaint returns what is wrong with the rounds of a request.
func complaint(p Protocol, path string, body map[string]any) string {
	raw, _ := json.Marshal(body) // it was decoded
	c := checker{}
	switch p {
	case Anthropic:
		c.anthropic(raw)
	case Google:
		c.google(path, raw)
	case Ollama:
		c.ollama(raw)
	case Responses:
		if body["input"] == nil { // a call of the older API
			c.chat(OpenAI, raw)
		} else {
			c.responses(raw)
		}
	default:
		c.chat(p, raw)
	}
	return c.words
}

// checker collects the first complaint.
type checker struct{ words string }

func (c *checker) require(ok bool, format string, values ...any) {
	if !ok && c.words == "" {
		c.words = fmt.Sprintf(format, values...)
	}
}

// decode decodes a request. Fields have the types that the service requires.
func (c *checker) decode(raw []byte, to any) {
	err := json.Unmarshal(raw, to)
	c.require(err == nil, "invalid type: %v", err)
}

// calls are the calls of a message that wait for results.
type calls struct {
	ids  []string
	seen map[string]bool
}

// ask adds a call.
func (k *calls) ask(c *checker, ids *regexp.Regexp, id string) {
	if k.seen == nil {
		k.seen = map[string]bool{}
	}
	c.require(ids.MatchString(id), "tool call id was %q but must match %s", id, ids)
	c.require(!k.seen[id], "tool call ids must be unique: %s", id)
	k.seen[id] = true
	k.ids = append(k.ids, id)
}

// answer removes a call that has a result.
func (k *calls) answer(c *checker, id string) {
	for i, open := range k.ids {
		if open == id {
			k.ids = append(k.ids[:i:i], k.ids[i+1:]...)
			return
		}
	}
	c.require(false, "unexpected result: no tool call %q in the message before", id)
}

// none requires that no call waits.
func (k *calls) none(c *checker) { c.require(len(k.ids) == 0, "tool calls %v have no results", k.ids) }

func isObject(raw []byte) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal(raw, &o) == nil && o != nil
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// chat checks chat completions. DeepSeek requires reasoning beside calls, Mistral accepts no user message after a
// result, and servers other than OpenAI's do not combine tools with a schema.
func (c *checker) chat(p Protocol, raw []byte) {
	var body struct {
		Messages []struct {
			Role      string
			Content   any
			Reasoning *string `json:"reasoning_content"`
			Calls     []struct {
				ID       string
				Function struct{ Arguments string }
			} `json:"tool_calls"`
			ToolID string `json:"tool_call_id"`
		}
		Tools  []any
		Choice *string         `json:"tool_choice"`
		Format json.RawMessage `json:"response_format"`
	}
	c.decode(raw, &body)
	c.require(body.Choice == nil || len(body.Tools) > 0 && *body.Choice == "none", "tool_choice is only allowed when tools are specified")
	c.require(len(body.Tools) == 0 || body.Format == nil, "response_format cannot be combined with tools")
	ids := chatIDs
	if p == Mistral {
		ids = mistralIDs
	}
	var open calls
	before := ""
	for _, m := range body.Messages {
		if m.Role == "tool" {
			open.answer(c, m.ToolID)
			before = m.Role
			continue
		}
		open.none(c)
		text, isText := m.Content.(string)
		c.require(!isText || !blank(text), "content must not be blank")
		c.require(m.Content != nil || m.Calls != nil, "a message must have either content or tool_calls")
		c.require(p != Mistral || m.Role != "user" || before != "tool", "Unexpected role 'user' after role 'tool'")
		c.require(p == DeepSeek || m.Reasoning == nil, "property 'reasoning_content' is unsupported")
		for _, call := range m.Calls {
			open.ask(c, ids, call.ID)
			c.require(isObject([]byte(call.Function.Arguments)), "arguments are no object: %s", call.Function.Arguments)
			c.require(p != DeepSeek || m.Reasoning != nil && *m.Reasoning != "", "The `reasoning_content` in the thinking mode must be passed back to the API.")
		}
		before = m.Role
	}
	open.none(c)
}

// responses checks OpenAI's Responses API.
func (c *checker) responses(raw []byte) {
	var body struct {
		Input []struct {
			Type, Role, Arguments string
			Content               any
			CallID                string `json:"call_id"`
			Output                *string
			Encrypted             string `json:"encrypted_content"`
		}
		Tools  []any
		Choice *string `json:"tool_choice"`
	}
	c.decode(raw, &body)
	c.require(body.Choice == nil || len(body.Tools) > 0 && *body.Choice == "none", "tool_choice is only allowed when tools are specified")
	var open calls
	for i, item := range body.Input {
		switch item.Type {
		case "function_call":
			open.ask(c, responsesIDs, item.CallID)
			c.require(isObject([]byte(item.Arguments)), "arguments are no object: %s", item.Arguments)
		case "function_call_output":
			open.answer(c, item.CallID)
			c.require(item.Output != nil, "missing required parameter: output")
		case "reasoning":
			c.require(item.Encrypted == opaque || !bytes.Contains(raw, []byte(`"function_call"`)), "the encrypted content could not be verified")
			c.require(i+1 < len(body.Input) && body.Input[i+1].Role != "user", "reasoning was provided without its required following item")
		default:
			text, isText := item.Content.(string)
			c.require(!isText || !blank(text), "content must not be blank")
			if item.Role == "user" {
				open.none(c)
			}
		}
	}
	open.none(c)
}

// anthropic checks Anthropic's API. With a budget for reasoning, the last turn of the model begins with its reasoning.
// Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking
func (c *checker) anthropic(raw []byte) {
	type block struct {
		Type, Text, ID, Signature, Thinking, Data string
		Input                                     json.RawMessage
		ToolID                                    string  `json:"tool_use_id"`
		Content                                   *string // of a result
	}
	var body struct {
		Messages []struct {
			Role    string
			Content []block
		}
		Tools    []any
		Choice   *struct{ Type string } `json:"tool_choice"`
		Thinking struct{ Type string }
	}
	c.decode(raw, &body)
	c.require(body.Choice == nil || len(body.Tools) > 0 && body.Choice.Type == "none", "tool_choice may only be specified while providing tools")
	var open calls
	begins := true // the next message of the assistant begins a turn
	unsigned := false
	for _, m := range body.Messages {
		hasResult, hasCall := false, false
		for i, b := range m.Content {
			switch b.Type {
			case "text":
				c.require(!blank(b.Text), "text content blocks must contain non-whitespace text")
			case "thinking":
				c.require(b.Signature == signature && i == 0, "Invalid `signature` in `thinking` block")
			case "redacted_thinking":
				c.require(b.Data == opaque, "Invalid `data` in `redacted_thinking` block")
			case "tool_use":
				open.ask(c, anthropicIDs, b.ID)
				c.require(isObject(b.Input), "tool_use.input: Input should be a valid dictionary")
				hasCall = true
			case "tool_result":
				open.answer(c, b.ToolID)
				c.require(i == 0 || m.Content[i-1].Type == "tool_result", "tool_result blocks must come first")
				c.require(b.Content == nil || !blank(*b.Content), "text content blocks must be non-empty")
				hasResult = true
			}
		}
		c.require(len(m.Content) > 0, "messages must have non-empty content")
		if m.Role == "user" {
			open.none(c)
			begins = !hasResult
		} else if begins {
			first := m.Content[:min(1, len(m.Content))]
			unsigned, begins = hasCall && (len(first) == 0 || !strings.HasSuffix(first[0].Type, "thinking")), false
		}
		c.require(!hasCall || len(body.Tools) > 0, "Requests which have `tool_use` or `tool_result` blocks in their messages must define tools")
	}
	open.none(c)
	c.require(body.Thinking.Type != "enabled" || begins || !unsigned, "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block")
}

// google checks the Gemini API. Models of version 3 require signatures. Older ones do not combine tools with a schema.
// Sources: https://ai.google.dev/gemini-api/docs/thought-signatures and https://ai.google.dev/gemini-api/docs/function-calling
func (c *checker) google(path string, raw []byte) {
	type call struct {
		ID, Name string
		Args     json.RawMessage
	}
	var body struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text     *string
				Sign     string `json:"thoughtSignature"`
				Call     *call  `json:"functionCall"`
				Response *call  `json:"functionResponse"`
			}
		}
		Tools  []any
		Config *struct {
			Calling struct{ Mode string } `json:"functionCallingConfig"`
		} `json:"toolConfig"`
		Settings struct {
			Schema json.RawMessage `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	c.decode(raw, &body)
	c.require(body.Config == nil || len(body.Tools) > 0 && body.Config.Calling.Mode == "NONE", "Function calling config is set without function_declarations.")
	old := !strings.Contains(path, "gemini-3")
	c.require(!old || len(body.Tools) == 0 || body.Settings.Schema == nil, "Function calling with a response mime type: 'application/json' is unsupported")
	var open []string
	for _, m := range body.Contents {
		var asked []string
		for _, p := range m.Parts {
			c.require(p.Text == nil || !blank(*p.Text), "text must not be blank")
			c.require(p.Sign == "" || p.Sign == signature || p.Sign == sealed || p.Call != nil && p.Sign == "skip_thought_signature_validator", "Corrupted thought signature.")
			switch {
			case p.Call != nil:
				c.require(isObject(p.Call.Args), "Invalid value at args (type.googleapis.com/google.protobuf.Struct)")
				c.require(strings.Contains(path, "gemini-2") || asked != nil || p.Sign != "", "Function call is missing a thought_signature in functionCall parts.")
				asked = append(asked, p.Call.Name)
			case p.Response != nil:
				c.require(len(open) > 0 && open[0] == p.Response.Name, "Please ensure that the number of function response parts is equal to the number of function call parts")
				open = open[min(1, len(open)):]
			default:
				c.require(len(open) == 0, "a function response turn comes immediately after a function call turn")
			}
		}
		c.require(len(open) == 0, "calls of %v have no response", open)
		open = asked
	}
	c.require(len(open) == 0, "calls of %v have no response", open)
}

// ollama checks Ollama's API, where a schema suppresses calls.
func (c *checker) ollama(raw []byte) {
	var body struct {
		Messages []struct {
			Role, Content, Thinking string
			ToolName                string `json:"tool_name"`
			Calls                   []struct {
				Function struct {
					Name      string
					Arguments map[string]any
				}
			} `json:"tool_calls"`
		}
		Tools  []any
		Format json.RawMessage
		Choice any `json:"tool_choice"`
	}
	c.decode(raw, &body)
	c.require(body.Choice == nil, "the server knows no tool_choice")
	c.require(len(body.Tools) == 0 || body.Format == nil, "format suppresses tool calls")
	var open []string
	for _, m := range body.Messages {
		if m.Role == "tool" {
			c.require(len(open) > 0 && open[0] == m.ToolName, "unexpected result of %q", m.ToolName)
			open = open[min(1, len(open)):]
			continue
		}
		c.require(len(open) == 0, "calls of %v have no results", open)
		c.require(m.Content == "" || !blank(m.Content), "content must not be blank")
		c.require(m.Thinking == "" || len(m.Calls) > 0, "thinking is only for messages with calls")
		for _, call := range m.Calls {
			c.require(call.Function.Arguments != nil, "arguments are no object")
			open = append(open, call.Function.Name)
		}
	}
	c.require(len(open) == 0, "calls of %v have no results", open)
}
