package openai

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// chatCall returns the call of a request to the API for chat completions.
func (p *Provider) chatCall(r providers.Request) wire.Call {
	var warnings []string
	if p.separates() {
		r, warnings = prompt.Separate(r)
	}
	return wire.Call{
		Model:    r.Model,
		API:      "chat completions",
		URL:      p.base + "/chat/completions" + p.query,
		Body:     func(s wire.Support) (wire.Object, error) { return p.chatBody(r, s) },
		Event:    p.readEvent,
		Warnings: warnings,
	}
}

// The request. Source: https://platform.openai.com/docs/api-reference/chat/create

// chatBody returns the body of a request.
func (p *Provider) chatBody(r providers.Request, s wire.Support) (wire.Object, error) {
	given, err := s.Prompt(r, callIDs(p.strictRounds))
	if err == nil {
		err = prompt.Refuse(r, p.chatRefuses)
	}
	if err != nil {
		return nil, err
	}
	body := wire.Object{
		"model": r.Model, "messages": p.messages(given, s), "stream": true, "stream_options": wire.Object{"include_usage": true},
	}
	chatNames.Write(body, r)
	if effort := effort(r); effort != "" {
		body["reasoning_effort"] = effort
	}
	if r.MaxTokens > 0 {
		body[modernField] = r.MaxTokens
	}
	if len(r.Tools) > 0 {
		body["tools"] = tools(r.Tools)
		if r.ToolChoice != "" {
			body["tool_choice"] = r.ToolChoice
		}
	}
	schema, err := s.Schema(r.Schema)
	if err == nil && schema != nil {
		body["response_format"] = wire.Object{"type": "json_schema", "json_schema": wire.Object{
			"name": schemaName(r.SchemaName), "strict": schema.Strict(), "schema": schema,
		}}
	}
	return body, err
}

