package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

func serve(t *testing.T, model providers.Provider, stop bool) (*httptest.Server, *debate.Engine) {
	engine, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"model": model}})
	require.NoError(t, err)
	h, err := newHandler(&agent{engine: engine, stopOnCancel: stop}, "http://localhost:3000")
	require.NoError(t, err)
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		require.NoError(t, engine.Close(context.Background()))
		s.Close()
	})
	return s, engine
}

const posted = `{"threadId": "cars", "runId": "1", "state": {}, "messages": [{"id": "m", "role": "user", "content": "Ban <cars>?"}]}`

// post begins a run and returns its events.
func post(t *testing.T, s *httptest.Server, body string) (status int, list []event) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/agui", strings.NewReader(body))
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			require.NotContains(t, data, "<")
			var e event
			require.NoError(t, json.Unmarshal([]byte(data), &e))
			list = append(list, e)
		}
	}
	return res.StatusCode, list
}

// said is a message that a run sends.
type said struct{ id, text string }

// checked requires that events follow the rules of AG-UI, and returns the messages.
func checked(t *testing.T, list []event) (messages []said) {
	require.Equal(t, "RUN_STARTED", list[0].Type)
	open := map[string]*strings.Builder{}
	steps := map[string]bool{}
	ids := map[string]bool{}
	for i, e := range list {
		ends := e.Type == "RUN_FINISHED" || e.Type == "RUN_ERROR"
		require.Equal(t, i == len(list)-1, ends, e.Type)
		switch e.Type {
		case "TEXT_MESSAGE_START":
			require.False(t, ids[e.MessageID], "an id is used twice")
			ids[e.MessageID], open[e.MessageID] = true, &strings.Builder{}
		case "TEXT_MESSAGE_CONTENT":
			require.NotEmpty(t, e.Delta)
			open[e.MessageID].WriteString(e.Delta.(string))
		case "TEXT_MESSAGE_END":
			messages = append(messages, said{e.MessageID, open[e.MessageID].String()})
			delete(open, e.MessageID)
		case "STEP_STARTED":
			steps[e.StepName] = true
		case "STEP_FINISHED":
			require.True(t, steps[e.StepName])
			delete(steps, e.StepName)
		}
	}
	require.Empty(t, open, "all messages end")
	require.Empty(t, steps, "all steps end")
	return messages
}

// debateOf returns the result of the debate of a run, whose id the state has.
func debateOf(t *testing.T, engine *debate.Engine, list []event) *debate.Result {
	require.Equal(t, "STATE_SNAPSHOT", list[1].Type)
	d, err := engine.Open(t.Context(), list[1].Snapshot.Debate)
	require.NoError(t, err)
	r, err := d.Result(t.Context())
	require.NoError(t, err)
	return r
}

func TestARunIsADebate(t *testing.T) {
	s, engine := serve(t, offline.Model(false), false)
	_, list := post(t, s, posted)
	messages := checked(t, list)
	r := debateOf(t, engine, list)
	require.Equal(t, "Ban <cars>?", r.Topic)
	var texts []string
	for _, turn := range r.Turns {
		if turn.Kind == "speech" {
			texts = append(texts, turn.Text)
		}
	}
	texts = append(texts, r.Answer.Text)
	require.Len(t, messages, len(texts))
	for i, m := range messages {
		require.Equal(t, texts[i], m.text)
		require.True(t, strings.HasPrefix(m.id, r.ID+"/"), "a conversation has several debates")
	}
	kinds := map[string]int{}
	for _, e := range list {
		kinds[e.Type+e.Name]++
	}
	require.Equal(t, 2, kinds["CUSTOMassessment"])
	require.Equal(t, 1, kinds["CUSTOMconclusion"])
	for _, e := range list {
		if e.Type == "STATE_DELTA" {
			list[0] = e // the last one
		}
	}
	require.Equal(t, []any{map[string]any{"op": "replace", "path": "/answer", "value": r.Answer.Text}}, list[0].Delta)
	require.Equal(t, "cars", list[len(list)-1].ThreadID)

	_, again := post(t, s, posted)
	require.Equal(t, messages, checked(t, again), "a run that is repeated is the same debate")
}

