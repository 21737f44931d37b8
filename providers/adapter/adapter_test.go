package adapter_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/adapter"
	"github.com/elenchus-go/debate/providers/providertest"
	"github.com/elenchus-go/debate/transcript"
)

// player is a model that plays the replies of the suite.
type player struct {
	mu      sync.Mutex
	replies []providertest.Reply
}

func (p *player) stream(ctx context.Context, _ providers.Request, add adapter.Add) error {
	p.mu.Lock()
	r := p.replies[0]
	p.replies = p.replies[1:]
	p.mu.Unlock()
	if r.Arrived != nil {
		r.Arrived()
	}
	err := add(adapter.Chunk{Reasoning: r.Reasoning, Model: "m-1"})
	for _, text := range r.Chunks {
		err = cmp.Or(err, add(adapter.Chunk{Text: text}))
	}
	switch {
	case err != nil:
		return err
	case r.Hang:
		<-ctx.Done()
		return nil
	case r.RetryAfter > 0:
		return fmt.Errorf("error, status code: 429, message: Please try again in %v.", r.RetryAfter) //nolint:revive // a service's text
	case r.Fail != "":
		return errors.New(errorTexts[r.Fail])
	}
	return add(adapter.Chunk{ToolCalls: r.ToolCalls, FinishReason: cmp.Or(string(r.FinishReason), "stop"), Usage: r.Usage})
}

// errorTexts lists errors as clients of services write them.
var errorTexts = map[providers.ErrorKind]string{
	providers.RateLimit: "Error 429, Message: Slow down., Status: RESOURCE_EXHAUSTED", providers.ServerError: `POST "https://example.com/v1": 502 Bad Gateway`,
	providers.Timeout: "error, status code: 504", providers.ContextOverflow: "prompt is too long: 212400 tokens > 200000 maximum",
	providers.Authentication: "Error code: 401 - {}", providers.InvalidRequest: "googleapi: Error 404: no such model", providers.Network: "unexpected EOF",
}

func TestContract(t *testing.T) {
	for name, tools := range map[string]bool{"with tools": true, "without tools": false} {
		t.Run(name, func(t *testing.T) {
			calltest.RunModel(t, func(int) bool { return false }, func(replies []providertest.Reply) providers.Provider {
				return &adapter.Provider{Stream: (&player{replies: replies}).stream, Tools: tools}
			})
		})
	}
}

// A function that supports tools gets rounds in a form that services accept.
func TestRounds(t *testing.T) {
	var got providers.Request
	p := &adapter.Provider{Tools: true, Stream: func(_ context.Context, r providers.Request, add adapter.Add) error {
		got = r
		return add(adapter.Chunk{Text: "So."})
	}}
	r := calltest.Ask()
	r.Tools, r.ToolChoice = []providers.Tool{{Name: "today"}}, "none"
	r.Messages = append(r.Messages,
		providers.Message{Role: providers.Assistant, Parts: []providers.Part{
			{Reasoning: &providers.Reasoning{Text: "Hm."}}, {Text: "I look."}, {ToolCall: &providers.ToolCall{ID: "call 1", Name: "today", Arguments: json.RawMessage(`"x"`)}},
		}},
		providers.Message{Role: providers.User, Parts: []providers.Part{{Text: "Go on."}, {ToolResult: &providers.ToolResult{ID: "call 1", Text: "Monday."}}}})
	calltest.Generate(t, p, r)
	require.Equal(t, r.Tools, got.Tools)
	require.Equal(t, "none", got.ToolChoice)
	require.Equal(t, []providers.Message{
		{Role: providers.Assistant, Parts: []providers.Part{{Text: "I look."}, {ToolCall: &providers.ToolCall{ID: "call00001", Name: "today", Arguments: json.RawMessage(`{}`)}}}},
		{Role: providers.User, Parts: []providers.Part{{ToolResult: &providers.ToolResult{ID: "call00001", Name: "today", Text: "Monday."}}, {Text: "Go on."}}},
	}, got.Messages[len(got.Messages)-2:])
}

// adds returns a provider that adds the chunks and then returns err.
func adds(err error, chunks ...adapter.Chunk) *adapter.Provider {
	return &adapter.Provider{Stream: func(_ context.Context, _ providers.Request, add adapter.Add) error {
		for _, c := range chunks {
			if err := add(c); err != nil {
				return err
			}
		}
		return err
	}}
}

