package wire_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/openai"
	"github.com/elenchus-go/debate/transcript"
)

// finished is the end of a reply of a server that keeps the connection open.
var finished = []string{`data: {"choices": [{"delta": {"content": "So."}, "finish_reason": "stop"}]}`, "", `data: {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 2}}`, "", ""}

// openProvider returns a provider of a server that sends a finish reason and usage, and then nothing.
func openProvider(t *testing.T, timeout time.Duration) providers.Provider {
	s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{RawLines: finished, Hang: true})
	p, err := openai.New(openai.Config{Model: "m", BaseURL: "http://service/v1", HTTPClient: s.Client(t), Timeout: timeout})
	require.NoError(t, err)
	return p
}

// A connection that stays open after the finish reason costs seconds, and not the timeout. The usage that follows is read.
func TestAConnectionThatStaysOpen(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Hour, -1} {
		t.Run(fmt.Sprint(timeout), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				res, err := openProvider(t, timeout).Generate(calltest.Forever(t), calltest.Ask())
				require.NoError(t, err)
				require.Equal(t, "So.", res.Text)
				require.Equal(t, transcript.Usage{Input: 10, Output: 2}, res.Usage)
				require.Less(t, time.Since(began), 5*time.Second)
			})
		})
	}
}

// If the caller's context ends while the connection is open, the reply is kept.
func TestAContextThatEndsAfterTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(calltest.Forever(t), time.Second)
		defer cancel()
		res, err := openProvider(t, 0).Generate(ctx, calltest.Ask())
		require.NoError(t, err)
		require.Equal(t, "So.", res.Text)
	})
}

// Lines may end with a carriage return alone, also if it is the last byte that has arrived.
func TestCarriageReturns(t *testing.T) {
	for name, end := range map[string]string{"CR": "\r", "LF": "\n", "CRLF": "\r\n"} {
		for _, trickle := range []bool{false, true} {
			t.Run(fmt.Sprint(name, trickle), func(t *testing.T) {
				stream := strings.Join([]string{
					": ping", `data: {"choices": [{"delta": {"content": "Be"}}]}`, "",
					`data: {"choices": [{"delta":`, `data: {"content": "cause."}, "finish_reason": "stop"}]}`, "", "data: [DONE]", "", "",
				}, end)
				s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{RawLines: []string{stream}, Trickle: trickle})
				var heard []string
				res := calltest.Generate(t, service(t, fakellm.OpenAI, s.Client(t), nil), calltest.Listen(&heard))
				require.Equal(t, "Because.", res.Text)
				require.Equal(t, []string{"Be", "cause."}, heard)
			})
		}
	}
}

// Google sends an array if it is not asked for server-sent events. Each element is passed on when it has arrived.
func TestArrays(t *testing.T) {
	const first, last = `{"candidates": [{"content": {"parts": [{"text": "Be"}]}}]}`, `{"candidates": [{"content": {"parts": [{"text": "cause."}]}, "finishReason": "STOP"}]}`
	for name, test := range map[string]struct {
		stream string
		kind   providers.ErrorKind
	}{
		"whole":             {"[" + first + "\n,\r\n" + last + "]", ""},
		"cut after the end": {"[" + first + "," + last, ""},
		"cut before":        {"[" + first + "," + last[:40], providers.Network},
		"empty":             {"[]", providers.Network},
		"too long":          {"[" + first + `,{"x": "` + strings.Repeat("x", 9<<20) + `"}]`, providers.InvalidResponse},
		"no array":          {"[" + first + " oops", providers.InvalidResponse},
	} {
		t.Run(name, func(t *testing.T) {
			s := fakellm.Start(t, fakellm.Google, fakellm.Reply{RawLines: []string{test.stream}})
			var heard []string
			res, err := service(t, fakellm.Google, s.Client(t), nil).Generate(t.Context(), calltest.Listen(&heard))
			if test.kind != "" {
				_ = calltest.RequireKind(t, test.kind, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "Because.", res.Text)
		})
	}
}

// A value between events that is no JSON is malformed, and does not hide what follows it.
func TestMalformedValuesBetweenEvents(t *testing.T) {
	for name, test := range map[string]struct {
		lines []string
		kind  providers.ErrorKind
	}{
		"followed by an event": {[]string{"{ oops", `data: {"choices": [{"delta": {"content": "So."}, "finish_reason": "stop"}]}`, ""}, providers.InvalidResponse},
		"cut off":              {[]string{"{", `  "error": {`}, providers.Network},
		"long":                 {[]string{"{", strings.Repeat("x", 70<<10), "}", ""}, providers.InvalidResponse},
	} {
		t.Run(name, func(t *testing.T) {
			s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Chunks: []string{"So "}, RawLines: test.lines})
			_, err := service(t, fakellm.OpenAI, s.Client(t), nil).Generate(t.Context(), calltest.Listen(new([]string)))
			_ = calltest.RequireKind(t, test.kind, err)
		})
	}
}

