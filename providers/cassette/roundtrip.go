package cassette

import (
	"errors"
	"fmt"
	"net/http"
)

// RoundTrip makes and records a call, or answers from what was recorded.
func (c *Cassette) RoundTrip(req *http.Request) (*http.Response, error) {
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
		return nil, fmt.Errorf("call service: cassette %s is closed", c.path)
	case c.replaying:
		return c.replay(req, sent)
	}
	return c.record(req, sent)
}

// Close writes what was recorded, whole or not at all. Where the cassette replays, it returns an error for each request
// that nothing answered, and one for all that was recorded but not asked for. Bodies of responses should be closed
// before. Only the first call of Close does anything.
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

// readRequestBody is the body of a request, which it closes.
func readRequestBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	data, err := readLimited(req.Body, maxBodySize)
	return data, errors.Join(err, req.Body.Close())
}
