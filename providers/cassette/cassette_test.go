package cassette_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers/cassette"
)

func open(t *testing.T, path string, o cassette.Options) *cassette.Cassette {
	t.Helper()
	c, err := cassette.Open(path, o)
	require.NoError(t, err)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// say sends a request and reads the response.
func say(c http.RoundTripper, method, address, body string, header ...string) (int, string, error) {
	req, err := http.NewRequest(method, address, strings.NewReader(body)) //nolint:noctx // the tests have nothing to cancel
	if err != nil {
		return 0, "", err
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	res, err := c.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), errors.Join(err, res.Body.Close())
}

// echo replies with a sequence number and the request's body.
func echo(t *testing.T) *httptest.Server {
	var mu sync.Mutex
	n := 0
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n++
		mine := n
		mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Retry-After", "7")
		w.Header().Set("X-Ratelimit-Remaining-Tokens", "99")
		w.Header().Set("X-Other", "not kept")
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprintf(w, "%d %s", mine, body)
	})
}

// replayedError records what f does to a service and returns the path of the cassette.
func replayedError(t *testing.T, s *httptest.Server, o cassette.Options, f func(c *cassette.Cassette)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "folder", "tape.json")
	o.Mode = cassette.Record
	c := open(t, path, o)
	f(c)
	require.NoError(t, c.Close())
	s.Close()
	return path
}

func TestWhatWasRecordedIsReplayedWithoutTheService(t *testing.T) {
	s := echo(t)
	calls := [][]string{
		{"POST", "/v1/chat?b=2&a=1", `{"b": 1.50, "a": ["x", {"d": null, "c": true}]}`},
		{"POST", "/v1/chat?b=2&a=1", `{"b": 1.50, "a": ["x", {"d": null, "c": true}]}`}, // the same request again
		{"POST", "/v1/chat", "no JSON <at> all"},
		{"GET", "/v1/models", ""},
		{"PUT", "/binary", "\xff\xfe\x00"},
	}
	path := replayedError(t, s, cassette.Options{}, func(c *cassette.Cassette) {
		for n, call := range calls {
			status, text, err := say(c, call[0], s.URL+call[1], call[2])
			require.NoError(t, err)
			require.Equal(t, 202, status)
			require.Equal(t, fmt.Sprintf("%d %s", n+1, call[2]), text)
		}
	})
	c := open(t, path, cassette.Options{})
	for _, again := range []struct {
		call, n    int
		path, body string
	}{ // in another order, to another host, and with other white space
		{4, 5, "", ""},
		{0, 1, "/v1/chat?a=1&b=2", `{"a":["x",{"c":true,"d":null}],"b":1.50}`},
		{3, 4, "", ""},
		{2, 3, "", ""},
		{1, 2, "", ""},
	} {
		call := calls[again.call]
		at, body := call[1], call[2]
		if again.path != "" {
			at, body = again.path, again.body
		}
		status, text, err := say(c, call[0], "http://elsewhere"+at, body)
		require.NoError(t, err)
		require.Equal(t, 202, status)
		require.Equal(t, fmt.Sprintf("%d %s", again.n, call[2]), text)
	}
	require.NoError(t, c.Close())
}

// service is a transport that replies without a network. Each piece of the body is one read; end follows the last one.
type service struct {
	status int
	header http.Header
	pieces []string
	end    error // Defaults to io.EOF
	fail   error // instead of a response
}

func (s service) RoundTrip(req *http.Request) (*http.Response, error) {
	if s.fail != nil {
		return nil, s.fail
	}
	h := s.header
	if h == nil {
		h = http.Header{}
	}
	return &http.Response{StatusCode: max(s.status, 200), Header: h, Body: &body{slices.Clone(s.pieces), s.end}, Request: req}, nil
}

type body struct {
	pieces []string
	end    error
}

func (b *body) Read(p []byte) (int, error) {
	if len(b.pieces) == 0 {
		if b.end != nil {
			return 0, b.end
		}
		return 0, io.EOF
	}
	n := copy(p, b.pieces[0])
	if b.pieces[0] = b.pieces[0][n:]; b.pieces[0] == "" {
		b.pieces = b.pieces[1:]
	}
	return n, nil
}

func (b *body) Close() error { return nil }