// Services mark parallel tool calls in several ways.
func TestParallelToolCalls(t *testing.T) {
	call := func(index, id, name, arguments string) string {
		return fmt.Sprintf(`{%s "id": %q, "function": {"name": %q, "arguments": %q}}`, index, id, name, arguments)
	}
	const zero = `"index": 0,`
	for name, pieces := range map[string][]string{
		"no index, in one event":       {call("", "a", "look", `{"x":1}`) + "," + call("", "b", "look", `{"x":2}`)},
		"index 0, in two events":       {call(zero, "a", "look", `{"x":1}`), call(zero, "b", "look", `{"x":2}`)},
		"neither index nor ID":         {call("", "", "look", `{"x":1}`) + "," + call("", "", "look", `{"x":2}`)},
		"index 0, in pieces":           {call(zero, "a", "look", ""), call(zero, "", "", `{"x"`), call(zero, "", "", `:1}`), call(zero, "b", "look", `{"x"`), call(zero, "", "", `:2}`)},
		"with indexes":                 {call(zero, "a", "look", `{"x":1}`), call(`"index": 1,`, "b", "look", ""), call(`"index": 1,`, "", "", `{"x":2}`)},
		"the same ID with each piece":  {call(zero, "a", "look", `{"x"`), call(zero, "a", "look", `:1}`), call(zero, "b", "look", `{"x"`), call(zero, "b", "look", `:2}`)},
		"the name with an empty piece": {call(zero, "", "look", `{"x":1}`), call(zero, "", "look", ""), call(`"index": 1,`, "", "look", `{"x":2}`)},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			for _, piece := range pieces {
				lines = append(lines, `data: {"choices": [{"delta": {"tool_calls": [`+piece+`]}}]}`, "")
			}
			lines = append(lines, `data: {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}`, "", "data: [DONE]", "")
			s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{RawLines: lines})
			r := calltest.Ask()
			r.Tools = []providers.Tool{{Name: "look", Schema: []byte(`{"type": "object"}`)}}
			res := calltest.Generate(t, service(t, fakellm.OpenAI, s.Client(t), nil), r)
			require.Len(t, res.Parts, 2)
			for i, part := range res.Parts {
				require.Equal(t, "look", part.ToolCall.Name)
				require.JSONEq(t, fmt.Sprintf(`{"x":%d}`, i+1), string(part.ToolCall.Arguments))
			}
		})
	}
}

// Counts of tokens may be written with a fraction or as text.
func TestCountsOfAnyForm(t *testing.T) {
	for text, want := range map[string]int{"10": 10, "10.0": 10, `"10"`: 10, "1e1": 10, "null": 0, "-5": 0, "1e300": 0, `"many"`: 0, "[]": 0} {
		s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{RawLines: []string{
			`data: {"choices": [{"delta": {"content": "So."}, "finish_reason": "stop"}], "usage": {"prompt_tokens": ` + text + `, "completion_tokens": 7}}`, "", "data: [DONE]", "",
		}})
		res := calltest.Generate(t, service(t, fakellm.OpenAI, s.Client(t), nil), calltest.Ask())
		require.Equal(t, transcript.Usage{Input: want, Output: 7}, res.Usage, text)
	}
}
