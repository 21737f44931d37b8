package fakellm

// streamStart returns the lines of a stream up to the end of the text.
func (p Protocol) streamStart(r Reply) []string {
	var lines []string
	switch p { //nolint:exhaustive // the other protocols have no events at the beginning
	case Responses:
		begun := object{"response": p.response(r, "in_progress")}
		lines = append(lines, responseEvent("response.created", begun), responseEvent("response.in_progress", begun))
	case Anthropic:
		lines = append(
			lines,
			"event: message_start\ndata: "+object{"type": "message_start", "message": object{"type": "message", "model": "m-1", "usage": p.firstUsage(r)}}.String(),
			`data: {"type": "ping"}`,
		)
	}
	if r.Reasoning != "" {
		lines = append(lines, p.reasoningEvents(r.Reasoning)...)
	}
	for i, chunk := range r.Chunks {
		if i == 0 && r.Padding > 0 {
			lines = append(lines, p.padded(chunk, r.Padding))
			continue
		}
		lines = append(lines, showBytes(p.chunk(hideBytes(chunk))))
	}
	for _, raw := range r.RawChunks {
		lines = append(lines, p.rawChunk(raw))
	}
	for i, call := range r.ToolCalls {
		lines = append(lines, p.callEvents(i, call)...)
	}
	return lines
}

// streamEnd returns the lines of a stream after the text.
func (p Protocol) streamEnd(r Reply) []string {
	switch p {
	case Anthropic:
		return []string{
			`data: {"type": "content_block_stop", "index": 0}`,
			"data: " + object{"type": "message_delta", "delta": object{"stop_reason": p.finishReason(r)}, "usage": p.finalUsage(r)}.String(),
			`data: {"type": "message_stop"}`,
		}
	case Ollama:
		return []string{object{
			"model": "m-1", "message": object{"role": "assistant", "content": ""}, "done": true, "done_reason": p.finishReason(r),
		}.merge(p.usage(r)).String()}
	case Google: // newer models end a stream without content
		return []string{"data: " + object{
			"modelVersion": "m-1", "usageMetadata": p.usage(r), "candidates": []any{object{"index": 0, "finishReason": p.finishReason(r)}},
		}.String()}
	case Responses:
		status := responseStatus(r)
		return []string{": keep alive", responseEvent("response."+status, object{"response": p.response(r, status, responseOutput(r)...)})}
	default:
		return []string{
			": keep alive",
			"data: " + object{"model": "m-1", "choices": []any{object{"index": 0, "delta": object{}, "finish_reason": p.finishReason(r)}}}.String(),
			"data: " + object{"model": "m-1", "choices": []any{}, "usage": p.usage(r)}.String(),
			"data: [DONE]",
		}
	}
}
