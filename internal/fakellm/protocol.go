package fakellm

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"

	"github.com/elenchus-go/debate/transcript"
)

// Protocol is what a service speaks.
type Protocol string

// The protocols.
const (
	OpenAI    Protocol = "openai"
	Anthropic Protocol = "anthropic"
	Ollama    Protocol = "ollama"
	Google    Protocol = "google"
)

// Reply is what a service does with one call.
type Reply struct {
	Chunks       []string // of the text; a call that does not stream gets them in one
	FinishReason string   // the protocol's own word; defaults to that for a reply that came to its end
	Usage        transcript.Usage
	CacheWritten int // tokens of Usage.Input that the service wrote to its cache; only Anthropic says so

	// Of these the first that is set ends a stream in place of its proper end.
	Error    string   // an error event with these words
	RawLines []string // as they are, the last without an end
	Reset    bool     // the connection is reset
	EndEarly bool     // the stream just ends
	Hang     bool     // nothing more comes until the client leaves

	Status int               // where it is set, the call is refused
	Header map[string]string // of a refusal
	Body   string            // of a refusal; defaults to an error in the protocol's form
}

// object is JSON to be.
type object map[string]any

func (o object) String() string {
	raw, _ := json.Marshal(map[string]any(o)) // the package's own
	return string(raw)
}

// merge is o and more.
func (o object) merge(more object) object {
	both := maps.Clone(o)
	maps.Copy(both, more)
	return both
}

// finishReason is why the model stopped.
func (p Protocol) finishReason(r Reply) string {
	if p == Anthropic {
		return cmp.Or(r.FinishReason, "end_turn")
	}
	if p == Google {
		return cmp.Or(r.FinishReason, "STOP")
	}
	return cmp.Or(r.FinishReason, "stop")
}

// usage is what was counted. Of what a protocol cannot say nothing is said.
func (p Protocol) usage(r Reply) object {
	switch p {
	case Anthropic: // the input is without what the cache gives and takes
		return object{
			"input_tokens": r.Usage.Input - r.Usage.Cached - r.CacheWritten, "output_tokens": r.Usage.Output,
			"cache_read_input_tokens": r.Usage.Cached, "cache_creation_input_tokens": r.CacheWritten,
		}
	case Ollama:
		return object{"prompt_eval_count": r.Usage.Input, "eval_count": r.Usage.Output}
	case Google: // the output is without reasoning
		return object{
			"promptTokenCount": r.Usage.Input, "cachedContentTokenCount": r.Usage.Cached,
			"candidatesTokenCount": r.Usage.Output - r.Usage.Reasoning, "totalTokenCount": r.Usage.Input + r.Usage.Output,
		}
	default:
		return object{
			"prompt_tokens": r.Usage.Input, "completion_tokens": r.Usage.Output, "total_tokens": r.Usage.Input + r.Usage.Output,
			"prompt_tokens_details":     object{"cached_tokens": r.Usage.Cached},
			"completion_tokens_details": object{"reasoning_tokens": r.Usage.Reasoning},
		}
	}
}

// body is a reply that does not stream.
func (p Protocol) body(r Reply) string {
	text := strings.Join(r.Chunks, "")
	switch p {
	case Anthropic:
		return object{
			"type": "message", "role": "assistant", "model": "m-1", "stop_reason": p.finishReason(r), "usage": p.usage(r),
			"content": []any{object{"type": "text", "text": text}},
		}.String()
	case Ollama:
		return object{
			"model": "m-1", "message": object{"role": "assistant", "content": text}, "done": true, "done_reason": p.finishReason(r),
		}.merge(p.usage(r)).String()
	case Google:
		return object{
			"modelVersion": "m-1", "usageMetadata": p.usage(r),
			"candidates": []any{object{"index": 0, "content": googleContent(text), "finishReason": p.finishReason(r)}},
		}.String()
	default:
		return object{
			"model": "m-1", "usage": p.usage(r),
			"choices": []any{object{"index": 0, "message": object{"role": "assistant", "content": text}, "finish_reason": p.finishReason(r)}},
		}.String()
	}
}

// streamStart are the lines of a stream up to the end of the text.
func (p Protocol) streamStart(r Reply) []string {
	var lines []string
	if p == Anthropic {
		lines = append(
			lines,
			"event: message_start",
			"data: "+object{"type": "message_start", "message": object{"type": "message", "model": "m-1", "usage": p.usage(r).merge(object{"output_tokens": 1})}}.String(),
			"",
			"data: "+object{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}}.String(),
			`data: {"type": "ping"}`,
		)
	}
	for i, chunk := range r.Chunks {
		line := p.chunk(chunk)
		if p == Google && i == 0 {
			line = "[" + line
		} else if p == Google {
			line = "," + line
		}
		lines = append(lines, line)
	}
	return lines
}

// googleContent is a text in Google's form.
func googleContent(text string) object {
	return object{"role": "model", "parts": []any{object{"text": text}}}
}

func (p Protocol) chunk(text string) string {
	switch p {
	case Anthropic:
		return "data: " + object{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": text}}.String()
	case Ollama:
		return object{"model": "m-1", "message": object{"role": "assistant", "content": text}, "done": false}.String()
	case Google:
		return object{"modelVersion": "m-1", "candidates": []any{object{"index": 0, "content": googleContent(text)}}}.String()
	default:
		return "data: " + object{"model": "m-1", "choices": []any{object{"index": 0, "delta": object{"content": text}, "finish_reason": nil}}}.String()
	}
}

// streamEnd are the lines of a stream after the text.
func (p Protocol) streamEnd(r Reply) []string {
	switch p {
	case Anthropic:
		return []string{
			`data: {"type": "content_block_stop", "index": 0}`,
			"data: " + object{"type": "message_delta", "delta": object{"stop_reason": p.finishReason(r)}, "usage": object{"output_tokens": r.Usage.Output}}.String(),
			`data: {"type": "message_stop"}`,
		}
	case Ollama:
		return []string{object{
			"model": "m-1", "message": object{"role": "assistant", "content": ""}, "done": true, "done_reason": p.finishReason(r),
		}.merge(p.usage(r)).String()}
	case Google: // without content, as newer models end
		return []string{"," + object{
			"modelVersion": "m-1", "usageMetadata": p.usage(r), "candidates": []any{object{"index": 0, "finishReason": p.finishReason(r)}},
		}.String(), "]"}
	default:
		return []string{
			": keep alive",
			"data: " + object{"model": "m-1", "choices": []any{object{"index": 0, "delta": object{}, "finish_reason": p.finishReason(r)}}}.String(),
			"data: " + object{"model": "m-1", "choices": []any{}, "usage": p.usage(r)}.String(),
			"data: [DONE]",
		}
	}
}
