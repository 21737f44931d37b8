package anthropic

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Generate requests one reply from the model.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	r.Model = cmp.Or(r.Model, p.model)
	r, warnings := fitRounds(r)
	s := stream{thinking: map[int]*thought{}}
	return p.client.Generate(ctx, r, wire.Call{
		Model:    r.Model,
		URL:      p.base + "/messages",
		Body:     func(s wire.Support) (wire.Object, error) { return p.body(r, s) },
		Event:    s.read,
		Warnings: warnings,
	})
}

// The request. Source: https://platform.claude.com/docs/en/api/messages/create

// body returns the body of a request. With output_config the reply stays text, unlike with a forced tool call: it
// streams, and the part of a cut reply is kept. Models older than 4.5 refuse the field.
func (p *Provider) body(r providers.Request, s wire.Support) (wire.Object, error) {
	given, err := s.Prompt(r, callIDs)
	if err != nil {
		return nil, err
	}
	body := wire.Object{"model": r.Model, "stream": true}
	mark := p.mark
	if s.NoCache {
		mark = nil
	}
	writePrompt(body, given, mark)
	if len(r.Tools) > 0 {
		tools := make([]wire.Object, len(r.Tools))
		for i, t := range r.Tools {
			tools[i] = wire.Object{"name": t.Name, "description": t.Description, "input_schema": t.Schema}
		}
		body["tools"] = tools
		if r.ToolChoice != "" {
			body["tool_choice"] = wire.Object{"type": r.ToolChoice}
		}
	}
	schema, err := s.Schema(r.Schema)
	var format wire.Object
	if schema != nil {
		format = wire.Object{"type": "json_schema", "schema": schema}
	}
	writeSettings(body, r, format)
	return body, err
}

// The stream. Source: https://platform.claude.com/docs/en/build-with-claude/streaming

// delta is an event with a piece of a block. Most events are, so they are decoded into few fields.
type delta struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Piece piece  `json:"delta"`
}

// piece is a piece of a block.
type piece struct {
	Type      string    `json:"type"`
	Text      wire.Text `json:"text"`
	Thinking  wire.Text `json:"thinking"`
	Signature string    `json:"signature"`
	Partial   string    `json:"partial_json"` // of a tool call's input
}

// event is another event of a stream, or a whole reply.
type event struct {
	Type    string  `json:"type"`
	Index   int     `json:"index"`
	Message *event  `json:"message"`       // the beginning of a reply
	Block   content `json:"content_block"` // the beginning of a block
	End     struct {
		Stop string `json:"stop_reason"`
	} `json:"delta"` // the end of a reply
	Usage usage `json:"usage"`

	Model   string    `json:"model"`
	Content []content `json:"content"` // of a whole reply
	Stop    string    `json:"stop_reason"`
}

// content is a block of the reply.
type content struct {
	Type      string          `json:"type"`
	Text      wire.Text       `json:"text"`
	Thinking  wire.Text       `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"` // of redacted reasoning
	ID        string          `json:"id"`   // of a tool call
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"` // of a whole tool call
}

// stream reads the events of one reply.
type stream struct {
	thinking map[int]*thought // the blocks of reasoning, by index
}

// thought is a block of reasoning that has arrived so far.
type thought struct{ text, signature []byte }

// read reads one event. Blocks of the service's own tools, such as those of a web search, are not part of the text.
func (s *stream) read(data []byte, r *wire.Reply) error {
	var d delta
	if err := wire.Decode(data, &d); err != nil {
		return err
	}
	if d.Type == "content_block_delta" {
		return s.add(d.Index, d.Piece, r)
	}
	var e event
	if err := wire.Decode(data, &e); err != nil {
		return err
	}
	switch e.Type {
	case "message_start":
		if e.Message != nil {
			r.SetModel(e.Message.Model)
			e.Message.Usage.add(r)
		}
	case "content_block_start":
		return s.begin(e.Index, e.Block, r)
	case "content_block_stop":
		return s.end(e.Index, r)
	case "message_delta":
		e.Usage.add(r)
		return r.FinishWord(e.End.Stop)
	case "message_stop":
		return wire.ErrDone
	case "message":
		return s.whole(e, r)
	}
	return nil
}

// begin reads the beginning of a block.
func (s *stream) begin(index int, b content, r *wire.Reply) error {
	switch b.Type {
	case "text":
		return r.Add(b.Text)
	case "thinking":
		s.thinking[index] = &thought{text: b.Thinking, signature: []byte(b.Signature)}
		return r.Reason(b.Thinking)
	case "redacted_thinking":
		return keep(r, wire.Object{"type": b.Type, "data": b.Data})
	case "tool_use":
		return r.GrowCall(index, providers.ToolCall{ID: b.ID, Name: b.Name}, "")
	}
	return nil
}

// add reads a piece of a block.
func (s *stream) add(index int, p piece, r *wire.Reply) error {
	switch p.Type {
	case "text_delta":
		return r.Add(p.Text)
	case "thinking_delta":
		if t := s.thinking[index]; t != nil {
			t.text = append(t.text, p.Thinking...)
		}
		return r.Reason(p.Thinking)
	case "signature_delta":
		if t := s.thinking[index]; t != nil {
			t.signature = append(t.signature, p.Signature...)
		}
		return r.Grow(len(p.Signature))
	case "input_json_delta":
		if r.HasCall(index) { // and not a call of the service's own tools
			return r.GrowCall(index, providers.ToolCall{}, p.Partial)
		}
	}
	return nil
}

// end reads the end of a block. It keeps reasoning as a whole, because the service checks its signature.
func (s *stream) end(index int, r *wire.Reply) error {
	t := s.thinking[index]
	if t == nil || len(t.signature) == 0 {
		return nil
	}
	delete(s.thinking, index)
	return keep(r, wire.Object{"type": "thinking", "thinking": string(t.text), "signature": string(t.signature)})
}

func keep(r *wire.Reply, block wire.Object) error {
	raw, err := json.Marshal(block)
	if err != nil {
		return err
	}
	return r.Keep(providers.Reasoning{Service: service, Data: raw})
}

// whole reads a reply that did not stream.
func (s *stream) whole(e event, r *wire.Reply) error {
	r.SetModel(e.Model)
	e.Usage.add(r)
	for i, b := range e.Content {
		err := s.wholeBlock(i, b, r)
		if err != nil {
			return err
		}
	}
	return r.FinishWord(e.Stop)
}

// wholeBlock reads a block of a reply that did not stream.
func (s *stream) wholeBlock(i int, b content, r *wire.Reply) error {
	if b.Type == "tool_use" {
		return r.AddCall(providers.ToolCall{ID: b.ID, Name: b.Name, Arguments: b.Input})
	}
	err := s.begin(i, b, r)
	if err != nil {
		return err
	}
	return s.end(i, r)
}

// usage holds the token counts of a reply. Each event repeats only the counts that it knows.
type usage struct {
	Input     wire.Count `json:"input_tokens"` // without cached tokens
	Output    wire.Count `json:"output_tokens"`
	CacheRead wire.Count `json:"cache_read_input_tokens"`
	CacheNew  wire.Count `json:"cache_creation_input_tokens"`
}

func (u usage) add(r *wire.Reply) {
	to := r.Usage()
	to.Input = max(to.Input, int(u.Input+u.CacheRead+u.CacheNew))
	to.Cached = max(to.Cached, int(u.CacheRead))
	to.Written = max(to.Written, int(u.CacheNew))
	to.Output = cmp.Or(int(u.Output), to.Output)
}
