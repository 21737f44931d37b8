package debatehttp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
)

// count returns the number of debates.
func (s *site) count() (n int) {
	s.t.Helper()
	for _, err := range s.engine.List(s.t.Context(), store.Query{}) {
		require.NoError(s.t, err)
		n++
	}
	return n
}

// A retry of a client finds the debate of the first try. Nothing else does.
func TestARetryFindsTheFirstTry(t *testing.T) {
	s := chatSite(t, false)
	s.letAllSpeak()
	ask := func(body string, header ...string) string {
		return parsed[chatCompletion](t, s.wants(http.StatusOK, http.MethodPost, "/v1/chat/completions", body, header...)).ID
	}
	first := ask(asked+`}`, "X-Stainless-Retry-Count", "0")
	require.Equal(t, first, ask(asked+`}`, "X-Stainless-Retry-Count", "1"))
	require.Equal(t, first, ask(asked+`}`, "X-Stainless-Retry-Count", "2"))
	require.Equal(t, 1, s.count())

	second := ask(asked+`}`, "X-Stainless-Retry-Count", "0")
	require.NotEqual(t, first, second, "a question that is asked again is another debate")
	require.Equal(t, second, ask(asked+`}`, "X-Stainless-Retry-Count", "1"), "the newest one")
	require.NotEqual(t, second, ask(asked+`, "n": 1}`, "X-Stainless-Retry-Count", "1"), "another body")
	require.NotEqual(t, second, ask(asked+`}`, "X-Stainless-Retry-Count", "1", "Authorization", "Bearer bob"), "another principal")
	require.NotEqual(t, second, ask(asked+`}`, "X-Stainless-Retry-Count", "one"))
	require.Equal(t, 5, s.count())
}

// Nobody can launch, edit or fork a debate so that the retry of another client finds it.
func TestNobodyForgesAFirstTry(t *testing.T) {
	s := chatSite(t, false)
	s.letAllSpeak()
	s.wants(http.StatusOK, http.MethodPost, "/v1/chat/completions", asked+`}`, "X-Stainless-Retry-Count", "0")
	first := s.only()
	status := debatetest.Open(t, s.engine, first.ID)
	head := debatetest.Status(t, status)
	label := head.Labels[requestLabel]
	require.NotEmpty(t, label)
	labels := `"labels": {"openai_request": "` + label + `"}`
	s.posts(http.StatusCreated, "/debates", strings.Replace(posted, `"topic"`, labels+`, "topic"`, 1))
	s.posts(http.StatusCreated, "/debates/"+first.ID+"/forks", `{`+labels+`}`)
	s.posts(http.StatusCreated, "/debates/"+first.ID+"/forks", `{}`)
	require.Len(t, debatetest.List(t, s.engine, store.Query{Labels: map[string]string{requestLabel: label}}), 1)
}

// An answer without streaming that takes long begins with blank lines. An error then has the status 200.
func TestAWaitingCallIsKeptAlive(t *testing.T) {
	o := allowing()
	o.Presets, o.Heartbeat = map[string]debate.Config{"pair": preset}, time.Millisecond
	for _, fails := range []bool{false, true} {
		s := open(t, store.Memory(), o)
		if fails {
			s.gate.Provider = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
				return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("refused")}}
			}}
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(asked+`}`))
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.Equal(t, "application/json", res.Header.Get("Content-Type"))
		body := bufio.NewReader(res.Body)
		for range 3 {
			line, err := body.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, "\n", line)
		}
		s.letAllSpeak()
		rest, err := io.ReadAll(body)
		require.NoError(t, err)
		if fails {
			require.Contains(t, parsed[chatError](t, string(rest)).Error.Message, "is in error: authentication")
			continue
		}
		require.Equal(t, s.only().Answer.Text, parsed[chatCompletion](t, string(rest)).Choices[0].Message.Content)
	}
}

