package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/openai"
)

// replyWith returns a provider whose service sends a body of chat completions.
func replyWith(t testing.TB, header http.Header, body func(ctx context.Context) io.Reader) providers.Provider {
	t.Helper()
	return replyOver(t, "chat", header, body)
}

// replyOver returns a provider whose service sends a body of the given API of OpenAI.
func replyOver(t testing.TB, api string, header http.Header, body func(ctx context.Context) io.Reader) providers.Provider {
	t.Helper()
	p, err := openai.New(openai.Config{Model: "m", BaseURL: "http://service/v1", API: api, HTTPClient: &http.Client{Transport: calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(body(r.Context())), Request: r}, nil
	})}})
	require.NoError(t, err)
	return p
}

// paced is a reader that waits before each piece.
type paced struct {
	ctx    context.Context
	wait   time.Duration
	pieces []string
}

func (p *paced) Read(b []byte) (int, error) {
	if len(p.pieces) == 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(p.wait):
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	}
	n := copy(b, p.pieces[0])
	p.pieces = p.pieces[1:]
	return n, nil
}

const (
	textEvent = `data: {"choices": [{"delta": {"content": "So. "}}]}` + "\n\n"
	stopEvent = `data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}` + "\n\ndata: [DONE]\n\n"
)

func TestTimeouts(t *testing.T) {
	for name, test := range map[string]struct {
		wait   time.Duration
		events int
		want   string // empty if the call succeeds
	}{
		"a slow reply":           {100 * time.Second, 5, ""},
		"silence":                {121 * time.Second, 5, "timeout: call model: the service sent nothing for 2m0s"},
		"a reply without end":    {100 * time.Second, 50, "timeout: call model: the reply took longer than 20m0s"},
		"a reply near the limit": {100 * time.Second, 10, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := replyWith(t, nil, func(ctx context.Context) io.Reader {
					pieces := make([]string, test.events)
					for i := range pieces {
						pieces[i] = textEvent
					}
					return &paced{ctx, test.wait, append(pieces, stopEvent)}
				})
				_, err := p.Generate(calltest.Forever(t), calltest.Ask())
				if test.want == "" {
					require.NoError(t, err)
					return
				}
				require.EqualError(t, calltest.RequireKind(t, providers.Timeout, err), test.want)
			})
		})
	}
}

func TestTimeOfTheCallerDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Chunks: []string{"a", "b"}})
		r := calltest.Ask()
		r.OnChunk = func(string) error { time.Sleep(time.Hour); return nil }
		_, err := service(t, fakellm.OpenAI, s.Client(t), nil).Generate(calltest.Forever(t), r)
		require.NoError(t, err)
	})
}

func TestHangingServiceTimesOut(t *testing.T) {
	for _, chunks := range [][]string{nil, {"Be"}} {
		each(t, []fakellm.Reply{{Chunks: chunks, Hang: true}}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
			began := time.Now()
			_, err := p.Generate(calltest.Forever(t), calltest.Ask())
			require.Equal(t, strings.Join(chunks, ""), calltest.RequireKind(t, providers.Timeout, err).Partial.Text)
			require.Equal(t, 2*time.Minute, time.Since(began))
		})
	}
}

// A service may fall silent at any moment, also before the first byte of a body.
func TestSilenceIsNoticedInEachBody(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		header http.Header
	}{
		"reply":            {http.StatusOK, nil},
		"compressed reply": {http.StatusOK, http.Header{"Content-Encoding": {"gzip"}}},
		"error":            {http.StatusInternalServerError, nil},
		"refused field":    {http.StatusBadRequest, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := &http.Client{Transport: calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					body := &paced{r.Context(), time.Hour, []string{"{}"}}
					return &http.Response{StatusCode: test.status, Header: test.header, Body: io.NopCloser(body), Request: r}, nil
				})}
				for _, protocol := range protocols {
					began := time.Now()
					_, err := service(t, protocol, client, nil).Generate(calltest.Forever(t), calltest.Ask())
					require.EqualError(t, calltest.RequireKind(t, providers.Timeout, err), "timeout: call model: the service sent nothing for 2m0s", protocol)
					require.Equal(t, 2*time.Minute, time.Since(began), protocol)
				}
			})
		})
	}
}