func TestHiddenReasoningIsOutput(t *testing.T) {
	u := transcript.Usage{Input: 100, Output: 10}
	res := calltest.Generate(t, adds(nil, adapter.Chunk{Text: "So.", Usage: u, Total: 150}), calltest.Ask())
	require.Equal(t, transcript.Usage{Input: 100, Output: 50, Reasoning: 40}, res.Usage)
}

func TestFinishReasons(t *testing.T) {
	for word, want := range map[string]providers.FinishReason{
		"stop": providers.Stop, "STOP": providers.Stop, "end_turn": providers.Stop, "FinishReasonStop": providers.Stop,
		"length": providers.Length, "MAX_TOKENS": providers.Length, "max_tokens": providers.Length,
		"SAFETY": providers.ContentFilter, "content_filter": providers.ContentFilter, "null": "", "": "",
	} {
		res := calltest.Generate(t, adds(nil, adapter.Chunk{Text: "So."}, adapter.Chunk{FinishReason: word}), calltest.Ask())
		require.Equal(t, want, res.FinishReason, word)
	}
}

// The model gets messages in a form that all services accept, and cannot pass chunks past the adapter.
func TestRequests(t *testing.T) {
	var got providers.Request
	p := &adapter.Provider{Stream: func(_ context.Context, r providers.Request, add adapter.Add) error {
		got = r
		return add(adapter.Chunk{Text: "So."})
	}}
	r := providers.Request{Messages: []providers.Message{
		{Role: providers.System, Text: "Argue."},
		{Role: providers.Assistant, Text: "So."},
		{Role: providers.User, Text: "Why?"},
		{Role: providers.User, Text: "Why?"},
		{Role: providers.Assistant, Parts: []providers.Part{{Reasoning: &providers.Reasoning{Data: []byte("7")}}, {Text: "Hm."}, {Text: "No."}}},
	}, MaxTokens: 7}
	_, err := p.Generate(t.Context(), r)
	require.NoError(t, err)
	require.Nil(t, got.OnChunk)
	require.Equal(t, providers.Request{MaxTokens: 7, Messages: []providers.Message{
		{Role: providers.System, Text: "Argue."},
		{Role: providers.User, Text: "(The debate begins.)"},
		{Role: providers.Assistant, Text: "So."},
		{Role: providers.User, Text: "Why?\n\nWhy?"},
		{Role: providers.Assistant, Text: "Hm.\n\nNo."},
	}}, got)

	r.OnChunk = func(string) error { return nil }
	calltest.Generate(t, p, r)
	require.NotNil(t, got.OnChunk)

	for _, refused := range []providers.Request{
		{},
		{Messages: r.Messages, Tools: []providers.Tool{{Name: "search"}}},
		{Messages: []providers.Message{{Role: providers.User, Parts: []providers.Part{{ToolResult: &providers.ToolResult{}}}}}},
	} {
		_, err = p.Generate(t.Context(), refused)
		_ = calltest.RequireKind(t, providers.InvalidRequest, err)
	}
}

// coded is an error with the HTTPCode method of Google's errors.
type coded int

func (c coded) Error() string { return "refused" }
func (c coded) HTTPCode() int { return int(c) }

func TestErrors(t *testing.T) {
	secret := "sk-" + "abcdefghijklmnopqrstuvwxyz0123456789"
	own := errors.New("own")
	for name, test := range map[string]struct {
		err  error
		want providers.ErrorKind
	}{
		"a kind of its own":   {&providers.Error{Kind: providers.Billing}, providers.Billing},
		"a kind by its type":  {own, providers.OutOfMemory},
		"the end of a stream": {io.ErrUnexpectedEOF, providers.Network},
		"a quoted key":        {errors.New("status code 401: the key " + secret + " is wrong"), providers.Authentication},
		"no status":           {errors.New("used 450 tokens of 500"), providers.ServerError},
		"a status by method":  {coded(429), providers.RateLimit},
		"no connection":       {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, providers.Network},
		"a broken connection": {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, providers.Network},
		"a slow connection":   {&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, providers.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			p := adds(test.err, adapter.Chunk{Text: "I was"})
			p.Kind = func(err error) providers.ErrorKind {
				if errors.Is(err, own) {
					return providers.OutOfMemory
				}
				return ""
			}
			_, err := p.Generate(t.Context(), calltest.Ask())
			failed := calltest.RequireKind(t, test.want, err)
			require.Equal(t, "I was", failed.Partial.Text)
			require.NotContains(t, err.Error(), secret)
		})
	}
}

