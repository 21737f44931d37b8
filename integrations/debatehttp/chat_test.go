package debatehttp

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
)

// preset configures a debate of two participants with one round.
var preset = debate.Config{
	Protocol: panel.Protocol{Format: "round-limited"}, Limits: debate.Limits{MaxRounds: 1}, Background: "In Europe.",
	Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}}, Judges: []debate.Participant{{Name: "Judge"}},
}

// chatSite starts a server with two presets. turns sets Options.ShowTurns.
func chatSite(t *testing.T, turns bool) *site {
	o := allowing()
	o.Presets, o.ShowTurns = map[string]debate.Config{"pair": preset, "other": preset}, turns
	o.Principal = func(r *http.Request) (string, error) { return r.Header.Get("Authorization"), nil }
	return open(t, store.Memory(), o)
}

// only returns the result of the only debate.
func (s *site) only() *debate.Result {
	s.t.Helper()
	for status, err := range s.engine.List(s.t.Context(), store.Query{}) {
		require.NoError(s.t, err)
		d := debatetest.Open(s.t, s.engine, status.ID)
		return debatetest.Result(s.t, d)
	}
	require.Fail(s.t, "there is no debate")
	return nil
}

// A client of OpenAI talks to a preset, with and without a stream.
func TestAnOpenAIClient(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		for _, turns := range []bool{false, true} {
			s := chatSite(t, turns)
			s.letAllSpeak()
			model, err := openai.New(openai.WithBaseURL(s.URL+"/v1"), openai.WithToken("token"), openai.WithModel("pair"))
			require.NoError(t, err)
			var content, reasoning strings.Builder
			var options []llms.CallOption
			if streamed {
				options = append(options, llms.WithStreamingReasoningFunc(func(_ context.Context, thought, chunk []byte) error {
					reasoning.Write(thought)
					content.Write(chunk)
					return nil
				}))
			}
			reply, err := model.GenerateContent(t.Context(), []llms.MessageContent{
				llms.TextParts(llms.ChatMessageTypeSystem, "Be brief."), llms.TextParts(llms.ChatMessageTypeHuman, "Hello."),
				llms.TextParts(llms.ChatMessageTypeAI, "Good day."), llms.TextParts(llms.ChatMessageTypeHuman, "Ban cars?"),
			}, options...)
			require.NoError(t, err)
			r := s.only()
			require.Equal(t, r.Answer.Text, reply.Choices[0].Content)
			require.NotEmpty(t, r.Answer.Text)
			require.Equal(t, "stop", reply.Choices[0].StopReason)
			require.Equal(t, "Ban cars?", r.Topic)
			require.Equal(t, "In Europe.\n\nBe brief.\n\nEarlier, the user said:\n> Hello.\n\nEarlier, the assistant said:\n> Good day.", r.Background)
			if !streamed {
				require.Equal(t, r.Total.Usage.Output, reply.Choices[0].GenerationInfo["CompletionTokens"])
				reasoning.WriteString(reply.Choices[0].ReasoningContent)
			} else {
				require.Equal(t, r.Answer.Text, content.String())
			}
			var want strings.Builder
			for _, turn := range r.Turns {
				if turns && turn.Kind == "speech" {
					want.WriteString(turn.Actor + ": " + turn.Text + "\n\n")
				}
			}
			require.Equal(t, want.String(), reasoning.String())
			require.Equal(t, turns, want.Len() > 0)
		}
	}
}

const asked = `{"model": "pair", "messages": [{"role": "user", "content": [{"type": "text", "text": "Ban "}, {"type": "text", "text": "cars?"}]}]`

func TestTheModels(t *testing.T) {
	s := chatSite(t, false)
	require.JSONEq(t, `{"object": "list", "data": [{"id": "other", "object": "model", "created": 0, "owned_by": "debate"},
		{"id": "pair", "object": "model", "created": 0, "owned_by": "debate"}]}`, s.wants(http.StatusOK, http.MethodGet, "/v1/models", ""))
}