var stream = service{
	header: http.Header{"Content-Type": {"text/event-stream"}, "Date": {"now"}},
	pieces: []string{"data: <Be>\n\n", "data: \xe2\x82", "\xac\n\nda", "ta: [DONE]\n\n"},
}

// tape records one call of a service and returns the path of the cassette.
func tape(t *testing.T, o cassette.Options, s service, method, address, body string, header ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tape.json")
	o.Mode, o.Transport = cassette.Record, s
	c := open(t, path, o)
	_, _, _ = say(c, method, address, body, header...)
	require.NoError(t, c.Close())
	return path
}

func content(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func TestTheFileIsReadable(t *testing.T) {
	path := tape(t, cassette.Options{}, stream, "POST", "http://h/v1/chat?b=2&a=1#part", `{"b": 1.50, "a": "<x>"}`)
	require.Equal(t, `{
  "cassette": 2,
  "interactions": [
    {
      "method": "POST",
      "url": "http://h/v1/chat?a=1&b=2",
      "request_json": {
        "a": "<x>",
        "b": 1.50
      },
      "status": 200,
      "response_header": {
        "Content-Type": [
          "text/event-stream"
        ]
      },
      "response_chunks": [
        "data: <Be>\n\n",
        {
          "base64": "ZGF0YTog4oI="
        },
        {
          "base64": "rAoKZGE="
        },
        "ta: [DONE]\n\n"
      ]
    }
  ]
}
`, content(t, path))
}

func TestAStreamComesInThePiecesOfTheWire(t *testing.T) {
	path := tape(t, cassette.Options{}, stream, "GET", "http://h/", "")
	c := open(t, path, cassette.Options{Mode: cassette.Replay})
	res, err := (&http.Client{Transport: c}).Get("http://h/") //nolint:noctx // there is nothing to cancel
	require.NoError(t, err)
	require.Equal(t, "200 OK", res.Status)
	require.Equal(t, http.Header{"Content-Type": {"text/event-stream"}}, res.Header)
	var pieces []string
	for buffer := make([]byte, 100); ; {
		n, err := res.Body.Read(buffer)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		pieces = append(pieces, string(buffer[:n]))
	}
	require.Equal(t, stream.pieces, pieces)
	require.NoError(t, res.Body.Close())
	_, err = res.Body.Read(make([]byte, 1))
	require.ErrorContains(t, err, "closed")
	require.NoError(t, c.Close())
}

func TestPiecesDoNotDependOnHowTheClientReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.json")
	c := open(t, path, cassette.Options{Mode: cassette.Record, Transport: stream})
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://h/", nil)
	require.NoError(t, err)
	res, err := c.RoundTrip(req)
	require.NoError(t, err)
	var all []byte
	for one := make([]byte, 1); ; {
		n, err := res.Body.Read(one)
		all = append(all, one[:n]...)
		if err != nil {
			break
		}
	}
	require.Equal(t, strings.Join(stream.pieces, ""), string(all))
	require.NoError(t, c.Close())
	require.Equal(t, content(t, tape(t, cassette.Options{}, stream, "GET", "http://h/", "")), content(t, path))
}

func TestABodyThatIsNoStreamIsOnePiece(t *testing.T) {
	path := tape(t, cassette.Options{}, service{pieces: []string{`{"a"`, `:1}`}}, "GET", "http://h/", "")
	require.Contains(t, content(t, path), `"{\"a\":1}"`)
}

func TestErrorsAreReplayed(t *testing.T) {
	for name, test := range map[string]struct {
		s    service
		want error
	}{
		"no response":               {service{fail: errors.New("connection refused")}, errors.New("connection refused")},
		"cut":                       {service{pieces: []string{"Be"}, end: io.ErrUnexpectedEOF}, io.ErrUnexpectedEOF},
		"cancelled":                 {service{pieces: []string{"Be"}, end: context.Canceled}, context.Canceled},
		"cut with an unknown error": {service{pieces: []string{"Be"}, end: errors.New("connection reset")}, errors.New("connection reset")},
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, tape(t, cassette.Options{}, test.s, "GET", "http://h/", ""), cassette.Options{})
			_, text, err := say(c, "GET", "http://h/", "")
			require.ErrorContains(t, err, test.want.Error())
			require.Equal(t, strings.Join(test.s.pieces, ""), text)
			if name == "cut" || name == "cancelled" {
				require.ErrorIs(t, err, test.want)
			}
			require.NoError(t, c.Close())
		})
	}
}

