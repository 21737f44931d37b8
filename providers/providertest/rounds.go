package providertest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

// sampleTools are the tools of sampleCalls.
var sampleTools = []providers.Tool{
	{Name: "search", Description: "Searches.", Schema: json.RawMessage(`{"type": "object", "properties": {"query": {"type": "string"}}}`)},
	{Name: "today", Schema: json.RawMessage(`{"type": "object"}`)},
}

// callReply returns a reply with tool calls.
func callReply(reasoning string, chunks []string, calls ...providers.ToolCall) Reply {
	return Reply{Reasoning: reasoning, Chunks: chunks, ToolCalls: calls, FinishReason: providers.ToolCalls, Usage: sampleReply.Usage}
}

// roundsProvider returns a provider with the replies, and a request with tools and, if the model reasons, with reasoning. It
// returns false if the model calls no tools. Then the provider must refuse such a request.
func roundsProvider(t *testing.T, h ProviderFunc, replies ...Reply) (providers.Provider, providers.Request, bool) {
	t.Helper()
	p := h(t, replies...)
	r := sampleRequest()
	r.Temperature = nil
	r.MaxTokens = 8192
	r.Tools = sampleTools
	r.Reasoning = "2048"
	l, ok := p.(providers.Limited)
	if !ok {
		r.Reasoning = ""
		return p, r, true
	}
	for _, r.Reasoning = range []string{"2048", "high", ""} {
		if l.Unsupported(r)["reasoning"] == "" {
			break
		}
	}
	if l.Unsupported(r)["tools"] == "" {
		return p, r, true
	}
	res, err := p.Generate(t.Context(), r)
	_ = requireKind(t, providers.InvalidRequest, res, err)
	r.Tools = nil
	r.Messages = addRound(r, []providers.Part{{ToolCall: &sampleCalls[1]}})
	res, err = p.Generate(t.Context(), r)
	_ = requireKind(t, providers.InvalidRequest, res, err)
	return nil, r, false
}

// addRound returns the messages of a request with one more round: the parts of a reply, and a result for each call.
func addRound(r providers.Request, parts []providers.Part) []providers.Message {
	var results []providers.Part
	for _, p := range parts {
		if p.ToolCall != nil {
			results = append(results, providers.Part{ToolResult: &providers.ToolResult{ID: p.ToolCall.ID, Name: p.ToolCall.Name, Text: "nothing"}})
		}
	}
	return append(slices.Clip(r.Messages), providers.Message{Role: providers.Assistant, Parts: parts}, providers.Message{Role: providers.User, Parts: results})
}

// testToolRounds plays two rounds, the final reply, and a question about it.
func testToolRounds(t *testing.T, h ProviderFunc) {
	first := callReply("I need facts.", []string{"Let me ", "look."}, sampleCalls...)
	second := callReply("More facts.", nil, sampleCalls[0])
	p, r, ok := roundsProvider(t, h, first, second, sampleReply, sampleReply, sampleReply)
	if !ok {
		return
	}
	for _, want := range []Reply{first, second} {
		res, err := p.Generate(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, want.text(), res.Text)
		require.Equal(t, providers.ToolCalls, res.FinishReason)
		require.Empty(t, res.Warnings, "a service's own rounds need no change")
		requireCalls(t, want.ToolCalls, res)
		r.Messages = addRound(r, res.Parts)
	}
	res, err := p.Generate(t.Context(), r)
	require.NoError(t, err)
	requireReply(t, sampleReply, res)
	again := r
	again.Messages = append(slices.Clip(r.Messages), providers.Message{Role: providers.Assistant, Text: res.Text}, providers.Message{Role: providers.User, Text: "Say it again."})
	again.ToolChoice = "none"
	res, err = p.Generate(t.Context(), again)
	require.NoError(t, err, "a question may follow the rounds")
	requireReply(t, sampleReply, res)
	last := &r.Messages[len(r.Messages)-1]
	last.Parts = append(slices.Clone(last.Parts), providers.Part{Text: "Reply now."})
	r.ToolChoice = "none"
	res, err = p.Generate(t.Context(), r)
	require.NoError(t, err, "a text may follow the results")
	requireReply(t, sampleReply, res)
}

