package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Generate requests one reply from the model.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	r.Model = cmp.Or(r.Model, p.model)
	if p.responses {
		return p.client.Generate(ctx, r, p.responsesCall(r))
	}
	return p.client.Generate(ctx, r, p.chatCall(r))
}

// The request. Source: https://platform.openai.com/docs/api-reference/responses/create

// responsesCall returns the call of a request to the Responses API.
func (p *Provider) responsesCall(r providers.Request) wire.Call {
	older := p.chatCall(r)
	var warnings []string
	if p.separates() {
		r, warnings = prompt.Separate(r)
	}
	return wire.Call{
		Model:    r.Model,
		API:      "the Responses API",
		URL:      p.base + "/responses" + p.query,
		Body:     func(s wire.Support) (wire.Object, error) { return p.responsesBody(r, s) },
		Event:    p.readResponseEvent,
		Warnings: warnings,
		Older:    &older,
	}
}

// minOutputTokens replaces lower token limits, which the service refuses.
const minOutputTokens = 16

// encryptedReasoning asks for reasoning that only the service can read. The service stores no replies, so later requests
// send the reasoning back.
var encryptedReasoning = []string{"reasoning.encrypted_content"}

// responsesBody returns the body of a request.
func (p *Provider) responsesBody(r providers.Request, s wire.Support) (wire.Object, error) {
	given, err := s.Prompt(r, responsesIDs)
	if err == nil {
		err = prompt.Refuse(r, p.refuses)
	}
	if err != nil {
		return nil, err
	}
	body := wire.Object{"model": r.Model, "input": p.input(given, s), "stream": true, "store": false}
	if given.System != "" {
		body["instructions"] = given.System
	}
	if !neverReasons.MatchString(r.Model) { // the provider learns which other models do not reason
		body["include"] = encryptedReasoning
	}
	responsesNames.Write(body, r)
	if effort := effort(r); effort != "" {
		body["reasoning"] = wire.Object{"effort": effort}
	}
	if r.MaxTokens > 0 {
		body["max_output_tokens"] = max(r.MaxTokens, minOutputTokens)
	}
	if len(r.Tools) > 0 {
		body["tools"] = responsesTools(r.Tools)
		if r.ToolChoice != "" {
			body["tool_choice"] = r.ToolChoice
		}
	}
	schema, err := s.Schema(r.Schema)
	if err == nil && schema != nil {
		body["text"] = wire.Object{"format": wire.Object{
			"type": "json_schema", "name": schemaName(r.SchemaName), "strict": schema.Strict(), "schema": schema,
		}}
	}
	return body, err
}

// The stream. Source: https://platform.openai.com/docs/api-reference/responses-streaming

// responseEvent is one event of a stream, or a whole reply.
type responseEvent struct {
	Type         string          `json:"type"`
	Delta        wire.Text       `json:"delta"`
	SummaryIndex int             `json:"summary_index"`
	Item         json.RawMessage `json:"item"`
	Response     response        `json:"response"`
	response                     // the whole reply
}

// response describes a reply.
type response struct {
	Object     string            `json:"object"`
	Status     string            `json:"status"`
	Model      string            `json:"model"`
	Output     []json.RawMessage `json:"output"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		Input   wire.Count `json:"input_tokens"`
		Output  wire.Count `json:"output_tokens"`
		InputOf struct {
			Cached wire.Count `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutputOf struct {
			Reasoning wire.Count `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

// outputItem is a part of the reply: a message, reasoning or a tool call.
type outputItem struct {
	Type      string       `json:"type"`
	CallID    string       `json:"call_id"`
	Name      string       `json:"name"`
	Arguments string       `json:"arguments"`
	Encrypted string       `json:"encrypted_content"`
	Summary   []outputText `json:"summary"`
	Content   []outputText `json:"content"`
}

type outputText struct {
	Type string    `json:"type"`
	Text wire.Text `json:"text"`
}

// readResponseEvent reads one event.
func (p *Provider) readResponseEvent(data []byte, r *wire.Reply) error {
	var e responseEvent
	if err := wire.Decode(data, &e); err != nil {
		return err
	}
	switch e.Type {
	case "response.created":
		r.SetModel(e.Response.Model)
	case "response.output_text.delta":
		return r.Add(e.Delta)
	case "response.refusal.delta":
		r.Finish(providers.ContentFilter)
	case "response.reasoning_summary_part.added":
		if e.SummaryIndex > 0 {
			return r.Reason(wire.Text(prompt.BlankLine))
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return r.Reason(e.Delta)
	case "response.output_item.done":
		return p.readItem(e.Item, r)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		e.Response.Status = cmp.Or(e.Response.Status, strings.TrimPrefix(e.Type, "response."))
		return e.Response.end(r)
	case "":
		if e.Object == "response" {
			return p.readWhole(&e.response, r)
		}
	}
	return nil
}

// readItem reads a part of the reply, except its text.
func (p *Provider) readItem(raw json.RawMessage, r *wire.Reply) error {
	var item outputItem
	if err := wire.Decode(raw, &item); err != nil {
		return err
	}
	return p.keepItem(&item, raw, r)
}

// keepItem adds a tool call, or reasoning that only the service can read, to the reply.
func (p *Provider) keepItem(item *outputItem, raw json.RawMessage, r *wire.Reply) error {
	switch {
	case item.Type == "function_call":
		return r.AddCall(providers.ToolCall{ID: item.CallID, Name: item.Name, Arguments: json.RawMessage(item.Arguments)})
	case item.Type == "reasoning" && item.Encrypted != "":
		return r.Keep(providers.Reasoning{Service: p.service, Data: raw})
	}
	return nil
}

// readWhole reads a reply that did not stream.
func (p *Provider) readWhole(e *response, r *wire.Reply) error {
	for _, raw := range e.Output {
		var item outputItem
		if err := wire.Decode(raw, &item); err != nil {
			return err
		}
		for _, text := range append(item.Summary, item.Content...) {
			var err error
			switch text.Type {
			case "output_text":
				err = r.Add(text.Text)
			case "summary_text", "reasoning_text":
				err = r.Reason(text.Text)
			case "refusal":
				r.Finish(providers.ContentFilter)
			}
			if err != nil {
				return err
			}
		}
		if err := p.keepItem(&item, raw, r); err != nil {
			return err
		}
	}
	return e.end(r)
}

// incompleteReasons maps the reasons of incomplete replies.
var incompleteReasons = map[string]providers.FinishReason{
	"max_output_tokens": providers.Length, "content_filter": providers.ContentFilter,
}

// end reads the description of a reply that has ended. A reply that is incomplete for an unknown reason reached a limit
// of the service. Azure reports the cause of a failed reply in a later event.
func (e *response) end(r *wire.Reply) error {
	r.SetModel(e.Model)
	u := r.Usage()
	u.Input, u.Cached = int(e.Usage.Input), int(e.Usage.InputOf.Cached)
	u.Output, u.Reasoning = int(e.Usage.Output), int(e.Usage.OutputOf.Reasoning)
	switch e.Status {
	case "completed":
		r.Finish(providers.Stop)
	case "incomplete":
		r.Finish(cmp.Or(incompleteReasons[e.Incomplete.Reason], providers.WindowFull))
	default:
		r.Fail(&providers.Error{Kind: providers.ServerError, Err: fmt.Errorf("read reply: the service ended it with status %q", e.Status)})
		return nil
	}
	return wire.ErrDone
}