func TestAnEndedContextEndsAReplay(t *testing.T) {
	path := tape(t, cassette.Options{}, stream, "GET", "http://h/", "")
	c := open(t, path, cassette.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", "http://h/", nil)
	require.NoError(t, err)
	res, err := c.RoundTrip(req)
	require.NoError(t, err)
	_, err = res.Body.Read(make([]byte, 100))
	require.NoError(t, err)
	cancel()
	_, err = res.Body.Read(make([]byte, 100))
	require.ErrorIs(t, err, context.Canceled)
	_, err = c.RoundTrip(req)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, c.Close())
}

func TestAMismatchNamesTheNearestAndTheFirstDifference(t *testing.T) {
	long := strings.Repeat("cars ", 100)
	s := echo(t)
	path := replayedError(t, s, cassette.Options{}, func(c *cassette.Cassette) {
		for _, call := range [][]string{
			{"POST", "/chat", `{"model": "a", "messages": [{"text": "` + long + `here"}, {"text": "x"}], "n": 1}`},
			{"POST", "/chat", `{"model": "b", "messages": [], "n": 2}`},
			{"GET", "/models", ""},
			{"PUT", "/text", "some text"},
		} {
			_, _, err := say(c, call[0], s.URL+call[1], call[2])
			require.NoError(t, err)
		}
	})
	for name, test := range map[string]struct {
		method, path, body string
		nearest            int
		first              string
	}{
		"text":                   {"POST", "/chat", `{"model": "a", "messages": [{"text": "` + long + `there"}, {"text": "x"}], "n": 1}`, 1, `body.messages[0].text, at byte 500: recorded "...cars cars cars cars here", got "...cars cars cars cars there"`},
		"number":                 {"POST", "/chat", `{"model": "b", "messages": [], "n": 3}`, 2, `body.n: recorded 2, got 3`},
		"new key":                {"POST", "/chat", `{"model": "b", "messages": [], "n": 2, "top_p": 1}`, 2, `body.top_p: recorded nothing, got 1`},
		"missing key":            {"POST", "/chat", `{"model": "b", "messages": []}`, 2, `body.n: recorded 2, got nothing`},
		"longer list":            {"POST", "/chat", `{"model": "b", "messages": [{}], "n": 2}`, 2, `body.messages: recorded 0 elements, got 1`},
		"other type":             {"POST", "/chat", `{"model": "b", "messages": {}, "n": 2}`, 2, `body.messages: recorded [], got {}`},
		"other type, long value": {"POST", "/chat", `{"model": "b", "messages": [], "n": ["` + strings.Repeat("ü", 50) + `"]}`, 2, `body.n: recorded 2, got ["` + strings.Repeat("ü", 29) + `...`},
		"other path":             {"GET", "/model", "", 3, `path: recorded /models, got /model`},
		"other query":            {"GET", "/models?limit=1", "", 3, `path: recorded /models, got /models?limit=1`},
		"other method":           {"DELETE", "/models", "", 3, `method: recorded GET, got DELETE`},
		"text, not JSON":         {"PUT", "/text", "some tests", 4, `body, at byte 7: recorded "some text", got "some tests"`},
		"missing body":           {"PUT", "/text", "", 4, `body: recorded "some text", got null`},
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, path, cassette.Options{})
			_, _, err := say(c, test.method, "http://h"+test.path, test.body)
			require.EqualError(t, err, fmt.Sprintf("replay %s: %s http://h%s was not recorded; nearest is interaction %d of 4: %s; to record again, set DEBATE_CASSETTE=record",
				path, test.method, test.path, test.nearest, test.first))
			require.ErrorContains(t, c.Close(), err.Error(), "Close returns errors that clients hide")
		})
	}
}

func TestAskingMoreOftenThanRecordedIsAMismatch(t *testing.T) {
	path := tape(t, cassette.Options{}, stream, "GET", "http://h/x", "")
	c := open(t, path, cassette.Options{})
	_, _, err := say(c, "GET", "http://h/x", "")
	require.NoError(t, err)
	_, _, err = say(c, "GET", "http://h/x", "")
	require.ErrorContains(t, err, "interaction 1 of 1: an identical request, already replayed")
}

