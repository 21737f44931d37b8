package cassette

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/elenchus-go/debate/providers"
)

// RoundTrip sends and records the request, or answers it from the recording. It does not record a call whose request has
// private texts; see providers.IsPrivate.
func (c *Cassette) RoundTrip(req *http.Request) (*http.Response, error) {
	if providers.IsPrivate(req.Context()) {
		if c.replaying {
			return nil, fmt.Errorf("send request: cassette %s has no calls with private texts, use providers/scripted for them", c.path)
		}
		return c.transport.RoundTrip(req)
	}
	sent, err := readRequestBody(req)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	switch {
	case closed:
		return nil, fmt.Errorf("send request: cassette %s is closed", c.path)
	case c.replaying:
		return c.replay(req, sent)
	}
	return c.record(req, sent)
}

// Close writes the file of a recording cassette atomically. For a replaying cassette, Close returns an error for each
// request that matched no recorded one, and an error that lists the recorded requests that were not made. Close the
// bodies of responses first. Further calls of Close do nothing and return nil.
func (c *Cassette) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	if c.replaying {
		return errors.Join(append(c.problems, c.unused())...)
	}
	if err := errors.Join(append(c.problems, c.save())...); err != nil {
		return fmt.Errorf("record cassette %s: %w", c.path, err)
	}
	return nil
}

// readRequestBody reads and closes the body of a request.
func readRequestBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	data, err := readLimited(req.Body, maxBodySize)
	return data, errors.Join(err, req.Body.Close())
}
