package langchain

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"github.com/elenchus-go/debate/providers/internal/fault"
)

// HTTPClient returns a client for a model of langchaingo that reports errors within streams. Without it, the models of OpenAI drop
// such an error, and what arrived before it seems to be a whole reply:
//
//	model, err := openai.New(openai.WithHTTPClient(langchain.HTTPClient(nil)))
//
// The client is otherwise like the given one, or, if that is nil, like one with default settings.
func HTTPClient(like *http.Client) *http.Client {
	c := http.Client{}
	if like != nil {
		c = *like
	}
	base := c.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	c.Transport = transport{base}
	return &c
}

// transport watches the streams of responses.
type transport struct{ base http.RoundTripper }

// RoundTrip sends a request.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(r)
	if err == nil && resp.StatusCode == http.StatusOK {
		resp.Body = &watched{ReadCloser: resp.Body, header: resp.Header, secrets: fault.Secrets(r)}
	}
	return resp, err
}

// watched is the body of a response. It ends with the first error that a line of it reports.
type watched struct {
	io.ReadCloser

	header  http.Header
	secrets []string
	line    []byte // what has arrived of the line
	skips   bool   // the line is too long for an error
	failed  error
}

// maxLine limits the length of a line that is looked at, in bytes.
const maxLine = 64 << 10

// Read reads from the body.
func (w *watched) Read(p []byte) (int, error) {
	if w.failed != nil {
		return 0, w.failed
	}
	n, err := w.ReadCloser.Read(p)
	for at := 0; at < n; {
		end := bytes.IndexByte(p[at:n], '\n')
		if end < 0 {
			w.hold(p[at:n])
			break
		}
		w.hold(p[at : at+end])
		w.failed = w.errorIn(w.line)
		if w.failed != nil {
			return at, w.failed
		}
		w.line = w.line[:0]
		w.skips = false
		at += end + 1
	}
	if err != nil && w.failed == nil {
		w.failed = w.errorIn(w.line)
		if w.failed != nil {
			return 0, w.failed
		}
	}
	return n, err
}

// hold adds a piece to the line.
func (w *watched) hold(piece []byte) {
	w.skips = w.skips || len(w.line)+len(piece) > maxLine
	if w.skips {
		w.line = w.line[:0]
		return
	}
	w.line = append(w.line, piece...)
}

// errorIn returns the error that a line of a stream reports, or nil.
func (w *watched) errorIn(line []byte) error {
	text := strings.TrimSpace(string(line))
	data, isEvent := strings.CutPrefix(text, "data:")
	data = strings.TrimSpace(data)
	if !isEvent && !strings.HasPrefix(data, "{") {
		return nil
	}
	f := fault.InEvent([]byte(data))
	if f == nil {
		return nil
	}
	f.ReadHeader(w.header)
	return f.Error(w.secrets)
}