func TestCloseReportsWhatWasNotAskedFor(t *testing.T) {
	s := echo(t)
	path := replayedError(t, s, cassette.Options{}, func(c *cassette.Cassette) {
		for _, path := range []string{"/a", "/b", "/c"} {
			_, _, err := say(c, "GET", s.URL+path, "")
			require.NoError(t, err)
		}
	})
	c := open(t, path, cassette.Options{})
	_, _, err := say(c, "GET", "http://h/b", "")
	require.NoError(t, err)
	err = c.Close()
	require.EqualError(t, err, fmt.Sprintf("replay %s: 2 of 3 interactions were not requested: 1 (GET %s/a), 3 (GET %s/c)", path, s.URL, s.URL))
	require.NoError(t, c.Close(), "only once")
	_, _, err = say(c, "GET", "http://h/a", "")
	require.ErrorContains(t, err, "is closed")
}

func TestTheModeIsGivenElseOfTheEnvironmentElseReplay(t *testing.T) {
	there := tape(t, cassette.Options{}, stream, "GET", "http://h/", "")
	gone := filepath.Join(t.TempDir(), "gone.json")
	for name, test := range map[string]struct {
		mode     cassette.Mode
		variable string
		path     string
		records  bool
		wrong    string
	}{
		"replay":                   {"replay", "record", there, false, ""},
		"replay by default":        {"", "", there, false, ""},
		"nothing to replay":        {"", "", gone, false, "open cassette " + gone + ": no recording, run once with DEBATE_CASSETTE=record: "},
		"record":                   {"record", "replay", there, true, ""},
		"record by the variable":   {"", "record", there, true, ""},
		"once":                     {"once", "", gone, true, ""},
		"once, file exists":        {"", "once", there, false, ""},
		"unknown mode":             {"", "always", there, false, "open cassette " + there + `: unknown mode "always", want replay, record or once`},
		"once, path is a folder":   {"once", "", t.TempDir(), false, "is a directory"},
		"replay, path is a folder": {"replay", "", t.TempDir(), false, "is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(cassette.EnvVar, test.variable)
			calls := 0
			c, err := cassette.Open(test.path, cassette.Options{Mode: test.mode, Transport: counter{&calls}})
			if test.wrong != "" {
				require.ErrorContains(t, err, test.wrong)
				require.Nil(t, c)
				return
			}
			require.NoError(t, err)
			_, _, err = say(c, "GET", "http://h/", "")
			require.NoError(t, err)
			require.Equal(t, test.records, calls == 1)
		})
	}
}

type counter struct{ calls *int }

func (c counter) RoundTrip(req *http.Request) (*http.Response, error) {
	*c.calls++
	return stream.RoundTrip(req)
}

func TestARecordingWithoutACallLeavesTheFileAsItIs(t *testing.T) {
	path := tape(t, cassette.Options{}, stream, "GET", "http://h/", "")
	before := content(t, path)
	c := open(t, path, cassette.Options{Mode: cassette.Record})
	require.EqualError(t, c.Close(), "record cassette "+path+": file not written: no request was made")
	require.Equal(t, before, content(t, path))
}

func TestAFileThatCannotBeWrittenIsAnError(t *testing.T) {
	blocked := filepath.Join(tape(t, cassette.Options{}, stream, "GET", "http://h/", ""), "x.json") // below a file
	folder := t.TempDir()
	for _, path := range []string{blocked, folder} {
		c := open(t, path, cassette.Options{Mode: cassette.Record, Transport: stream})
		_, _, err := say(c, "GET", "http://h/", "")
		require.NoError(t, err)
		require.ErrorContains(t, c.Close(), "record cassette "+path)
	}
	left, err := os.ReadDir(filepath.Dir(folder))
	require.NoError(t, err)
	for _, f := range left {
		require.NotContains(t, f.Name(), filepath.Base(folder)+".", "nothing half done is left")
	}
}

func TestWhatIsTooLargeIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.json")
	many := make([]string, 17)
	for i := range many {
		many[i] = strings.Repeat("x", 1<<20)
	}
	c := open(t, path, cassette.Options{Mode: cassette.Record, Transport: service{pieces: many}})
	_, text, err := say(c, "GET", "http://h/large", "")
	require.NoError(t, err)
	require.Len(t, text, 17<<20, "the client has all of it")
	err = c.Close()
	require.ErrorContains(t, err, "GET http://h/large: the response body exceeds 16777216 bytes\nfile not written")
	require.NoFileExists(t, path)

	c = open(t, path, cassette.Options{Mode: cassette.Record, Transport: stream})
	_, _, err = say(c, "POST", "http://h/", strings.Join(many, ""))
	require.EqualError(t, err, "read request: size exceeds 16777216 bytes")
}

func TestABodyThatIsStillEncodedIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.json")
	c := open(t, path, cassette.Options{Mode: cassette.Record, Transport: service{header: http.Header{"Content-Encoding": {"br"}}}})
	_, _, err := say(c, "GET", "http://h/", "", "Accept-Encoding", "br")
	require.NoError(t, err)
	require.ErrorContains(t, c.Close(), "GET http://h/: cannot find secrets in a body with Content-Encoding br")
	require.NoFileExists(t, path)
}

func TestTheTransportIsLeftToDecode(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "gzip", r.Header.Get("Accept-Encoding"), "the transport's own")
		_, _ = io.WriteString(w, "plain")
	})
	path := replayedError(t, s, cassette.Options{}, func(c *cassette.Cassette) {
		_, text, err := say(c, "GET", s.URL, "", "Accept-Encoding", "br, gzip")
		require.NoError(t, err)
		require.Equal(t, "plain", text)
	})
	require.Contains(t, content(t, path), `"plain"`)
}

func TestABodyThatWasNotReadToItsEndIsKeptAsFar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.json")
	c := open(t, path, cassette.Options{Mode: cassette.Record, Transport: stream})
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://h/", nil)
	require.NoError(t, err)
	res, err := c.RoundTrip(req)
	require.NoError(t, err)
	_, err = res.Body.Read(make([]byte, 3))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(t, err, "the client may go on")

	_, text, err := say(open(t, path, cassette.Options{}), "GET", "http://h/", "")
	require.NoError(t, err)
	require.Equal(t, stream.pieces[0], text)
}

func TestManyCallsAtOnceAreRecordedAndReplayed(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})
	at := func(c http.RoundTripper) {
		var wg sync.WaitGroup
		for n := range 40 {
			wg.Go(func() {
				want := fmt.Sprintf(`{"n":%d}`, n%20)
				_, text, err := say(c, "POST", s.URL, want, "Authorization", "Bearer some-key-0123")
				if err != nil || text != want {
					t.Error(text, err)
				}
			})
		}
		wg.Wait()
	}
	c := open(t, replayedError(t, s, cassette.Options{}, func(c *cassette.Cassette) { at(c) }), cassette.Options{})
	at(c)
	require.NoError(t, c.Close())
}

