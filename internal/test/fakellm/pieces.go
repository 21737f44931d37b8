package fakellm

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/elenchus-go/debate/providers"
)

// placeholder stands for text that is inserted after encoding.
const placeholder = "\uE000"

// rawChunk returns the event of a piece of text that is given as the contents of a JSON string.
func (p Protocol) rawChunk(raw string) string {
	return strings.Replace(p.chunk(placeholder), placeholder, raw, 1)
}

// splitText returns a text as contents of JSON strings, one for each byte of a character that has several. The two
// halves of a character that needs a surrogate pair are written as escape sequences.
func splitText(text string) (list []string) {
	for _, r := range text {
		quoted, _ := json.Marshal(string(r)) // strings always encode
		raw := string(quoted[1 : len(quoted)-1])
		switch n := utf8.RuneLen(r); {
		case n == utf8.UTFMax:
			high, low := 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF
			list = append(list, fmt.Sprintf(`\u%04x`, high), fmt.Sprintf(`\u%04x`, low))
		case n > 1 && len(raw) == n:
			for i := range n {
				list = append(list, raw[i:i+1])
			}
		default:
			list = append(list, raw)
		}
	}
	return list
}

// padded returns the event of a chunk with further bytes.
func (p Protocol) padded(text string, bytes int) string {
	event := p.chunk(text)
	i := strings.Index(event, "{") + 1
	return event[:i] + `"padding":"` + strings.Repeat("x", bytes) + `",` + event[i:]
}

// reasoningEvents returns the events of reasoning, which precede the text.
func (p Protocol) reasoningEvents(text string) []string {
	switch p {
	case Anthropic:
		return []string{
			"data: " + object{"type": "content_block_start", "index": 0, "content_block": object{"type": "thinking", "thinking": "", "signature": ""}}.String(),
			"data: " + object{"type": "content_block_delta", "index": 0, "delta": object{"type": "thinking_delta", "thinking": text}}.String(),
			"data: " + object{"type": "content_block_delta", "index": 0, "delta": object{"type": "signature_delta", "signature": signature}}.String(),
			`data: {"type": "content_block_stop", "index": 0}`,
			"data: " + object{"type": "content_block_start", "index": 1, "content_block": object{"type": "redacted_thinking", "data": opaque}}.String(),
			`data: {"type": "content_block_stop", "index": 1}`,
		}
	case Ollama:
		return []string{object{"model": "m-1", "message": object{"role": "assistant", "content": "", "thinking": text}, "done": false}.String()}
	case Google:
		return []string{p.googleParts(object{"text": text, "thought": true})}
	case Responses:
		return responseReasoning(text)
	default:
		field := "reasoning" // as Groq and OpenRouter, which do not need it back
		if p == DeepSeek {
			field = "reasoning_content"
		}
		return []string{"data: " + object{"model": "m-1", "choices": []any{object{"index": 0, "delta": object{"content": "", field: text}}}}.String()}
	}
}

// googleParts returns an event with a part of the reply.
func (p Protocol) googleParts(part object) string {
	return "data: " + object{"modelVersion": "m-1", "candidates": []any{object{"index": 0, "content": object{"role": "model", "parts": []any{part}}}}}.String()
}

// callEvents returns the events of the i-th tool call. Where the protocol allows, the arguments come in two pieces.
func (p Protocol) callEvents(i int, call providers.ToolCall) []string {
	arguments := string(call.Arguments)
	first, second := arguments[:len(arguments)/2], arguments[len(arguments)/2:]
	switch p {
	case Anthropic:
		index := i + 10
		return []string{
			"data: " + object{"type": "content_block_start", "index": index, "content_block": object{"type": "tool_use", "id": call.ID, "name": call.Name, "input": object{}}}.String(),
			"data: " + object{"type": "content_block_delta", "index": index, "delta": object{"type": "input_json_delta", "partial_json": first}}.String(),
			"data: " + object{"type": "content_block_delta", "index": index, "delta": object{"type": "input_json_delta", "partial_json": second}}.String(),
			"data: " + object{"type": "content_block_stop", "index": index}.String(),
		}
	case Ollama:
		return []string{object{"model": "m-1", "done": false, "message": object{"role": "assistant", "content": "", "tool_calls": []any{
			object{"function": object{"name": call.Name, "arguments": call.Arguments}},
		}}}.String()}
	case Google:
		return []string{p.googleParts(object{"functionCall": object{"name": call.Name, "args": call.Arguments}, "thoughtSignature": signature})}
	case Responses:
		return responseCall(i, call)
	default:
		delta := func(call object) string {
			return "data: " + object{"model": "m-1", "choices": []any{object{"index": 0, "delta": object{"tool_calls": []any{call}}}}}.String()
		}
		return []string{
			delta(object{"index": i, "id": call.ID, "type": "function", "function": object{"name": call.Name, "arguments": first}}),
			delta(object{"index": i, "function": object{"arguments": second}}),
		}
	}
}