// The stream has comments while the debate runs, the usage if the client asks for it, and an end.
func TestAStreamedCompletion(t *testing.T) {
	o := allowing()
	o.Presets, o.Heartbeat = map[string]debate.Config{"pair": preset}, time.Millisecond
	s := open(t, store.Memory(), o)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(asked+`, "stream": true, "stream_options": {"include_usage": true}}`))
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	var parts []chatCompletion
	beats := 0
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case lines.Text() == ": keep-alive":
			beats++
			if beats == 3 {
				s.letAllSpeak()
			}
		case ok && data != "[DONE]":
			parts = append(parts, parsed[chatCompletion](t, data))
		case ok:
			parts = append(parts, chatCompletion{Object: data})
		}
	}
	r := s.only()
	require.Len(t, parts, 5)
	require.Equal(t, "assistant", parts[0].Choices[0].Delta.Role)
	require.Equal(t, r.Answer.Text, parts[1].Choices[0].Delta.Content)
	require.Equal(t, "stop", *parts[2].Choices[0].FinishReason)
	require.Equal(t, r.Total.Usage.Input, parts[3].Usage.PromptTokens)
	require.Equal(t, r.Total.Usage.Input+r.Total.Usage.Output, parts[3].Usage.TotalTokens)
	require.Equal(t, "[DONE]", parts[4].Object)
	require.Equal(t, r.ID, parts[0].ID)
}

// Turns come while the debate goes on.
func TestTurnsComeAtOnce(t *testing.T) {
	s := chatSite(t, true)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(asked+`, "stream": true}`))
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	s.gate.tokens <- struct{}{} // Ada speaks, Bo waits
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), `"reasoning_content":"Ada: `) { //nolint:revive // until the first turn
	}
	require.Contains(t, lines.Text(), "Ada: ")
	require.True(t, s.only().State.Active())
	s.letAllSpeak()
	for lines.Scan() && lines.Text() != "data: [DONE]" {
		require.NotContains(t, lines.Text(), "usage", "the client does not ask for it")
	}
	require.Equal(t, "data: [DONE]", lines.Text())
}

// A client that asks again after a failed debate was retried gets the answer.
func TestARetriedDebateHasAnAnswer(t *testing.T) {
	s := chatSite(t, false)
	good := s.gate.Provider
	s.gate.Provider = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("refused")}}
	}}
	s.letAllSpeak()
	again := func(want int) string {
		return s.wants(want, http.MethodPost, "/v1/chat/completions", asked+`}`, "Idempotency-Key", "k")
	}
	again(http.StatusBadGateway)
	s.gate.Provider = good
	s.posts(http.StatusNoContent, "/debates/"+s.only().ID+"/retry", "")
	require.NotEmpty(t, parsed[chatCompletion](t, again(http.StatusOK)).Choices[0].Message.Content)
}

func TestChatRequestsThatAreRefused(t *testing.T) {
	s := chatSite(t, false)
	for name, test := range map[string]struct{ body, param, says string }{
		"no message":    {`{"model": "pair"}`, "messages", "not from the user"},
		"no question":   {`{"model": "pair", "messages": [{"role": "assistant", "content": "x"}]}`, "messages", "not from the user"},
		"an image":      {`{"model": "pair", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]}`, "", `part of type "image_url"`},
		"a number":      {`{"model": "pair", "messages": [{"role": "user", "content": 1}]}`, "", "neither a text"},
		"two answers":   {asked + `, "n": 2}`, "n", "one answer only"},
		"a schema":      {asked + `, "response_format": {"type": "json_schema", "json_schema": {}}}`, "response_format", "the answer of a debate is text"},
		"JSON":          {asked + `, "response_format": {"type": "json_object"}}`, "response_format", "the answer of a debate is text"},
		"a tool":        {asked + `, "tools": [], "tool_choice": "required"}`, "tool_choice", "calls no tool"},
		"one tool":      {asked + `, "tool_choice": {"type": "function", "function": {"name": "x"}}}`, "tool_choice", "calls no tool"},
		"some tools":    {asked + `, "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required"}}}`, "tool_choice", "calls no tool"},
		"a function":    {asked + `, "function_call": {"name": "x"}}`, "function_call", "calls no function"},
		"sound":         {asked + `, "modalities": ["text", "audio"]}`, "modalities", "is text"},
		"an end":        {asked + `, "stop": "\n"}`, "stop", "is whole"},
		"ends":          {asked + `, "stop": ["\n"]}`, "stop", "is whole"},
		"probabilities": {asked + `, "logprobs": true}`, "logprobs", "no probabilities"},
		"a search":      {asked + `, "web_search_options": {}}`, "web_search_options", "preset decides"},
		"a blank topic": {`{"model": "pair", "messages": [{"role": "user", "content": " "}]}`, "topic", "topic"},
		"no JSON":       {`{`, "", "not a chat request"},
	} {
		t.Run(name, func(t *testing.T) {
			e := parsed[chatError](t, s.wants(http.StatusBadRequest, http.MethodPost, "/v1/chat/completions", test.body)).Error
			require.Equal(t, "invalid_request_error", e.Type)
			require.Equal(t, "invalid_value", e.Code)
			require.Equal(t, test.param, *cmp.Or(e.Param, new("")))
			require.Contains(t, e.Message, test.says)
		})
	}
	require.Empty(t, s.gate.called, "a refused request costs nothing")
	s.wants(http.StatusRequestEntityTooLarge, http.MethodPost, "/v1/chat/completions", `"`+strings.Repeat("x", 2<<20)+`"`)

	e := debatetest.Engine(t, debate.Options{})
	_, err := New(e, Options{Authorize: AllowEveryone, Presets: map[string]debate.Config{"empty": {}}})
	require.ErrorContains(t, err, `preset "empty": check configuration: participants`)
}