// Everything below /v1/ has the errors of OpenAI, with its codes.
func TestErrorsOfOpenAI(t *testing.T) {
	o := allowing()
	o.Presets = map[string]debate.Config{"pair": preset}
	o.Principal = func(r *http.Request) (string, error) {
		if r.Header.Get("Authorization") == "" {
			return "", errors.New("there is no key")
		}
		return "ann", nil
	}
	s := open(t, store.Memory(), o)
	key := []string{"Authorization", "Bearer x"}
	for name, test := range map[string]struct {
		method, path, body string
		header             []string
		status             int
		code, param        string
	}{
		"no key":           {"GET", "/v1/models", "", nil, 401, "invalid_api_key", ""},
		"an unknown model": {"GET", "/v1/models/gpt", "", key, 404, "model_not_found", "model"},
		"a model to ask":   {"POST", "/v1/chat/completions", strings.Replace(asked, "pair", "gpt", 1) + "}", key, 404, "model_not_found", "model"},
		"an unknown path":  {"POST", "/v1/embeddings", "{}", key, 404, "unknown_url", ""},
		"a wrong method":   {"GET", "/v1/chat/completions", "", key, 405, "method_not_supported", ""},
		"a method of none": {"DELETE", "/v1/models/pair", "", key, 405, "method_not_supported", ""},
		"a wrong body":     {"POST", "/v1/chat/completions", "[]", key, 400, "invalid_value", ""},
		"another site":     {"POST", "/v1/chat/completions", asked + "}", append(key, "Sec-Fetch-Site", "cross-site"), 403, "cross-origin", ""},
	} {
		t.Run(name, func(t *testing.T) {
			status, header, text := s.do(test.method, test.path, test.body, test.header...)
			require.Equal(t, test.status, status, text)
			require.Equal(t, "application/json", header.Get("Content-Type"))
			e := parsed[chatError](t, text).Error
			require.Equal(t, "invalid_request_error", e.Type)
			require.Equal(t, test.code, e.Code)
			require.NotEmpty(t, e.Message)
			if test.param == "" {
				require.Nil(t, e.Param)
				require.Contains(t, text, `"param":null`)
			} else {
				require.Equal(t, test.param, *e.Param)
			}
		})
	}
	require.JSONEq(t, `{"id": "pair", "object": "model", "created": 0, "owned_by": "debate"}`, s.wants(http.StatusOK, "GET", "/v1/models/pair", "", key...))
	require.Equal(t, 0, s.count())
}

// breakingStore cannot load debates any more once it is broken.
type breakingStore struct {
	store.Store
	broken atomic.Bool
}

func (b *breakingStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	if b.broken.Load() {
		return store.Status{}, nil, errors.New("the disk is gone")
	}
	return b.Store.Load(ctx, id, after)
}

// An error of the server after the answer has begun is logged, and the client reads no more than that the server failed.
func TestAnErrorInAStreamIsLogged(t *testing.T) {
	for _, body := range []string{asked + `}`, asked + `, "stream": true}`} {
		var log bytes.Buffer
		o := allowing()
		o.Presets = map[string]debate.Config{"pair": preset}
		o.Heartbeat = time.Millisecond
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		kept := &breakingStore{Store: store.Memory()}
		s := open(t, kept, o)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(body))
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		kept.broken.Store(true)
		s.gate.tokens <- struct{}{}
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Contains(t, string(text), `{"error":{"message":"The server failed","type":"server_error","param":null,"code":"internal"}}`)
		s.shut()
		require.Contains(t, log.String(), "the disk is gone")
	}
}

// With StopOnCancel, a debate whose client leaves is canceled, and costs nothing more.
func TestStopOnCancel(t *testing.T) {
	for _, body := range []string{asked + `}`, asked + `, "stream": true}`} {
		o := allowing()
		o.Presets, o.StopOnCancel = map[string]debate.Config{"pair": preset}, true
		s := open(t, store.Memory(), o)
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(body))
		require.NoError(t, err)
		go func() {
			if res, err := http.DefaultClient.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		}()
		<-s.gate.called
		leave()
		d := debatetest.Open(t, s.engine, s.only().ID)
		for ev, err := range d.Watch(t.Context(), 0) {
			require.NoError(t, err)
			if end, ok := ev.(debate.Ended); ok {
				require.Equal(t, fsm.Canceled, end.Result.State)
			}
		}
		require.Empty(t, s.gate.called)
		s.shut()
	}
}