// requireCalls requires a response to have the calls.
func requireCalls(t *testing.T, want []providers.ToolCall, res providers.Response) {
	t.Helper()
	n := 0
	for _, part := range res.Parts {
		if part.ToolCall != nil {
			require.Less(t, n, len(want))
			require.Equal(t, want[n].Name, part.ToolCall.Name)
			require.JSONEq(t, string(want[n].Arguments), string(part.ToolCall.Arguments))
			n++
		}
	}
	require.Len(t, want, n)
}

// foreignRounds are rounds in the forms of other services: the parts of an assistant's message.
var foreignRounds = map[string][]providers.Part{
	"no ID":          {{ToolCall: &providers.ToolCall{Name: "search", Arguments: json.RawMessage(`{"query": "a"}`)}}},
	"two without ID": {{ToolCall: &providers.ToolCall{Name: "search", Arguments: json.RawMessage(`{"query": "a"}`)}}, {ToolCall: &providers.ToolCall{Name: "search", Arguments: json.RawMessage(`{"query": "b"}`)}}},
	"space in ID":    {{ToolCall: &providers.ToolCall{ID: "call 1", Name: "today", Arguments: json.RawMessage(`{}`)}}},
	"marks in ID":    {{ToolCall: &providers.ToolCall{ID: "functions.search:0", Name: "search", Arguments: json.RawMessage(`{}`)}}},
	"letters in ID":  {{ToolCall: &providers.ToolCall{ID: "调用", Name: "today", Arguments: json.RawMessage(`{}`)}}},
	"long ID":        {{ToolCall: &providers.ToolCall{ID: strings.Repeat("x", 100), Name: "today", Arguments: json.RawMessage(`{}`)}}},
	"same ID twice":  {{ToolCall: &providers.ToolCall{ID: "1", Name: "search", Arguments: json.RawMessage(`{}`)}}, {ToolCall: &providers.ToolCall{ID: "1", Name: "today", Arguments: json.RawMessage(`{}`)}}},
	"blank text":     {{Text: "\n\n"}, {ToolCall: &providers.ToolCall{ID: "call-1", Name: "today", Arguments: json.RawMessage(`{}`)}}, {Text: " "}},
	"reasoning": {
		{Reasoning: &providers.Reasoning{Text: "Hm.", Service: "elsewhere"}},
		{Reasoning: &providers.Reasoning{Service: "elsewhere", Data: json.RawMessage(`{"type": "thinking"}`)}},
		{Text: "I look."},
		{ToolCall: &providers.ToolCall{ID: "call-1", Name: "today", Arguments: json.RawMessage(`{}`)}},
	},
}

// testForeignRounds sends rounds of other services, each twice and followed by a round of the provider's own, as after a
// change of the model within a loop.
func testForeignRounds(t *testing.T, h ProviderFunc) {
	for name, parts := range foreignRounds {
		t.Run(name, func(t *testing.T) { testRounds(t, h, parts) })
	}
}

// testRounds sends two equal rounds and one of the provider's own.
func testRounds(t *testing.T, h ProviderFunc, parts []providers.Part) {
	p, r, ok := roundsProvider(t, h, callReply("", []string{"I look."}, sampleCalls...), sampleReply)
	if !ok {
		return
	}
	given, err := json.Marshal(parts)
	require.NoError(t, err)
	for range 2 {
		r.Messages = addRound(r, parts)
	}
	res, err := p.Generate(t.Context(), r)
	require.NoError(t, err)
	requireCalls(t, sampleCalls, res)
	r.Messages = addRound(r, res.Parts)
	res, err = p.Generate(t.Context(), r)
	require.NoError(t, err)
	requireReply(t, sampleReply, res)
	after, err := json.Marshal(parts)
	require.NoError(t, err)
	require.Equal(t, string(given), string(after), "the provider changes copies")
}

func testMalformedArguments(t *testing.T, h ProviderFunc) {
	for _, arguments := range []string{"", `"{\"query\": "`, `[1]`, `7`, `null`, `{"query": `, `true`, ` `} {
		t.Run(arguments, func(t *testing.T) {
			c := &providers.ToolCall{ID: "call-1", Name: "search"}
			if arguments != "" {
				c.Arguments = json.RawMessage(arguments)
			}
			if !json.Valid(c.Arguments) { // nothing can encode it, so it cannot be stored either
				c.Arguments, _ = json.Marshal(arguments)
			}
			testRounds(t, h, []providers.Part{{ToolCall: c}})
		})
	}
}

