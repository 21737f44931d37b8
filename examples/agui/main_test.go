package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
)

func serve(t *testing.T, model providers.Provider) (*httptest.Server, *debate.Engine) {
	engine, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"model": model}})
	require.NoError(t, err)
	h, err := newHandler(engine)
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

// checked requires that events follow the rules of AG-UI, and returns the texts of the messages.
func checked(t *testing.T, list []event) (texts []string) {
	require.Equal(t, "RUN_STARTED", list[0].Type)
	open, steps, ids := map[string]*strings.Builder{}, map[string]bool{}, map[string]bool{}
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
			texts = append(texts, open[e.MessageID].String())
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
	return texts
}

func TestARunIsADebate(t *testing.T) {
	s, engine := serve(t, offline.Model(false))
	_, list := post(t, s, posted)
	texts := checked(t, list)
	d, err := engine.Open(t.Context(), "cars.1")
	require.NoError(t, err)
	r, err := d.Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Ban <cars>?", r.Topic)
	var speeches []string
	for _, turn := range r.Turns {
		if turn.Kind == "speech" {
			speeches = append(speeches, turn.Text)
		}
	}
	require.Equal(t, speeches, texts)
	kinds := map[string]int{}
	for _, e := range list {
		kinds[e.Type+e.Name]++
	}
	require.Equal(t, 2, kinds["CUSTOMassessment"])
	require.Equal(t, 1, kinds["CUSTOMconclusion"])
	last := list[len(list)-3]
	require.Equal(t, []any{map[string]any{"op": "replace", "path": "/answer", "value": r.Answer.Text}}, last.Delta)
	require.Equal(t, "cars", list[len(list)-1].ThreadID)

	_, again := post(t, s, posted)
	require.Equal(t, texts, checked(t, again), "a run that is repeated is the same debate")
}

// An attempt that fails is a message of its own, and an error ends everything.
func TestFailures(t *testing.T) {
	calls := 0
	s, _ := serve(t, &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		calls++
		return scripted.Reply{Text: "I say so", Chunks: 2, Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("the key is refused")}}
	}})
	_, list := post(t, s, posted)
	checked(t, list)
	require.Equal(t, "RUN_ERROR", list[len(list)-1].Type)
	require.Contains(t, list[len(list)-1].Message, "the key is refused")
	for body, want := range map[string]int{
		"{": http.StatusBadRequest, `{}`: http.StatusBadRequest, strings.Replace(posted, "Ban <cars>?", " ", 1): http.StatusBadRequest,
		strings.Replace(posted, `"cars"`, `"a b"`, 1): http.StatusBadRequest,
	} {
		status, _ := post(t, s, body)
		require.Equal(t, want, status, body)
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
	s, engine := serve(t, offline.Model(false))
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
	for status := range engine.List(t.Context(), store.Query{}) {
		t.Errorf("%s was launched", status.ID)
	}
}
