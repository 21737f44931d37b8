package fakellm

import (
	"strings"

	"github.com/elenchus-go/debate/providers"
)

// The Responses API. Source: https://platform.openai.com/docs/api-reference/responses-streaming

// responseEvent returns an event of OpenAI's Responses API.
func responseEvent(name string, fields object) string {
	return "event: " + name + "\ndata: " + fields.merge(object{"type": name}).String()
}

// response returns the object that describes a reply. The finish reason of an incomplete reply is the reason for that.
func (p Protocol) response(r Reply, status string, output ...any) object {
	o := object{"object": "response", "id": "resp_1", "model": "m-1", "status": status, "error": nil, "incomplete_details": nil, "output": output}
	if status != "in_progress" {
		o["usage"] = p.usage(r)
	}
	if status == "incomplete" {
		o["incomplete_details"] = object{"reason": r.FinishReason}
	}
	return o
}

// responseStatus returns the status of a reply that has ended.
func responseStatus(r Reply) string {
	if r.FinishReason != "" {
		return "incomplete"
	}
	return "completed"
}

// responseOutput returns the whole output of a reply.
func responseOutput(r Reply) []any {
	var output []any
	if r.Reasoning != "" {
		output = append(output, reasoningItem(r.Reasoning))
	}
	if text := strings.Join(r.Chunks, ""); text != "" {
		output = append(output, object{"type": "message", "id": "msg_1", "role": "assistant", "content": []any{object{"type": "output_text", "text": text}}})
	}
	for _, call := range r.ToolCalls {
		output = append(output, callItem(call))
	}
	return output
}

func reasoningItem(text string) object {
	return object{"type": "reasoning", "id": "rs_1", "summary": []any{object{"type": "summary_text", "text": text}}, "encrypted_content": opaque}
}

func callItem(call providers.ToolCall) object {
	return object{"type": "function_call", "id": "fc_1", "call_id": call.ID, "name": call.Name, "arguments": string(call.Arguments), "status": "completed"}
}

// responseReasoning returns the events of reasoning.
func responseReasoning(text string) []string {
	return []string{
		responseEvent("response.output_item.added", object{"output_index": 0, "item": object{"type": "reasoning", "id": "rs_1", "summary": []any{}, "encrypted_content": "b3"}}),
		responseEvent("response.reasoning_summary_part.added", object{"output_index": 0, "summary_index": 0, "part": object{"type": "summary_text", "text": ""}}),
		responseEvent("response.reasoning_summary_text.delta", object{"output_index": 0, "summary_index": 0, "delta": text}),
		responseEvent("response.reasoning_summary_text.done", object{"output_index": 0, "summary_index": 0, "text": text}),
		responseEvent("response.output_item.done", object{"output_index": 0, "item": reasoningItem(text)}),
	}
}

// responseCall returns the events of the i-th tool call.
func responseCall(i int, call providers.ToolCall) []string {
	index, half := i+10, len(call.Arguments)/2
	begun := callItem(call).merge(object{"arguments": "", "status": "in_progress"})
	return []string{
		responseEvent("response.output_item.added", object{"output_index": index, "item": begun}),
		responseEvent("response.function_call_arguments.delta", object{"output_index": index, "delta": string(call.Arguments[:half])}),
		responseEvent("response.function_call_arguments.delta", object{"output_index": index, "delta": string(call.Arguments[half:])}),
		responseEvent("response.function_call_arguments.done", object{"output_index": index, "arguments": string(call.Arguments)}),
		responseEvent("response.output_item.done", object{"output_index": index, "item": callItem(call)}),
	}
}
