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

// replay answers a request from the recording.
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

// response returns the recorded response, or the recorded error.
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

// replayedError returns an error with the recorded text. If the text is that of io.ErrUnexpectedEOF, context.Canceled
// or context.DeadlineExceeded, it returns that error, so that errors.Is works.
func replayedError(text string) error {
	for _, err := range []error{io.ErrUnexpectedEOF, context.Canceled, context.DeadlineExceeded} {
		if text == err.Error() {
			return err
		}
	}
	return errors.New(text)
}

// replayBody returns a recorded body chunk by chunk, until its context ends.
type replayBody struct {
	ctx context.Context

	mu     sync.Mutex // clients may close a body on another goroutine than the one that reads it
	chunks []chunk    // the chunks that are not yet fully read
	at     int        // the position in the first chunk
	end    error      // the error after the last chunk
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
	r.chunks, r.end = nil, errors.New("read response body: already closed")
	return nil
}

// mismatch returns the error for a request that matches no recorded one.
func (c *Cassette) mismatch(got *interaction) error {
	if len(c.interactions) == 0 {
		return fmt.Errorf("replay %s: %s %s: the cassette is empty", c.path, got.Method, got.URL)
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
		first = "an identical request, already replayed: the request was made more often than it was recorded"
	}
	return fmt.Errorf("replay %s: %s %s was not recorded; nearest is interaction %d of %d: %s; to record again, set %s=%s",
		c.path, got.Method, got.URL, nearest+1, len(c.interactions), first, EnvVar, Record)
}

// unused returns an error that lists the interactions that were not replayed, or nil if all were.
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
	return fmt.Errorf("replay %s: %d of %d interactions were not requested: %s", c.path, len(left), len(c.interactions), strings.Join(left, ", "))
}
