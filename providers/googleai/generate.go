package googleai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Generate requests one reply from the model.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	r.Model = cmp.Or(r.Model, p.model)
	var warnings []string
	if !modelOf(r.Model).combines() {
		r, warnings = prompt.Separate(r)
	}
	return p.client.Generate(ctx, r, wire.Call{
		Model:    r.Model,
		URL:      p.modelURL(r.Model) + ":streamGenerateContent?alt=sse",
		Body:     func(s wire.Support) (wire.Object, error) { return body(r, s) },
		Event:    readEvent,
		Warnings: warnings,
	})
}

// The request. Source: https://ai.google.dev/api/generate-content

// body returns the body of a request.
func body(r providers.Request, s wire.Support) (wire.Object, error) {
	p, err := s.Prompt(r, nil)
	if err == nil {
		err = prompt.Refuse(r, refuses)
	}
	if err != nil {
		return nil, err
	}
	settings := wire.Object{}
	body := wire.Object{"contents": contents(p, modelOf(r.Model).levels()), "generationConfig": settings}
	if p.System != "" {
		body["systemInstruction"] = wire.Object{"parts": []part{{Text: wire.Text(p.System)}}}
	}
	writeSettings(settings, r)
	if len(r.Tools) > 0 {
		tools := make([]wire.Object, len(r.Tools))
		for i, t := range r.Tools {
			tools[i] = wire.Object{"name": t.Name, "description": t.Description, "parametersJsonSchema": t.Schema}
		}
		body["tools"] = []wire.Object{{"functionDeclarations": tools}}
		if r.ToolChoice != "" {
			body["toolConfig"] = wire.Object{"functionCallingConfig": wire.Object{"mode": "NONE"}}
		}
	}
	schema, err := s.Schema(r.Schema)
	if err == nil && schema != nil {
		settings["responseMimeType"] = "application/json"
		settings["responseJsonSchema"] = schema
	}
	return body, err
}

// The stream. Source: https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse

// event is one event of a stream, or a whole reply.
type event struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []part `json:"parts"`
		} `json:"content"`
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Prompt struct {
		Blocked string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage usage  `json:"usageMetadata"`
	Model string `json:"modelVersion"`
}

// readEvent reads one event.
func readEvent(data []byte, r *wire.Reply) error {
	var e event
	if err := wire.Decode(data, &e); err != nil {
		return err
	}
	r.SetModel(e.Model)
	e.Usage.add(r)
	if e.Prompt.Blocked != "" {
		return &providers.Error{Kind: providers.ContentFiltered, Err: fmt.Errorf("read reply: the service refused the prompt: %s", e.Prompt.Blocked)}
	}
	for _, c := range e.Candidates {
		if c.Index > 0 {
			continue
		}
		for _, p := range c.Content.Parts {
			if err := addPart(p, r); err != nil {
				return err
			}
		}
		if err := r.FinishWord(c.Finish); err != nil {
			return err
		}
	}
	return nil
}

// addPart adds a part to the reply.
func addPart(p part, r *wire.Reply) error {
	switch {
	case p.Call != nil:
		return r.AddCall(providers.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Args, Opaque: p.Signature})
	case p.Thought:
		return errors.Join(r.Reason(p.Text), keep(p.Signature, r))
	}
	return errors.Join(r.Add(p.Text), keep(p.Signature, r))
}

// keep keeps the signature of a text, which is encrypted reasoning.
func keep(signature string, r *wire.Reply) error {
	if signature == "" {
		return nil
	}
	data, err := json.Marshal(signature)
	if err != nil {
		return err
	}
	return r.Keep(providers.Reasoning{Service: service, Data: data})
}

// usage holds the token counts of a reply so far.
type usage struct {
	Prompt   wire.Count `json:"promptTokenCount"`
	Cached   wire.Count `json:"cachedContentTokenCount"`
	Reply    wire.Count `json:"candidatesTokenCount"` // without reasoning
	Thoughts wire.Count `json:"thoughtsTokenCount"`
	Tools    wire.Count `json:"toolUsePromptTokenCount"`
	Total    wire.Count `json:"totalTokenCount"`
}

func (u usage) add(r *wire.Reply) {
	to := r.Usage()
	to.Input = cmp.Or(int(u.Prompt+u.Tools), to.Input)
	to.Cached = cmp.Or(int(u.Cached), to.Cached)
	thoughts := max(u.Thoughts, u.Total-u.Prompt-u.Tools-u.Reply)
	to.Reasoning = max(to.Reasoning, int(thoughts))
	to.Output = max(to.Output, int(u.Reply+max(0, thoughts)))
}