// What was said before the last message is the background: messages of other participants of the conversation, and the answers
// of earlier debates without their speeches.
func TestAConversation(t *testing.T) {
	s, engine := serve(t, offline.Model(false), false)
	_, list := post(t, s, posted)
	first, said := debateOf(t, engine, list), checked(t, list)
	before := []map[string]any{
		{"id": "s", "role": "system", "content": "Be brief."},
		{"id": "m", "role": "user", "content": "Ban cars?"},
		{"id": "t", "role": "assistant", "toolCalls": []any{}},
		{"id": "u", "role": "tool", "content": "42", "toolCallId": "c"},
	}
	for _, m := range said {
		before = append(before, map[string]any{"id": m.id, "role": "assistant", "content": m.text})
	}
	parts := []map[string]string{{"type": "text", "text": "And "}, {"type": "text", "text": "bikes?"}}
	body, err := json.Marshal(map[string]any{"threadId": "a thread / with signs", "runId": "2 2", "messages": append(before, map[string]any{"id": "n", "role": "user", "content": parts})})
	require.NoError(t, err)
	status, list := post(t, s, string(body))
	require.Equal(t, http.StatusOK, status)
	r := debateOf(t, engine, list)
	require.NotEqual(t, first.ID, r.ID)
	require.Equal(t, "And bikes?", r.Topic)
	require.Equal(t, "Be brief.\n\nEarlier, the user said: Ban cars?\n\nEarlier, the assistant said: "+first.Answer.Text, r.Background)
	for _, m := range checked(t, list) {
		require.NotContains(t, said, m, "user interfaces merge messages by id")
	}
	_, other := post(t, s, `{"threadId": "a", "runId": "b", "messages": [{"role": "user", "content": "Ban cars?"}]}`)
	require.NotEqual(t, r.ID, debateOf(t, engine, other).ID)
}

// An attempt that fails is a message of its own, and an error ends everything.
func TestFailures(t *testing.T) {
	calls := 0
	s, _ := serve(t, &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		calls++
		return scripted.Reply{Text: "I say so", Chunks: 2, Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("the key is refused")}}
	}}, false)
	_, list := post(t, s, posted)
	checked(t, list)
	require.Equal(t, "RUN_ERROR", list[len(list)-1].Type)
	require.Contains(t, list[len(list)-1].Message, "the key is refused")
	for body, says := range map[string]string{
		`{"messages": []}`: "the last message is not from the user",
		`{"messages": [{"role": "user", "content": "x"}, {"role": "tool", "content": "42"}]}`: "the last message is not from the user",
		`{"messages": [{"role": "user", "content": [{"type": "image"}]}]}`:                    `part of type "image"`,
		`{"messages": [{"role": "user", "content": 1}]}`:                                      "neither a text nor a list",
		`{"messages": [{"role": "user", "content": " "}]}`:                                    "topic: it is blank",
	} {
		status, list := post(t, s, body)
		require.Equal(t, http.StatusOK, status, body)
		require.Empty(t, checked(t, list))
		require.Contains(t, list[len(list)-1].Message, says, "user interfaces show errors that are events")
	}
	for _, body := range []string{"{", "[]", `{"messages": 1}`} {
		res, err := http.Post(s.URL+"/agui", "application/json", strings.NewReader(body)) //nolint:noctx // the server is local
		require.NoError(t, err)
		defer res.Body.Close()
		require.Equal(t, http.StatusBadRequest, res.StatusCode)
		require.Equal(t, "application/json", res.Header.Get("Content-Type"))
		var p debatehttp.Problem
		require.NoError(t, json.NewDecoder(res.Body).Decode(&p))
		require.Contains(t, p.Detail, "read run: ")
	}
}

// waiting is a model that answers when speak is closed.
type waiting struct {
	providers.Provider
	called, speak chan struct{}
}

func (w waiting) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	w.called <- struct{}{}
	select {
	case <-w.speak:
		return w.Provider.Generate(ctx, r)
	case <-ctx.Done():
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
}

// With stopOnCancel, a debate whose viewer leaves is canceled. Otherwise it goes on.
func TestAViewerWhoLeaves(t *testing.T) {
	for _, stop := range []bool{false, true} {
		model := waiting{offline.Model(false), make(chan struct{}, 100), make(chan struct{})}
		s, engine := serve(t, model, stop)
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/agui", strings.NewReader(posted))
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		<-model.called
		leave()
		res.Body.Close()
		if !stop {
			close(model.speak)
		}
		for status, err := range engine.List(t.Context(), store.Query{}) {
			require.NoError(t, err)
			d, err := engine.Open(t.Context(), status.ID)
			require.NoError(t, err)
			for ev, err := range d.Watch(t.Context(), 0) {
				require.NoError(t, err)
				if end, ok := ev.(debate.Ended); ok {
					require.Equal(t, stop, end.Result.State == fsm.Canceled)
				}
			}
		}
	}
}