func TestRepliesLongerThanTheTokenLimit(t *testing.T) {
	huge := ""
	for i := range 12_000 {
		huge += fmt.Sprint("word ", i, " ")
	}
	for name, test := range map[string]struct {
		reply fakellm.Reply
		want  string
	}{
		"text":       {fakellm.Reply{Chunks: []string{huge, huge[1:]}}, "read reply: longer than 103936 bytes, which is more than the token limit explains"},
		"reasoning":  {fakellm.Reply{Reasoning: huge + huge, Chunks: []string{"So."}}, "read reply: longer than 103936 bytes"},
		"no content": {fakellm.Reply{Chunks: []string{"So."}, RawLines: nil, Padding: 7 << 20}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, []fakellm.Reply{test.reply}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
				r := calltest.Ask()
				r.MaxTokens = 600
				_, err := p.Generate(calltest.Forever(t), r)
				if test.want == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, calltest.RequireKind(t, providers.InvalidResponse, err), test.want)
			})
		})
	}
}

func TestStreamsLongerThanTheTokenLimit(t *testing.T) {
	line := `data: {"padding": "` + strings.Repeat("x", 1<<20) + `"}` + "\n\n"
	p := replyWith(t, nil, func(context.Context) io.Reader { return strings.NewReader(strings.Repeat(line, 30)) })
	r := calltest.Ask()
	r.MaxTokens = 600
	_, err := p.Generate(t.Context(), r)
	require.ErrorContains(t, calltest.RequireKind(t, providers.InvalidResponse, err), "read reply: the stream is longer than 18219008 bytes, which is more than the token limit explains")
}

// A web page says that the address is wrong, and nothing else.
func TestWebPages(t *testing.T) {
	for name, test := range map[string]struct {
		body, contentType string
		page              bool
	}{
		"a page":                   {"<!DOCTYPE html><html>Welcome</html>", "text/html", true},
		"without a type":           {"<!DOCTYPE html><html>Welcome</html>", "", true},
		"as a stream":              {"<html><body>Welcome</body></html>", "text/event-stream", true},
		"as JSON":                  {"<html><body>Welcome</body></html>", "application/json", true},
		"in capital letters":       {"<HTML><BODY>Sign in</BODY></HTML>", "text/html; charset=utf-8", true},
		"after empty lines":        {"\n\n  <html></html>", "text/html", true},
		"after a byte order mark":  {"\ufeff<html></html>", "text/html", true},
		"with a comment first":     {"<!-- built -->\n<html></html>", "text/html", true},
		"of XML":                   {`<?xml version="1.0"?><Error/>`, "application/xml", true},
		"of text":                  {"Welcome to nginx!", "text/html", true},
		"a challenge":              {"<html><title>Just a moment...</title></html>", "text/html", true},
		"JSON that is called HTML": {`{"choices": [{"message": {"content": "So."}, "finish_reason": "stop"}]}`, "text/html", false},
		"events called HTML":       {textEvent + stopEvent, "text/html; charset=utf-8", false},
		"a comment called HTML":    {": alive\n\n" + textEvent + stopEvent, "text/html", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := replyWith(t, http.Header{"Content-Type": {test.contentType}}, func(context.Context) io.Reader { return strings.NewReader(test.body) })
			_, err := p.Generate(t.Context(), calltest.Ask())
			if !test.page {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, calltest.RequireKind(t, providers.WrongAddress, err), "wrong_address: read reply: the server sent an HTML page: check that Config.BaseURL is the address of an API")
		})
	}
}