// testIncompleteRounds requires a provider to refuse calls without results and results without calls.
func testIncompleteRounds(t *testing.T, h ProviderFunc) {
	result := func(id string) providers.Part {
		return providers.Part{ToolResult: &providers.ToolResult{ID: id, Name: "today", Text: "Monday."}}
	}
	call := providers.Message{Role: providers.Assistant, Parts: []providers.Part{{ToolCall: &providers.ToolCall{ID: "a", Name: "today", Arguments: json.RawMessage(`{}`)}}}}
	for name, messages := range map[string][]providers.Message{
		"no result":       {call, {Role: providers.User, Text: "Go on."}},
		"no next message": {call},
		"other ID":        {call, {Role: providers.User, Parts: []providers.Part{result("b")}}},
		"two results":     {call, {Role: providers.User, Parts: []providers.Part{result("a"), result("a")}}},
		"no call":         {{Role: providers.User, Parts: []providers.Part{result("a")}}},
	} {
		t.Run(name, func(t *testing.T) {
			p, r, ok := roundsProvider(t, h, callReply("", nil, sampleCalls...)) // none is sent
			if !ok {
				return
			}
			r.Messages = append(r.Messages, messages...)
			res, err := p.Generate(t.Context(), r)
			require.Regexp(t, "call|result", requireKind(t, providers.InvalidRequest, res, err).Error())
		})
	}
}

// testToolChoice forbids calls after a round, and requires a provider to refuse an unknown choice.
func testToolChoice(t *testing.T, h ProviderFunc) {
	p := h(t, sampleReply)
	r := sampleRequest()
	r.ToolChoice = "search"
	res, err := p.Generate(t.Context(), r)
	require.Contains(t, requireKind(t, providers.InvalidRequest, res, err).Error(), "tool_choice")
	p, r, ok := roundsProvider(t, h, callReply("I look.", nil, sampleCalls...), sampleReply, callReply("", nil, sampleCalls...))
	if !ok {
		return
	}
	res, err = p.Generate(t.Context(), r)
	require.NoError(t, err)
	r.Messages, r.ToolChoice = addRound(r, res.Parts), "none"
	res, err = p.Generate(t.Context(), r)
	require.NoError(t, err)
	requireReply(t, sampleReply, res)
	res, err = p.Generate(t.Context(), r)
	require.Contains(t, requireKind(t, providers.InvalidResponse, res, err).Error(), "tool", "a model that calls although it must not gave no reply")
}

// testSchemaWithTools gathers with tools and a schema, and then asks for the reply with no calls allowed.
func testSchemaWithTools(t *testing.T, h ProviderFunc) {
	verdict := Reply{Chunks: []string{`{"score"`, `: 7}`}, Usage: sampleReply.Usage}
	p, r, ok := roundsProvider(t, h, callReply("I look.", nil, sampleCalls...), sampleReply, verdict, verdict)
	if !ok {
		return
	}
	r.SchemaName = "assessment/1"
	r.Schema = json.RawMessage(`{"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"], "additionalProperties": false}`)
	excluded := false
	if l, ok := p.(providers.Limited); ok {
		excluded = l.Unsupported(r)["schema"] != ""
	}
	for range 2 { // a round, and a reply that is not valid
		res, err := p.Generate(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, excluded, strings.Contains(strings.Join(res.Warnings, "\n"), "schema"), "a warning says that the schema is not sent: %q", res.Warnings)
		if res.FinishReason == providers.ToolCalls {
			r.Messages = addRound(r, res.Parts)
		}
	}
	forbidden := r
	forbidden.ToolChoice = "none"
	without := r
	without.Tools = nil
	for _, r := range []providers.Request{forbidden, without} {
		if l, ok := p.(providers.Limited); ok {
			require.NotContains(t, l.Unsupported(r), "schema")
		}
		res, err := p.Generate(t.Context(), r)
		require.NoError(t, err)
		require.Empty(t, res.Warnings)
		require.JSONEq(t, verdict.text(), res.Text)
	}
}