// A page of the origin may send runs, and no other page.
func TestAPageOfAnotherSite(t *testing.T) {
	s, _ := serve(t, offline.Model(false), false)
	for origin, allowed := range map[string]bool{"http://localhost:3000": true, "http://evil.example": false} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, s.URL+"/agui", nil)
		require.NoError(t, err)
		req.Header.Set("Origin", origin)
		req.Header.Set("Access-Control-Request-Method", "POST")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		res.Body.Close()
		require.Equal(t, allowed, res.Header.Get("Access-Control-Allow-Origin") == origin)
		require.Equal(t, allowed, res.StatusCode == http.StatusNoContent)
	}
}

func TestTheProgram(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var stderr bytes.Buffer
	require.Equal(t, 0, console.Run(ctx, run, []string{"-listen", "127.0.0.1:0"}, io.Discard, &stderr, func(string) string { return "" }), stderr.String())
}

// A site that lets its name point at this machine can neither start debates nor read them.
func TestOtherHostsAreRefused(t *testing.T) {
	s, engine := serve(t, offline.Model(false), false)
	for path, body := range map[string]string{"/agui": posted, "/debates": ""} {
		method := http.MethodPost
		if body == "" {
			method = http.MethodGet
		}
		req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Host = "evil.example:8080"
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusForbidden, res.StatusCode, path)
	}
	for status, err := range engine.List(t.Context(), store.Query{}) {
		require.NoError(t, err)
		t.Errorf("%s was launched", status.ID)
	}
}

// Calls of tools are calls of tools in AG-UI, too. What the model says beside them is a message that ends before.
func TestCallsOfTools(t *testing.T) {
	key := transcript.Key{Run: 1, Round: 1, Phase: "respond", Actor: "Ada"}
	meta := debate.EventMeta{Live: true}
	look := tool.Record{ID: "1", Name: "look", Arguments: json.RawMessage(`{"q":"<cars>"}`), Done: true, Text: "They are <loud>."}
	order := tool.Record{ID: "2", Name: "order", Arguments: json.RawMessage(`{}`), Waits: true}
	refused := order
	refused.Done = true
	refused.Error = tool.Disapproved
	refused.Text = "A person refused this call."
	var list []event
	for e := range translate(input{ThreadID: "cars", RunID: "1"}, "d", func(yield func(debate.Event, error) bool) {
		for _, ev := range []debate.Event{
			debate.TurnStarted{EventMeta: meta, Attempt: &debate.Attempt{Key: key, Kind: transcript.Speech, Number: 1}},
			debate.Chunk{EventMeta: &meta, Attempt: &debate.Attempt{Key: key, Kind: transcript.Speech, Number: 1}, Text: "Let me look."},
			debate.ToolsCalled{Key: key, Kind: transcript.Speech, Number: 1, Calls: []tool.Record{look, order}},
			debate.ToolsCalled{Key: key, Kind: transcript.Speech, Number: 1, Calls: []tool.Record{look, refused}},
			debate.Ended{EventMeta: meta, Result: &debate.Result{Answer: protocol.Answer{Text: "Yes."}}},
		} {
			if !yield(ev, nil) {
				return
			}
		}
	}) {
		list = append(list, e)
	}
	require.Equal(t, []said{{"d/" + key.String() + "#1", "Let me look."}, {"d" + answerID, "Yes."}}, checked(t, list))
	var calls []string
	for _, e := range list {
		if e.ToolCall != "" {
			calls = append(calls, strings.TrimSpace(fmt.Sprint(e.Type, " ", e.ToolCall, " ", e.Tool, e.Content)))
		}
	}
	require.Equal(t, []string{
		"TOOL_CALL_START 1 look", "TOOL_CALL_ARGS 1", "TOOL_CALL_END 1", "TOOL_CALL_RESULT 1 They are <loud>.",
		"TOOL_CALL_START 2 order", "TOOL_CALL_ARGS 2", "TOOL_CALL_END 2",
		"TOOL_CALL_RESULT 2 A person refused this call.",
	}, calls)
}