func TestBodiesThatAreNoStream(t *testing.T) {
	whole := `{"model": "m-1", "choices": [{"message": {"content": "So."}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}`
	indented := strings.NewReplacer("{", "{\n", ",", ",\n").Replace(whole)
	for name, test := range map[string]struct {
		body string
		kind providers.ErrorKind // empty if the reply is read
		want string
	}{
		"a whole reply":              {whole, "", ""},
		"a whole reply, indented":    {indented, "", ""},
		"a byte order mark":          {"\ufeff" + textEvent + stopEvent, "", ""},
		"carriage returns":           {strings.ReplaceAll(textEvent+stopEvent, "\n", "\r\n"), "", ""},
		"no empty lines":             {strings.ReplaceAll(textEvent+stopEvent, "\n\n", "\n"), "", ""},
		"an event in several lines":  {strings.ReplaceAll(textEvent, `{"delta"`, "\ndata: {\"delta\"") + stopEvent, "", ""},
		"an event in many lines":     {strings.NewReplacer("{", "{\ndata: ", ",", ",\ndata: ").Replace(textEvent) + stopEvent, "", ""},
		"empty data, no empty lines": {"data:\n" + strings.ReplaceAll(textEvent+"data:\n"+stopEvent, "\n\n", "\n"), "", ""},
		"an HTML page":               {"<!DOCTYPE html><html>Welcome</html>", providers.WrongAddress, "the server sent an HTML page: check that Config.BaseURL is the address of an API"},
		"data that is no JSON":       {textEvent + "data: pong\n\n" + stopEvent, providers.InvalidResponse, `invalid character 'p' looking for beginning of value in "pong"`},
		"an error between events":    {textEvent + `{"error": {"message": "CUDA out of memory", "code": 500}}` + "\n", providers.OutOfMemory, "CUDA out of memory"},
		"a finish reason that fails": {textEvent + `data: {"choices": [{"delta": {}, "finish_reason": "error"}]}` + "\n\n", providers.ServerError, `the service ended it with finish reason "error"`},
		"nothing":                    {"", providers.Network, "the stream ended before the reply was complete"},
		"half a whole reply":         {whole[:60], providers.Network, "the stream ended before the reply was complete"},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := replyWith(t, nil, func(context.Context) io.Reader { return strings.NewReader(test.body) }).Generate(t.Context(), calltest.Ask())
			if test.kind == "" {
				require.NoError(t, err)
				require.Equal(t, "So.", strings.TrimSpace(res.Text))
				return
			}
			require.ErrorContains(t, calltest.RequireKind(t, test.kind, err), test.want)
		})
	}
}

func TestUncalledForCompression(t *testing.T) {
	p := replyWith(t, http.Header{"Content-Encoding": {"gzip"}}, func(context.Context) io.Reader { return strings.NewReader("no") })
	_, err := p.Generate(t.Context(), calltest.Ask())
	require.ErrorContains(t, calltest.RequireKind(t, providers.Network, err), "unexpected EOF")
}

func TestExtraIsMerged(t *testing.T) {
	extra := map[string]any{"options": map[string]any{"top_k": 7, "num_predict": nil}, "shift": nil, "think": "low"}
	s := fakellm.Start(t, fakellm.Ollama, fakellm.Reply{Chunks: []string{"So."}})
	r := calltest.Ask()
	warm := 0.5
	r.MaxTokens, r.Temperature = 600, &warm
	calltest.Generate(t, service(t, fakellm.Ollama, s.Client(t), extra), r)
	body := s.Requests()[0].Body
	delete(body, "messages")
	require.Equal(t, map[string]any{
		"model": "m", "stream": true, "truncate": false, "think": "low", "options": map[string]any{"temperature": 0.5, "top_k": 7.0},
	}, body)
	_, err := openai.New(openai.Config{Model: "m", BaseURL: "http://service", Extra: map[string]any{"f": func() {}}})
	require.ErrorContains(t, err, "create openai provider: Config.Extra cannot be written as JSON: ")
}

func TestRefusalsAreReportedAndForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusal := fakellm.Reply{Status: 400, Body: `{"error": {"message": "temperature is not supported"}}`}
		so := fakellm.Reply{Chunks: []string{"So."}}
		s := fakellm.Start(t, fakellm.OpenAI, refusal, so, so, so)
		p := service(t, fakellm.OpenAI, s.Client(t), nil)
		warm := 0.5
		r := calltest.Ask()
		r.Temperature = &warm
		for i, want := range []struct {
			warnings []string
			after    time.Duration
			sent     int
		}{
			{[]string{"model m does not support: temperature: requests omit what it refuses for the next 1h0m0s"}, 59 * time.Minute, 2},
			{nil, 2 * time.Minute, 3},
			{nil, 0, 4},
		} {
			res, err := p.Generate(calltest.Forever(t), r)
			require.NoError(t, err)
			require.Equal(t, want.warnings, res.Warnings)
			require.Len(t, s.Requests(), want.sent)
			require.Equal(t, i == 2, s.Requests()[want.sent-1].Body["temperature"] != nil)
			time.Sleep(want.after)
		}
	})
}

func TestErrorsNameTheRequest(t *testing.T) {
	each(t, []fakellm.Reply{{Status: 500, Body: "boom", Header: map[string]string{"X-Request-Id": "req_7"}}}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
		_, err := p.Generate(calltest.Forever(t), calltest.Ask())
		require.EqualError(t, err, "server_error: call model: status 500: boom (request req_7)")
	})
}

func FuzzStream(f *testing.F) {
	fuzzStream(
		f, "chat", textEvent+stopEvent, "data: [DONE]", `{"choices": [{"message": {"content": "So."}, "finish_reason": "stop"}]}`, "<html>", "\xef\xbb\xbf: x\n\n",
		`data: {"choices": [{"delta": {"tool_calls": [{"index": 3, "function": {"arguments": "{"}}]}}]}`+"\n\n"+textEvent+stopEvent,
		`data: {"error": {"code": 429, "metadata": {"raw": "[[[["}}}`+"\n\n", `data: {"choices": [{"delta": {"content": [{"text": "\ud83e"}]}}]}`,
	)
}

func FuzzResponsesStream(f *testing.F) {
	fuzzStream(
		f, "responses", responseText+responseEnd, `{"object": "response", "status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "So."}]}]}`,
		`data: {"type": "response.output_item.done", "item": {"type": "function_call", "arguments": "{"}}`+"\n\n"+responseText+responseEnd,
		`data: {"type": "response.output_item.done", "item": {"type": "reasoning", "summary": [{}], "encrypted_content": "x"}}`+"\n\n"+responseText+responseEnd,
		`data: {"type": "response.failed", "response": {"error": {"code": "x", "message": [[["no"]]}}}`+"\n\n", `data: {"type": "error", "message": 7}`+"\n\n",
		`data: {"type": "response.output_text.delta", "delta": "\ud83e"}`+"\n\n"+`data: {"type": "response.incomplete", "response": {"incomplete_details": {"reason": 7}}}`+"\n\n",
	)
}

const (
	responseText = `data: {"type": "response.output_text.delta", "delta": "So. "}` + "\n\n"
	responseEnd  = `data: {"type": "response.completed", "response": {"status": "completed"}}` + "\n\n"
)

// fuzzStream reads any stream without a panic, and returns either a reply with text or an error of a known kind.
func fuzzStream(f *testing.F, api string, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var heard strings.Builder
		r := calltest.Ask()
		r.OnChunk = func(text string) error { heard.WriteString(text); return nil }
		res, err := replyOver(t, api, nil, func(context.Context) io.Reader { return strings.NewReader(body) }).Generate(t.Context(), r)
		if err == nil {
			require.NotEmpty(t, strings.TrimSpace(res.Text))
			require.Equal(t, res.Text, heard.String())
			_, err := json.Marshal(res)
			require.NoError(t, err)
			return
		}
		e, ok := errors.AsType[*providers.Error](err)
		require.True(t, ok)
		require.NotEmpty(t, e.Kind)
		require.Zero(t, res)
	})
}
