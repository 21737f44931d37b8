package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/openai"
	"github.com/elenchus-go/debate/transcript"
)

func TestUsageOfTheResponsesAPI(t *testing.T) {
	counted := transcript.Usage{Input: 100, Cached: 90, Output: 50, Reasoning: 40}
	for _, whole := range []bool{false, true} {
		for _, finish := range []string{"", "max_output_tokens"} {
			p, _ := responder(t, openai.Config{}, fakellm.Reply{Chunks: []string{"So."}, Usage: counted, Whole: whole, FinishReason: finish})
			res := calltest.Generate(t, p, ask)
			require.Equal(t, counted, res.Usage)
		}
	}
}

func TestIncompleteResponses(t *testing.T) {
	for reason, want := range map[string]providers.FinishReason{
		"max_output_tokens": providers.Length, "content_filter": providers.ContentFilter, "max_messages": providers.WindowFull,
	} {
		for _, whole := range []bool{false, true} {
			p, _ := responder(t, openai.Config{}, fakellm.Reply{Chunks: []string{"So"}, FinishReason: reason, Whole: whole})
			res := calltest.Generate(t, p, ask)
			require.Equal(t, want, res.FinishReason)
			require.Equal(t, "So", res.Text)
		}
	}
}

func TestStreamsOfTheResponsesAPI(t *testing.T) {
	const failed = `data: {"type": "response.failed", "response": {"status": "failed", "error": null}}`
	for name, test := range map[string]struct {
		lines []string
		kind  providers.ErrorKind // empty if the reply is read
		want  string
	}{
		"a refusal": {
			[]string{`data: {"type": "response.refusal.delta", "delta": "I cannot."}`, `data: {"type": "response.completed", "response": {"status": "completed"}}`},
			providers.ContentFiltered, "the service filtered the reply",
		},
		"a failure without a cause": {[]string{failed}, providers.ServerError, `the service ended it with status "failed"`},
		"a failure and its cause": {
			[]string{failed, `data: {"type": "error", "error": {"code": "content_policy_violation", "message": "No."}}`},
			providers.ContentFiltered, "No. (content_policy_violation) (request req_7)",
		},
		"a cancellation":       {[]string{`data: {"type": "response.cancelled", "response": {}}`}, providers.ServerError, `the service ended it with status "cancelled"`},
		"the end is missing":   {[]string{`data: {"type": "response.output_text.done", "text": "So."}`, `data: {"type": "response.output_item.done", "item": {"type": "message"}}`}, providers.Network, "the stream ended before the reply was complete"},
		"[DONE] after the end": {[]string{`data: {"type": "response.output_text.delta", "delta": "So."}`, `data: {"type": "response.completed", "response": {"status": "completed"}}`, "data: [DONE]"}, "", "So."},
		"a status is missing":  {[]string{`data: {"type": "response.output_text.delta", "delta": "So."}`, `data: {"type": "response.completed", "response": {}}`}, "", "So."},
		"events of tools":      {[]string{`data: {"type": "response.web_search_call.searching", "item_id": "ws_1"}`, `data: {"type": "response.output_item.done", "item": {"type": "web_search_call"}}`, `data: {"type": "response.output_text.delta", "delta": "So."}`, `data: {"type": "response.completed"}`}, "", "So."},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := responder(t, openai.Config{}, fakellm.Reply{RawLines: separate(test.lines), Header: map[string]string{"X-Request-Id": "req_7"}})
			res, err := p.Generate(t.Context(), ask)
			if test.kind == "" {
				require.NoError(t, err)
				require.Equal(t, test.want, res.Text)
				return
			}
			require.ErrorContains(t, calltest.RequireKind(t, test.kind, err), test.want)
		})
	}
}

// separate adds an empty line after each event.
func separate(events []string) (lines []string) {
	for _, e := range events {
		lines = append(lines, e, "")
	}
	return append(lines, "")
}

// Without the limit a reply may never end, and without "store" the service stores it.
func TestFieldsThatAreNeverOmitted(t *testing.T) {
	for _, field := range []string{"max_output_tokens", "store"} {
		p, s := responder(t, openai.Config{}, fakellm.Reply{Status: 400, Body: `{"detail": "Unsupported parameter: ` + field + `"}`})
		_, err := p.Generate(t.Context(), ask)
		_ = calltest.RequireKind(t, providers.InvalidRequest, err)
		require.Len(t, s.Requests(), 1)
	}
}

func TestArgumentsAreAlwaysJSON(t *testing.T) {
	for given, want := range map[string]string{`{\"a\": 1}`: `{"a": 1}`, ``: `{}`, `{`: `"{"`} {
		p, _ := responder(t, openai.Config{}, fakellm.Reply{RawLines: separate([]string{
			`data: {"type": "response.output_item.done", "item": {"type": "function_call", "call_id": "call-1", "name": "search", "arguments": "` + given + `"}}`,
			`data: {"type": "response.completed"}`,
		})})
		r := ask
		r.Tools = []providers.Tool{{Name: "search", Schema: json.RawMessage(`{"type": "object"}`)}}
		res := calltest.Generate(t, p, r)
		require.Equal(t, providers.ToolCalls, res.FinishReason)
		require.JSONEq(t, want, string(res.Parts[0].ToolCall.Arguments))
	}
}

// The service cannot read an item back that has no encrypted content, because it stores nothing.
func TestReasoningWithoutContentIsNotKept(t *testing.T) {
	p, _ := responder(t, openai.Config{}, fakellm.Reply{RawLines: separate([]string{
		`data: {"type": "response.output_item.done", "item": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": null}}`,
		`data: {"type": "response.output_text.delta", "delta": "So."}`, `data: {"type": "response.completed"}`,
	})})
	res := calltest.Generate(t, p, ask)
	require.Empty(t, res.Parts)
}

func TestPartsOfASummaryAreSeparated(t *testing.T) {
	p, _ := responder(t, openai.Config{}, fakellm.Reply{RawLines: separate([]string{
		`data: {"type": "response.reasoning_summary_part.added", "summary_index": 0}`, `data: {"type": "response.reasoning_summary_text.delta", "delta": "One."}`,
		`data: {"type": "response.reasoning_summary_part.added", "summary_index": 1}`, `data: {"type": "response.reasoning_summary_text.delta", "delta": "Two."}`,
		`data: {"type": "response.output_text.delta", "delta": "So."}`, `data: {"type": "response.completed"}`,
	})})
	res := calltest.Generate(t, p, ask)
	require.Equal(t, "One.\n\nTwo.", res.Parts[0].Reasoning.Text)
}
