package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// record sends a request and records it with its response.
func (c *Cassette) record(req *http.Request, sent []byte) (*http.Response, error) {
	i := &interaction{Method: req.Method, RequestRaw: sent}
	c.mu.Lock()
	c.scrubber.addRequestSecrets(req)
	i.URL = c.scrubber.url(req.URL)
	c.interactions = append(c.interactions, i)
	c.mu.Unlock()

	passed := req.Clone(req.Context())
	passed.Header.Del("Accept-Encoding") // lets the transport decompress, because secrets cannot be found in compressed data
	if req.Body != nil {
		passed.Body = io.NopCloser(bytes.NewReader(sent))
	}
	res, err := c.transport.RoundTrip(passed)

	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		i.Error = err.Error()
		return nil, err
	}
	c.scrubber.addCookieSecrets(res.Cookies())
	i.Status, i.ResponseHeader = res.StatusCode, keptHeaders(res.Header)
	if encoding := res.Header.Get("Content-Encoding"); encoding != "" {
		c.problems = append(c.problems, fmt.Errorf("%s %s: cannot find secrets in a body with Content-Encoding %s", i.Method, i.URL, encoding))
	}
	res.Body = &recordingBody{cassette: c, interaction: i, body: res.Body}
	return res, nil
}

// keptHeaders returns the headers that clients need: content type, retry delay and rate limits.
func keptHeaders(h http.Header) http.Header {
	some := http.Header{}
	for name, values := range h {
		if name == "Content-Type" || name == "Retry-After" || strings.Contains(name, "Ratelimit") {
			some[name] = slices.Clone(values)
		}
	}
	return some
}

// scrub removes the secrets from a recorded interaction, and joins the chunks of a body that is not a stream.
func (i *interaction) scrub(s *scrubber) {
	i.URL, i.Error = s.text(i.URL), s.text(i.Error)
	i.setRequestBody(s.bytes(i.RequestRaw))
	for _, values := range i.ResponseHeader {
		for n := range values {
			values[n] = s.text(values[n])
		}
	}
	pieces := make([][]byte, len(i.ResponseChunks))
	for n, p := range i.ResponseChunks {
		pieces[n] = p
	}
	pieces = s.chunks(pieces)
	if !i.streams() && len(pieces) > 0 {
		pieces = [][]byte{bytes.Join(pieces, nil)}
	}
	i.ResponseChunks = i.ResponseChunks[:0]
	for _, p := range pieces {
		i.ResponseChunks = append(i.ResponseChunks, p)
	}
}

// recordingBody records the body of a response while the client reads it. It fills its own buffer, whatever the size of
// the client's, so that the recorded chunks are the chunks that arrived.
type recordingBody struct {
	cassette    *Cassette
	interaction *interaction
	body        io.ReadCloser
	size        int // the number of bytes read so far
	buffer      []byte
	rest        []byte // the part of buffer that the client has not read yet
	err         error  // returned after rest
}

func (t *recordingBody) Read(p []byte) (int, error) {
	if len(t.rest) == 0 && t.err == nil {
		if t.buffer == nil {
			t.buffer = make([]byte, 32<<10)
		}
		n, err := t.body.Read(t.buffer)
		t.rest, t.err = t.buffer[:n], err
		t.record()
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	if len(t.rest) > 0 {
		return n, nil
	}
	return n, t.err
}

func (t *recordingBody) Close() error { return t.body.Close() }

func (t *recordingBody) record() {
	c, i := t.cassette, t.interaction
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return // the file is already written
	}
	before := t.size
	t.size += len(t.rest)
	switch {
	case t.size <= maxBodySize && len(t.rest) > 0:
		i.ResponseChunks = append(i.ResponseChunks, bytes.Clone(t.rest))
	case t.size > maxBodySize && before <= maxBodySize:
		c.problems = append(c.problems, fmt.Errorf("%s %s: the response body exceeds %d bytes", i.Method, i.URL, maxBodySize))
	}
	if t.err != nil && !errors.Is(t.err, io.EOF) {
		i.Error = t.err.Error()
	}
}

// save scrubs the interactions and writes the file.
func (c *Cassette) save() error {
	switch {
	case len(c.problems) > 0:
		return errors.New("file not written")
	case len(c.interactions) == 0:
		return errors.New("file not written: no request was made")
	}
	for _, i := range c.interactions {
		i.scrub(&c.scrubber)
	}
	data, err := encode(c.interactions)
	if err != nil {
		return err
	}
	if len(c.scrubber.find(data)) > 0 {
		return errors.New("file not written: it would contain a secret; check that no secret is a common word")
	}
	return write(c.path, data)
}