func TestAPanicIsAnError(t *testing.T) {
	p := &adapter.Provider{Stream: func(context.Context, providers.Request, adapter.Add) error { panic("oh") }}
	_, err := p.Generate(t.Context(), calltest.Ask())
	require.ErrorContains(t, calltest.RequireKind(t, providers.Panic, err), "oh")
}

// Only silence counts: an empty chunk shows that the model is at work.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &adapter.Provider{Stream: func(ctx context.Context, _ providers.Request, add adapter.Add) error {
			time.Sleep(100 * time.Second)
			_ = add(adapter.Chunk{})
			time.Sleep(100 * time.Second)
			_ = add(adapter.Chunk{Text: "So."})
			<-ctx.Done()
			return ctx.Err()
		}}
		began := time.Now()
		_, err := p.Generate(calltest.Forever(t), calltest.Ask())
		require.Equal(t, "So.", calltest.RequireKind(t, providers.Timeout, err).Partial.Text)
		require.Equal(t, 320*time.Second, time.Since(began))

		p.Timeout = -1
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err = p.Generate(ctx, calltest.Ask())
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestUnsupported(t *testing.T) {
	seed := int64(7)
	p := &adapter.Provider{Settings: map[string]string{"seed": "remove it", "stop": "remove it"}}
	require.Empty(t, p.Unsupported(providers.Request{TopP: 0.5, Reasoning: "low"}))
	require.Equal(t, map[string]string{"seed": "remove it"}, p.Unsupported(providers.Request{Seed: &seed}))
}

func TestAgentText(t *testing.T) {
	long := strings.Repeat("It is so. ", 30)
	for name, test := range map[string]struct {
		messages [][]string
		want     []string
	}{
		"nothing":                             {nil, nil},
		"a short message":                     {[][]string{{"Be", "cause."}}, []string{"Because."}},
		"a long message":                      {[][]string{{"Be", "cause. ", long, "So", "."}}, []string{"Because. " + long, "So", "."}},
		"only the last of short messages":     {[][]string{{"Let me ", "look."}, {"One moment."}, {"Be", "cause."}}, []string{"Because."}},
		"a long message that is not the last": {[][]string{{long}, {"Let me look."}, {"Because."}}, []string{long, "\n\nBecause."}},
		"two long messages":                   {[][]string{{long, "So."}, {long, "So."}}, []string{long, "So.", "\n\n" + long, "So."}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			a := adapter.AgentText{Add: func(c adapter.Chunk) error {
				if c.Text != "" {
					got = append(got, c.Text)
				}
				return nil
			}}
			for _, m := range test.messages {
				a.Next()
				for _, piece := range m {
					require.NoError(t, a.Say(piece))
				}
			}
			require.NoError(t, a.End())
			require.Equal(t, test.want, got)
		})
	}
}

// A model without a system prompt gets it in the first message of the user, and is not asked again whether it has one.
func TestModelsWithoutASystemPrompt(t *testing.T) {
	for words, moves := range map[string]bool{
		"error, status code: 400, message: System role not supported":                              true,
		"Error code: 422 - messages.0.role: Input should be 'user' or 'assistant'":                 true,
		"googleapi: Error 400: Developer instruction is not enabled for models/gemma-3-27b-it":     true,
		"jinja2.exceptions.TemplateError: Conversation roles must alternate user/assistant":        true,
		"API returned unexpected status code: 500: Only user and assistant roles are supported!":   true,
		"Error code: 400 - the system prompt is too long":                                          false,
		"error, status code: 500, message: the operating system has not enough resources for that": false,
	} {
		t.Run(words, func(t *testing.T) {
			var roles []string
			p := &adapter.Provider{Stream: func(_ context.Context, r providers.Request, add adapter.Add) error {
				first := r.Messages[0]
				roles = append(roles, string(first.Role))
				if first.Role == providers.System {
					return errors.New(words)
				}
				return add(adapter.Chunk{Text: first.Text, FinishReason: "stop"})
			}}
			r := providers.Request{Model: "m", Messages: []providers.Message{{Role: providers.System, Text: "Be brief."}, {Role: providers.User, Text: "Why?"}}}
			res, err := p.Generate(t.Context(), r)
			if !moves {
				require.Error(t, err)
				require.Equal(t, []string{"system"}, roles)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "Be brief.\n\nWhy?", res.Text)
			require.Contains(t, strings.Join(res.Warnings, "\n"), "model m does not support: the role system")
			res, err = p.Generate(t.Context(), r)
			require.NoError(t, err)
			require.Empty(t, res.Warnings)
			require.Equal(t, []string{"system", "user", "user"}, roles)
		})
	}
}
