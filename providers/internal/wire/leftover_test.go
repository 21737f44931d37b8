package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
)

const channels = "<|channel|>analysis<|message|>We should argue.<|end|><|start|>assistant<|channel|>final<|message|>Edge caches cut the tail."

// thoughtOf returns the readable reasoning of a response.
func thoughtOf(res providers.Response) (text string) {
	for _, p := range res.Parts {
		if p.Reasoning != nil {
			text += p.Reasoning.Text
		}
	}
	return text
}

// splits returns replies that send a text in pieces of several sizes, and at once.
func splits(text string) (list []fakellm.Reply) {
	for _, size := range []int{1, 7, 1000} {
		var chunks []string
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			chunks = append(chunks, rest[:n])
			rest = rest[n:]
		}
		list = append(list, fakellm.Reply{Chunks: chunks})
	}
	return append(list, fakellm.Reply{Chunks: []string{text}, Whole: true})
}

func TestLeftoversOfTemplates(t *testing.T) {
	for name, test := range map[string]struct{ sent, text, thought, warning string }{
		"channels":           {channels, "Edge caches cut the tail.", "We should argue.", "leftovers of a chat template, which were removed: <|channel|>, <|end|>, <|start|>"},
		"words of channels":  {"analysisWe should argue.assistantfinalEdge caches cut the tail.", "Edge caches cut the tail.", "We should argue.", "which were removed: analysis, assistantfinal"},
		"an end":             {"Edge caches cut the tail.<|im_end|>", "Edge caches cut the tail.", "", "which were removed: <|im_end|>"},
		"another message":    {"Edge caches cut the tail.<|im_end|>\n<|im_start|>user\nBut why?", "Edge caches cut the tail.", "", `8 bytes of messages of others, or after the end of the reply, were left out: "But why?"`},
		"a name":             {"assistant: Edge caches cut the tail.", "Edge caches cut the tail.", "", "which were removed: assistant:"},
		"began in reasoning": {"We should argue.<|end|><|start|>assistant<|channel|>final<|message|>Edge caches cut the tail.", "Edge caches cut the tail.", "We should argue.", "<|end|>"},
		"nothing":            {"Edge caches cut the tail.", "Edge caches cut the tail.", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, reply := range splits(test.sent) {
				each(t, []fakellm.Reply{reply}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
					both(t, p, func(res providers.Response, err error, heard string) {
						require.NoError(t, err)
						require.Equal(t, test.text, res.Text)
						require.Equal(t, test.thought, thoughtOf(res))
						require.True(t, strings.HasSuffix(heard, res.Text) || heard == "")
						require.Equal(t, providers.Stop, res.FinishReason)
						require.Contains(t, strings.Join(res.Warnings, "\n"), test.warning)
						require.Equal(t, test.warning == "", len(res.Warnings) == 0)
					})
				})
			}
		})
	}
}

const toolCall = `<tool_call>{"name": "search", "arguments": {"query": "edge"}}</tool_call>`

func TestCallsInTheText(t *testing.T) {
	tools := []providers.Tool{{Name: "search", Schema: json.RawMessage(`{"type": "object"}`)}}
	for name, test := range map[string]struct {
		sent    string
		request providers.Request
		text    string
		calls   string
		kind    providers.ErrorKind
	}{
		"of a tool":               {toolCall, providers.Request{Tools: tools}, "", `search {"query": "edge"}`, ""},
		"of a tool, after text":   {"Let me look. " + toolCall, providers.Request{Tools: tools}, "Let me look. ", `search {"query": "edge"}`, ""},
		"of no tool":              {toolCall, providers.Request{}, "", "", providers.InvalidResponse},
		"of no tool, after text":  {"Let me look. " + toolCall, providers.Request{}, "Let me look. ", "", providers.InvalidResponse},
		"of another tool":         {strings.Replace(toolCall, "search", "fetch", 1), providers.Request{Tools: tools}, "", "", providers.InvalidResponse},
		"of a tool now forbidden": {toolCall, providers.Request{Tools: tools, ToolChoice: "none"}, "", "", providers.InvalidResponse},
		"by a channel":            {`<|channel|>commentary to=functions.search<|message|>{"query": "edge"}<|call|>`, providers.Request{Tools: tools}, "", `search {"query": "edge"}`, ""},
		"instead of JSON": {
			`<tool_call>{"name": "verdict", "arguments": {"winner": "Ada"}}</tool_call>`,
			providers.Request{SchemaName: "verdict/1"},
			`{"name": "verdict", "arguments": {"winner": "Ada"}}`, "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, reply := range splits(test.sent) {
				each(t, []fakellm.Reply{reply}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
					r := test.request
					r.Messages = calltest.Ask().Messages
					res, err := p.Generate(calltest.Forever(t), r)
					if test.kind != "" {
						e := calltest.RequireKind(t, test.kind, err)
						require.ErrorContains(t, err, "the model called a tool instead of replying")
						require.Equal(t, test.text, e.Partial.Text)
						return
					}
					require.NoError(t, err)
					require.Equal(t, test.text, res.Text)
					calls := ""
					for _, part := range res.Parts {
						if part.ToolCall != nil {
							calls += part.ToolCall.Name + " " + string(part.ToolCall.Arguments)
						}
					}
					require.Equal(t, test.calls, calls)
					if calls != "" {
						require.Equal(t, providers.ToolCalls, res.FinishReason)
					}
				})
			}
		})
	}
}

// Reasoning without a reply is no reply.
func TestOnlyReasoningInChannels(t *testing.T) {
	each(t, []fakellm.Reply{{Chunks: []string{"<|channel|>analysis<|message|>We should argue."}}}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
		_, err := p.Generate(calltest.Forever(t), calltest.Ask())
		require.ErrorContains(t, calltest.RequireKind(t, providers.InvalidResponse, err), "the model reasoned, but wrote no reply")
	})
}

// What arrived of a stream that broke off has no marks.
func TestAPartHasNoMarks(t *testing.T) {
	each(t, []fakellm.Reply{{Chunks: []string{"<|channel|>final<|message|>Edge caches cut", " the tail.<|e"}, EndEarly: true}}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
		_, err := p.Generate(calltest.Forever(t), calltest.Ask())
		require.Equal(t, "Edge caches cut the tail.", calltest.RequireKind(t, providers.Network, err).Partial.Text)
	})
}
