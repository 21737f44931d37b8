package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
)

const resentWarning = "the service sent text again that it had sent before"

// resentReplies are streams that send text again. The text is always the same.
var resentReplies = map[string]fakellm.Reply{
	"each piece is all text so far":      {Chunks: []string{"Edge", "Edge caches", "Edge caches cut", "Edge caches cut the tail."}},
	"the last piece is the whole text":   {Chunks: []string{"Edge ", "caches ", "cut ", "the tail.", "Edge caches cut the tail."}},
	"two pieces":                         {Chunks: []string{"Edge caches cut", "Edge caches cut the tail."}},
	"the whole text in one piece, twice": {Chunks: []string{"Edge caches cut the tail.", "Edge caches cut the tail."}},
	"with reasoning before":              {Reasoning: "Hm.", Chunks: []string{"Edge", "Edge caches", "Edge caches cut the tail."}},
}

func TestTextThatIsSentAgain(t *testing.T) {
	for name, reply := range resentReplies {
		t.Run(name, func(t *testing.T) {
			each(t, []fakellm.Reply{reply}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
				both(t, p, func(res providers.Response, err error, heard string) {
					require.NoError(t, err)
					require.Equal(t, "Edge caches cut the tail.", res.Text)
					require.Contains(t, []string{"", res.Text}, heard)
					require.Contains(t, strings.Join(res.Warnings, "\n"), resentWarning)
				})
			})
		})
	}
}

// A speaker repeats words.
func TestRepeatedWordsStay(t *testing.T) {
	for _, chunks := range [][]string{
		{"No", ",", " no", ",", " no", "."},
		{"ha", "ha", " ha"},
		{"Never again. ", "Never again. ", "I say it twice."},
		{"6", "6", "6", "6"},
		{"The edge", " and", " the edge", " again", "."},
	} {
		each(t, []fakellm.Reply{{Chunks: chunks}}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
			both(t, p, func(res providers.Response, err error, heard string) {
				require.NoError(t, err)
				require.Equal(t, strings.Join(chunks, ""), res.Text)
				require.Contains(t, []string{"", res.Text}, heard)
				require.NotContains(t, strings.Join(res.Warnings, "\n"), resentWarning)
			})
		})
	}
}

// data returns events of OpenAI with deltas, and the end of the stream.
func data(deltas ...string) fakellm.Reply {
	var lines []string
	for _, d := range deltas {
		lines = append(lines, `data: {"choices": [{"index": 0, `+d+`}]}`, "")
	}
	return fakellm.Reply{RawLines: append(lines, `data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}`, "", "data: [DONE]", "")}
}

func TestWhatOpenAIServersSendAgain(t *testing.T) {
	const call = `"delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "search", "arguments": `
	for name, test := range map[string]struct {
		reply         fakellm.Reply
		text, thought string
		arguments     string
	}{
		"a message beside an empty delta": {
			reply: data(`"delta": {"content": "Edge "}`, `"delta": {"content": "wins."}`, `"delta": {}, "message": {"role": "assistant", "content": "Edge wins."}`), text: "Edge wins.",
		},
		"a message with more": {
			reply: data(`"delta": {"content": "Edge "}`, `"delta": {"content": "wins"}`, `"delta": {"content": ""}, "message": {"content": "Edge wins."}`), text: "Edge wins.",
		},
		"reasoning that grows": {
			reply: data(`"delta": {"reasoning_content": "Let"}`, `"delta": {"reasoning_content": "Let me"}`, `"delta": {"reasoning_content": "Let me see."}`, `"delta": {"content": "Yes."}`),
			text:  "Yes.", thought: "Let me see.",
		},
		"reasoning in two pieces": {
			reply: data(`"delta": {"reasoning": "Let me see."}`, `"delta": {"reasoning": "Let me see. It costs."}`, `"delta": {"content": "Yes."}`),
			text:  "Yes.", thought: "Let me see. It costs.",
		},
		"reasoning and text in the message": {
			reply: data(`"delta": {"reasoning": "Let "}`, `"delta": {"reasoning": "me see."}`, `"delta": {"content": "Yes, it "}`, `"delta": {"content": "does."}`,
				`"message": {"reasoning": "Let me see.", "content": "Yes, it does."}`),
			text: "Yes, it does.", thought: "Let me see.",
		},
		"arguments that grow": {
			reply:     data(call+`"{\"q"}}]}`, call+`"{\"query\": \"ed"}}]}`, call+`"{\"query\": \"edge\"}"}}]}`),
			arguments: `{"query": "edge"}`,
		},
		"arguments that grow, named once": {
			reply: data(call+`""}}]}`, `"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{\"query\""}}]}`,
				`"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{\"query\": \"edge\"}"}}]}`),
			arguments: `{"query": "edge"}`,
		},
		"arguments once more": {
			reply:     data(call+`"{\"query\": "}}]}`, call+`"\"edge\"}"}}]}`, `"message": {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "search", "arguments": "{\"query\": \"edge\"}"}}]}`),
			arguments: `{"query": "edge"}`,
		},
		"arguments twice": {
			reply:     data(call+`"{\"query\": \"edge\"}"}}]}`, call+`"{\"query\": \"edge\"}"}}]}`),
			arguments: `{"query": "edge"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := fakellm.Start(t, fakellm.OpenAI, test.reply)
			var heard []string
			r := calltest.Listen(&heard)
			r.Tools = []providers.Tool{{Name: "search", Schema: json.RawMessage(`{"type": "object"}`)}}
			res, err := service(t, fakellm.OpenAI, s.Client(t), nil).Generate(t.Context(), r)
			require.NoError(t, err)
			require.Equal(t, test.text, res.Text)
			require.Equal(t, test.text, strings.Join(heard, ""))
			require.Contains(t, strings.Join(res.Warnings, "\n"), resentWarning)
			thought, arguments := "", ""
			for _, p := range res.Parts {
				if p.Reasoning != nil {
					thought += p.Reasoning.Text
				}
				if p.ToolCall != nil {
					arguments += string(p.ToolCall.Arguments)
				}
			}
			require.Equal(t, test.thought, thought)
			require.Equal(t, test.arguments, arguments)
		})
	}
}

// What arrived of a stream that broke off has no text twice.
func TestAPartIsNotTwice(t *testing.T) {
	each(t, []fakellm.Reply{{Chunks: []string{"Edge caches", "Edge caches cut"}, EndEarly: true}}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
		_, err := p.Generate(calltest.Forever(t), calltest.Ask())
		require.Equal(t, "Edge caches cut", calltest.RequireKind(t, providers.Network, err).Partial.Text)
	})
}

// A service that changes what it has sent has sent no reply.
func TestTextThatChanges(t *testing.T) {
	each(t, []fakellm.Reply{{Chunks: []string{"Edge", "Edge caches", "Edge caches cut the", "Edge caches slice the tail."}}}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
		_, err := p.Generate(calltest.Forever(t), calltest.Ask())
		require.ErrorContains(t, calltest.RequireKind(t, providers.InvalidResponse, err), "the service changed text that it had sent")
	})
}

// A reply whose pieces are all text so far is as long as its text.
func TestTheSizeOfTextThatGrows(t *testing.T) {
	var chunks []string
	text := "So:"
	for i := range 1_000 {
		text += fmt.Sprint(" word ", i)
		chunks = append(chunks, text)
	}
	each(t, []fakellm.Reply{{Chunks: chunks}}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
		r := calltest.Ask()
		r.MaxTokens = 1_200
		res, err := p.Generate(calltest.Forever(t), r)
		require.NoError(t, err)
		require.Equal(t, text, res.Text)
	})
}
