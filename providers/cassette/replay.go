package cassette

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// replay answers a request by what was recorded.
func (c *Cassette) replay(req *http.Request, sent []byte) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scrubber.addRequestSecrets(req)
	got := &interaction{Method: req.Method, URL: c.scrubber.url(req.URL)}
	got.setRequestBody(c.scrubber.bytes(sent))
	for _, i := range c.interactions {
		if !i.replayed && i.matches(got) {
			i.replayed = true
			return i.response(req)
		}
	}
	err := c.mismatch(got)
	c.problems = append(c.problems, err)
	return nil, err
}

// response is what a recorded service answers.
func (i *interaction) response(req *http.Request) (*http.Response, error) {
	if i.Status == 0 {
		return nil, replayedError(i.Error)
	}
	end := io.EOF
	if i.Error != "" {
		end = replayedError(i.Error)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", i.Status, http.StatusText(i.Status)), StatusCode: i.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: i.ResponseHeader.Clone(), ContentLength: -1, Request: req,
		Body: &replayBody{ctx: req.Context(), chunks: i.ResponseChunks, end: end},
	}, nil
}

// replayedError is an error that was replayedError. Of those that programs ask for, it is what they expect.
func replayedError(text string) error {
	for _, err := range []error{io.ErrUnexpectedEOF, context.Canceled, context.DeadlineExceeded} {
		if text == err.Error() {
			return err
		}
	}
	return errors.New(text)
}

// replayBody gives a body piece by piece, until its context ends.
type replayBody struct {
	ctx context.Context

	mu     sync.Mutex // clients close a body on another goroutine than that which reads it
	chunks []chunk
	at     int // in the first of them
	end    error
}

func (r *replayBody) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.chunks) > 0 && r.at == len(r.chunks[0]) {
		r.chunks, r.at = r.chunks[1:], 0
	}
	if len(r.chunks) == 0 {
		return 0, r.end
	}
	n := copy(p, r.chunks[0][r.at:])
	r.at += n
	return n, nil
}

func (r *replayBody) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.chunks, r.end = nil, errors.New("read body of response: it is closed")
	return nil
}

// mismatch says what is different about a request that nothing answers.
func (c *Cassette) mismatch(got *interaction) error {
	if len(c.interactions) == 0 {
		return fmt.Errorf("replay %s: %s %s: nothing is recorded", c.path, got.Method, got.URL)
	}
	nearest, least, first := 0, 0, ""
	for n, i := range c.interactions {
		d := i.differences(got)
		score := 2 * d.count
		if i.replayed {
			score++
		}
		if n == 0 || score < least {
			nearest, least, first = n, score, d.first
		}
	}
	if first == "" {
		first = "the same, but replayed already: it is asked for more often than it was recorded"
	}
	return fmt.Errorf("replay %s: %s %s was not recorded; nearest is interaction %d of %d: %s; to record anew set %s=%s",
		c.path, got.Method, got.URL, nearest+1, len(c.interactions), first, EnvVar, Record)
}

// unused is an error that lists what was not asked for; nil where there is nothing.
func (c *Cassette) unused() error {
	var left []string
	for n, i := range c.interactions {
		if !i.replayed {
			left = append(left, fmt.Sprintf("%d (%s %s)", n+1, i.Method, i.URL))
		}
	}
	if left == nil {
		return nil
	}
	return fmt.Errorf("replay %s: %d of %d interactions were not asked for: %s", c.path, len(left), len(c.interactions), strings.Join(left, ", "))
}