// A debate that stops without an answer is an error for the client, before and after the stream has begun.
func TestADebateWithoutAnAnswer(t *testing.T) {
	for kind, reply := range map[string]scripted.Reply{
		"authentication": {Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("the key sk-123 is refused")}},
		"panic":          {},
	} {
		s := chatSite(t, false)
		s.gate.Provider = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
			if kind == "panic" {
				panic("secret")
			}
			return reply
		}}
		s.letAllSpeak()
		code, header, text := s.do(http.MethodPost, "/v1/chat/completions", asked+`}`)
		require.Equal(t, http.StatusBadGateway, code)
		require.Equal(t, "false", header.Get("X-Should-Retry"), "clients of OpenAI repeat a 502, and each would start a debate")
		e := parsed[chatError](t, text).Error
		require.Equal(t, "stopped", e.Code)
		require.Equal(t, "server_error", e.Type)
		require.Contains(t, e.Message, "is in error: "+kind)
		text = s.wants(http.StatusOK, http.MethodPost, "/v1/chat/completions", asked+`, "stream": true}`)
		require.Contains(t, text, `data: {"error":{"message":"debate `)
		require.NotContains(t, text, "DONE")
		require.NotContains(t, text, "sk-123")
	}
}

func TestACanceledCompletion(t *testing.T) {
	s := chatSite(t, false)
	go func() {
		<-s.gate.called
		d, err := s.engine.Open(context.Background(), s.only().ID)
		if err == nil {
			_ = d.Cancel(context.Background())
		}
	}()
	text := s.wants(http.StatusBadGateway, http.MethodPost, "/v1/chat/completions", asked+`}`)
	require.Contains(t, text, "has ended without an answer: canceled")
}

// The debate goes on when the client leaves, and the same key finds it again.
func TestAChatClientThatLeaves(t *testing.T) {
	s := chatSite(t, false)
	for _, body := range []string{asked + `}`, asked + `, "stream": true}`} {
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Idempotency-Key", "k")
		streams := make(chan struct{})
		go func() {
			if res, err := http.DefaultClient.Do(req); err == nil {
				close(streams)
				res.Body.Close()
			}
		}()
		select {
		case <-s.gate.called:
		case <-streams:
		}
		leave()
	}
	s.letAllSpeak()
	text := s.wants(http.StatusOK, http.MethodPost, "/v1/chat/completions", asked+`}`, "Idempotency-Key", "k")
	r := s.only()
	require.Equal(t, fsm.Completed, r.State)
	reply := parsed[chatCompletion](t, text)
	require.Equal(t, r.ID, reply.ID)
	require.Equal(t, r.Answer.Text, reply.Choices[0].Message.Content)
	e := parsed[chatError](t, s.wants(http.StatusUnprocessableEntity, http.MethodPost, "/v1/chat/completions",
		strings.Replace(asked, "Ban", "Allow", 1)+`}`, "Idempotency-Key", "k"))
	require.Equal(t, "key-reused", e.Error.Code)
}
