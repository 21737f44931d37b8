package fakellm

import "strings"

// body returns the body of a reply that does not stream.
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
	case Responses:
		return p.response(r, responseStatus(r), responseOutput(r)...).String()
	default:
		return object{
			"model": "m-1", "usage": p.usage(r),
			"choices": []any{object{"index": 0, "message": object{"role": "assistant", "content": text}, "finish_reason": p.finishReason(r)}},
		}.String()
	}
}

// firstUsage returns the usage that Anthropic reports at the beginning of a stream.
func (p Protocol) firstUsage(r Reply) object {
	if r.NoUsage {
		return object{}
	}
	return p.usage(r).merge(object{"output_tokens": 1})
}

// finalUsage returns the usage that Anthropic reports at the end of a stream.
func (p Protocol) finalUsage(r Reply) object {
	if r.NoUsage {
		return object{}
	}
	return object{"output_tokens": r.Usage.Output}
}

// googleContent returns a text in Google's form.
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
		return "data: " + object{"modelVersion": "m-1", "candidates": []any{object{"index": 0, "content": googleContent(text)}}}.String()
	case Responses:
		return responseEvent("response.output_text.delta", object{"item_id": "msg_1", "output_index": 1, "content_index": 0, "delta": text, "logprobs": []any{}})
	default:
		return "data: " + object{"model": "m-1", "choices": []any{object{"index": 0, "delta": object{"content": text}, "finish_reason": nil}}}.String()
	}
}