// message is a message of the prompt.
type message struct {
	Role      string     `json:"role"`
	Content   any        `json:"content"` // a *string, or a list of contentPart
	Reasoning string     `json:"reasoning_content,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
	ToolID    string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	Index    int      `json:"index,omitempty"` // only in replies
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type,omitempty"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // of a tool
	Arguments   string          `json:"arguments,omitempty"`  // of a call
}

// messages returns the messages of a prompt. PDFs are sent as [Config].DocumentURL says. Each tool result is a message of its own.
func (p *Provider) messages(given prompt.Prompt, s wire.Support) []message {
	var list []message
	if given.System != "" {
		list = append(list, message{Role: "system", Content: &given.System})
	}
	for _, turn := range given.Dialog {
		m := message{Role: string(turn.Role)}
		for _, part := range turn.Parts {
			switch {
			case part.ToolCall != nil:
				m.ToolCalls = append(m.ToolCalls, toolCall{ID: part.ToolCall.ID, Type: "function", Function: function{Name: part.ToolCall.Name, Arguments: string(part.ToolCall.Arguments)}})
			case part.ToolResult != nil:
				list = append(list, message{Role: "tool", Content: &part.ToolResult.Text, ToolID: part.ToolResult.ID})
			}
		}
		if m.ToolCalls != nil {
			m.Reasoning = callReasoning(turn, p.service, s)
		}
		text := turn.Text()
		switch last := len(list) - 1; {
		case turn.HasAttachments():
			m.Content = contentParts(turn, p.documentURL)
		case text != "" && p.strictRounds && last >= 0 && list[last].Role == "tool":
			// The service refuses a user message after a result: https://github.com/BerriAI/litellm/issues/6323
			text = *list[last].Content.(*string) + prompt.BlankLine + text
			list[last].Content = &text
		case text != "":
			m.Content = &text
		}
		if m.Content != nil || m.ToolCalls != nil {
			list = append(list, m)
		}
	}
	return list
}

// tools returns the tools in the service's form.
func tools(given []providers.Tool) []toolCall {
	list := make([]toolCall, len(given))
	for i, t := range given {
		list[i] = toolCall{Type: "function", Function: function{Name: t.Name, Description: t.Description, Parameters: t.Schema}}
	}
	return list
}

// The stream. Source: https://platform.openai.com/docs/api-reference/chat-streaming

// event is one event of a stream, or a whole reply.
type event struct {
	Model   string     `json:"model"`
	Ollama  ollamaMark `json:"system_fingerprint"`
	Choices []choice   `json:"choices"`
	Usage   *usage     `json:"usage"`
	Groq    struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Index   int    `json:"index"`
	Delta   delta  `json:"delta"`
	Message *delta `json:"message"` // of a whole reply
	Finish  string `json:"finish_reason"`
	Usage   *usage `json:"usage"` // sent by Moonshot
}

// delta is a piece of the reply.
type delta struct {
	Content          content    `json:"content"`
	Refusal          wire.Text  `json:"refusal"`
	ReasoningContent wire.Text  `json:"reasoning_content"` // sent by DeepSeek, vLLM and others
	Reasoning        wire.Text  `json:"reasoning"`         // sent by OpenRouter, Groq and Ollama
	ToolCalls        []toolCall `json:"tool_calls"`
}

// readEvent reads one event. Later choices are alternatives, which the provider does not request.
func (p *Provider) readEvent(data []byte, r *wire.Reply) error {
	var first [1]choice // usually the only one
	e := event{Choices: first[:0]}
	if err := wire.Decode(data, &e); err != nil {
		return err
	}
	r.SetModel(e.Model)
	p.noticeOllama(e.Ollama, r)
	e.Usage.add(r)
	e.Groq.Usage.add(r)
	for i := range e.Choices {
		c := &e.Choices[i]
		if c.Index > 0 {
			continue
		}
		c.Usage.add(r)
		if err := c.Delta.read(r, p.service); err != nil {
			return err
		}
		if err := c.Message.read(r, p.service); err != nil {
			return err
		}
		if err := r.FinishWord(c.Finish); err != nil {
			return err
		}
	}
	if len(e.Choices) == 0 && e.Usage == nil && e.Groq.Usage == nil && !bytes.Contains(data, []byte(`"choices"`)) {
		r.NoteUnknown()
	}
	return nil
}

// read adds a piece to the reply of a service.
func (d *delta) read(r *wire.Reply, service string) error {
	if d == nil {
		return nil
	}
	for i, reasoning := range [...]wire.Text{d.ReasoningContent, d.Reasoning, d.Content.reasoning} {
		if len(reasoning) == 0 {
			continue
		}
		if i > 0 { // no service needs these fields back
			service = ""
		}
		if err := r.ReasonFor(service, reasoning); err != nil {
			return err
		}
		break // OpenRouter may send both fields
	}
	if err := r.Add(d.Content.text); err != nil {
		return err
	}
	if len(d.Refusal) > 0 {
		r.Finish(providers.ContentFilter)
	}
	for _, c := range d.ToolCalls {
		call := providers.ToolCall{ID: c.ID, Name: c.Function.Name}
		if err := r.GrowCall(c.Index, call, c.Function.Arguments); err != nil {
			return err
		}
	}
	return nil
}

// content is text, or, from Mistral's reasoning models, a list of parts.
type content struct{ text, reasoning wire.Text }

// UnmarshalJSON reads either form.
func (c *content) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		return c.text.UnmarshalJSON(raw)
	}
	type part struct {
		Text     wire.Text `json:"text"`
		Thinking []struct {
			Text wire.Text `json:"text"`
		} `json:"thinking"`
	}
	var parts []part
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.text = append(c.text, p.Text...)
		for _, t := range p.Thinking {
			c.reasoning = append(c.reasoning, t.Text...)
		}
	}
	return nil
}

// usage holds the token counts of a reply, under the names of OpenAI and DeepSeek.
type usage struct {
	Prompt     wire.Count `json:"prompt_tokens"`
	Completion wire.Count `json:"completion_tokens"`
	Total      wire.Count `json:"total_tokens"`
	PromptOf   struct {
		Cached wire.Count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionOf struct {
		Reasoning wire.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit wire.Count `json:"prompt_cache_hit_tokens"`

	// Gateways to Anthropic use these names, where the input excludes cached tokens.
	Input     wire.Count `json:"input_tokens"`
	Output    wire.Count `json:"output_tokens"`
	CacheRead wire.Count `json:"cache_read_input_tokens"`
	CacheNew  wire.Count `json:"cache_creation_input_tokens"`
}

// add sets the usage of the reply. Some services count reasoning only in the total.
func (u *usage) add(r *wire.Reply) {
	if u == nil {
		return
	}
	to := r.Usage()
	to.Input = cmp.Or(int(cmp.Or(u.Prompt, u.Input+u.CacheRead+u.CacheNew)), to.Input)
	to.Cached = cmp.Or(int(max(u.PromptOf.Cached, u.CacheHit, u.CacheRead)), to.Cached)
	to.Written = cmp.Or(int(u.CacheNew), to.Written)
	hidden := max(0, u.Total-u.Prompt-u.Completion)
	to.Output = cmp.Or(int(cmp.Or(u.Completion, u.Output)+hidden), to.Output)
	to.Reasoning = cmp.Or(int(max(u.CompletionOf.Reasoning, hidden)), to.Reasoning)
}