func TestNoSecretIsWritten(t *testing.T) {
	secrets := map[string]string{
		"bearer": "sk-bearer-0123456789", "basic": "basic/pass+word==", "proxy": "sk-proxy-0123456789", "x-api-key": "sk-x-api-0123456789",
		"api-key": "sk-api-key-01234567", "goog": "AIza-goog-012345678", "query": "query key/with+signs&", "cookie": "cookie-0123456789",
		"set": "set-cookie-0123456789", "user": "url-password-0123", "short": "pin7", "gateway": "gw-0123456789abc", "portkey": "pk-0123456789abc", "odd": `given "quoted" <b> \ ü`, "path": "path-token-0123",
	}
	all := make([]string, 0, len(secrets))
	for _, secret := range secrets {
		all = append(all, secret)
	}
	quoted := fmt.Sprintf("%q and %s", all, strings.Join(all, " "))
	plain := base64.StdEncoding.EncodeToString([]byte("me:" + secrets["basic"]))
	half := len(secrets["bearer"]) / 2
	s := service{
		status: 401,
		header: http.Header{"Content-Type": {"text/event-stream; for=" + secrets["bearer"]}, "Set-Cookie": {"s=" + secrets["set"]}, "X-Echo": all},
		pieces: []string{"data: {\"error\": \"" + secrets["bearer"][:half], secrets["bearer"][half:], " is wrong\"}\n\n", quoted, secrets["short"], "\xff" + secrets["goog"]},
		end:    errors.New("read with " + secrets["x-api-key"]),
	}
	path := tape(t, cassette.Options{Secrets: []string{"", secrets["short"], secrets["odd"], secrets["path"]}}, s,
		"POST", "http://me:"+secrets["user"]+"@h/v1/"+secrets["path"]+"/chat?alt=sse&key="+url.QueryEscape(secrets["query"])+"&Token=short&x="+secrets["bearer"],
		fmt.Sprintf(`{"model": "m", "user": %q, "nested": %q, "pin": "pin7"}`, secrets["bearer"], quoted),
		"Authorization", "Bearer "+secrets["bearer"], "Authorization", "Basic "+plain, "Proxy-Authorization", "Bearer "+secrets["proxy"],
		"X-Api-Key", secrets["x-api-key"], "Api-Key", secrets["api-key"], "X-Goog-Api-Key", secrets["goog"], "Cookie", "c="+secrets["cookie"],
		"Ocp-Apim-Subscription-Key", secrets["gateway"], "X-Portkey-Api-Key", secrets["portkey"], "Helicone-Auth", "Bearer "+secrets["portkey"])

	text := content(t, path)
	require.Contains(t, text, "http://h/v1/SCRUBBED/chat?Token=SCRUBBED&alt=sse&key=SCRUBBED&x=SCRUBBED")
	require.Contains(t, text, `data: {\"error\": \"SCRUBBED`)
	require.Contains(t, text, `"user": "SCRUBBED"`)
	for name, secret := range secrets {
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(fmt.Sprintf("%q", secret), `"`), plain} {
			require.NotContains(t, text, form, name)
			require.NotContains(t, text, base64.StdEncoding.EncodeToString([]byte(form)), name)
		}
	}

	// The same call with other keys, because replaying tests have no real ones.
	c := open(t, path, cassette.Options{Secrets: []string{"dummy/path", "dummy-odd", "1111"}})
	_, got, err := say(c, "POST", "http://h/v1/dummy%2Fpath/chat?alt=sse&key=&Token=none&x=dummy-bearer",
		`{"model": "m", "user": "dummy-bearer", "pin": "1111", "nested": `+nested(t, text)+`}`, "Authorization", "Bearer dummy-bearer")
	require.ErrorContains(t, err, "read with SCRUBBED")
	require.True(t, strings.HasPrefix(got, "data: {\"error\": \"SCRUBBED is wrong\"}\n\n"), got)
	require.NoError(t, c.Close())
}

// nested returns the recorded value of "nested", which is the text around the secrets.
func nested(t *testing.T, file string) string {
	_, rest, found := strings.Cut(file, `"nested": `)
	require.True(t, found)
	value, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSuffix(value, ",")
}

func TestAShortKeyOfALocalServerSpoilsNoText(t *testing.T) {
	path := tape(t, cassette.Options{}, service{pieces: []string{"There is none."}}, "GET", "http://h/", "", "Authorization", "Bearer none")
	require.Contains(t, content(t, path), `"There is none."`)
}

func TestAMismatchShowsNoSecret(t *testing.T) {
	c := open(t, tape(t, cassette.Options{}, stream, "GET", "http://h/", ""), cassette.Options{})
	_, _, err := say(c, "POST", "http://h/?key=sk-0123456789", `"sk-0123456789"`, "Authorization", "Bearer sk-0123456789")
	require.Error(t, err)
	require.NotContains(t, err.Error()+c.Close().Error(), "0123456789")
}

func TestASecretThatTheFormatNeedsIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.json")
	c := open(t, path, cassette.Options{Mode: cassette.Record, Transport: stream, Secrets: []string{"status"}})
	_, _, err := say(c, "GET", "http://h/", "")
	require.NoError(t, err)
	require.ErrorContains(t, c.Close(), "file not written: it would contain a secret")
	require.NoFileExists(t, path)
}

func TestTheRequestOfTheClientStaysAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.json")
	c := open(t, path, cassette.Options{Mode: cassette.Record, Transport: service{}})
	sent := &closer{Reader: bytes.NewReader([]byte("text"))}
	req, err := http.NewRequestWithContext(t.Context(), "POST", "http://h/?key=sk-0123456789", sent)
	require.NoError(t, err)
	req.Header.Set("Accept-Encoding", "br")
	res, err := c.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.Header{"Accept-Encoding": {"br"}}, req.Header)
	require.Equal(t, "key=sk-0123456789", req.URL.RawQuery)
	require.Same(t, sent, req.Body)
	require.True(t, sent.closed)
}

type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error {
	c.closed = true
	return nil
}
