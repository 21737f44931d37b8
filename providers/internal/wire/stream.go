package wire

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elenchus-go/debate/providers"
)

// ErrDone is returned by [Call.Event] after the last event of a stream.
var ErrDone = errors.New("the stream is done")

// maxLine limits the length of a line in a stream, in bytes.
const maxLine = 8 << 20

// readEvents passes each event of a response to event, until the stream ends or event returns an error. It recognizes
// server-sent events, lines of JSON, and one JSON value. maxBytes limits the size of the whole response.
//
// It does not use a parser of server-sent events from a library: those read until an empty line, so that a long event
// that arrives slowly is searched again with every piece; they take an event that is cut off for a whole one; and they
// drop lines outside of events, which some servers use for errors.
func readEvents(resp *http.Response, w *watch, maxBytes int64, event func([]byte) error) error {
	body, err := plainBody(resp, w, maxBytes)
	if err != nil {
		return err
	}
	buffer, _ := readers.Get().(*bufio.Reader)
	buffer.Reset(body)
	defer func() { buffer.Reset(nil); readers.Put(buffer) }()
	l := &lines{r: buffer}
	first, err := firstByte(buffer)
	switch {
	case err != nil:
		return eof(err)
	case first == '<':
		return &providers.Error{Kind: providers.InvalidResponse, Err: errors.New("read reply: the server sent an HTML page: check that Config.BaseURL is the address of an API")}
	case first == '{', first == '[':
		err = l.readJSON(event)
	default:
		err = l.readSSE(event)
	}
	if errors.Is(err, ErrDone) {
		body.drain()
	}
	return err
}

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 16<<10) }}

// firstByte returns the first byte of a body that is not white space, without reading it. It skips a byte order mark.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.Peek(1)
		switch {
		case err != nil:
			return 0, err
		case b[0] == 0xEF:
			if mark, err := r.Peek(3); err != nil || string(mark) != "\xEF\xBB\xBF" {
				return b[0], nil
			}
			_, _ = r.Discard(2) // the rest of the mark follows
		case b[0] != ' ' && b[0] != '\n' && b[0] != '\r' && b[0] != '\t':
			return b[0], nil
		}
		_, _ = r.Discard(1)
	}
}

// eof returns nil at the end of a stream, and any other error unchanged.
func eof(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// A body is the body of a response. Its watch runs while it reads.
type body struct {
	r    io.Reader
	w    *watch
	left int64
	size int64
}

// plainBody returns the body of a response without compression. net/http decompresses what it asked for itself.
func plainBody(resp *http.Response, w *watch, maxBytes int64) (*body, error) {
	b := &body{r: resp.Body, w: w, left: maxBytes, size: maxBytes}
	if !strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		return b, nil
	}
	w.start()
	plain, err := gzip.NewReader(b.r) // reads the header
	w.pause()
	if err != nil {
		return nil, fmt.Errorf("read reply: %w", err)
	}
	b.r = plain
	return b, nil
}

// Read reads from the body.
func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: the stream is longer than %d bytes, which is more than the token limit explains", b.size)}
	}
	b.w.start()
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.w.pause()
	b.left -= int64(n)
	return n, err
}

// drainTime limits how long drain waits.
const drainTime = 250 * time.Millisecond

// drain reads the end of a stream, so that the connection can be used again.
func (b *body) drain() {
	const rest = 4 << 10
	b.left = min(b.left, rest)
	if b.w.limit > 0 {
		b.w.left = min(b.w.left, drainTime)
	}
	_, _ = io.Copy(io.Discard, b) // the reply is complete
}

// lines reads lines.
type lines struct {
	r    *bufio.Reader
	long []byte // a line that is longer than the buffer of r
}

// next returns the next line without its end. At the end of the stream it returns the rest, with the error that ended
// the stream. The line is valid until the next call.
func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = l.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			if l.long = append(l.long, line...); len(l.long) > maxLine {
				return nil, &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: a line of the stream is longer than %d bytes", maxLine)}
			}
			line, err = l.r.ReadSlice('\n')
		}
		l.long = append(l.long, line...)
		line = l.long
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// errTooLong returns the error for a value or an event in several lines that is too long.
func errTooLong() error {
	return &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: longer than %d bytes", maxLine)}
}

// readJSON reads lines that each hold a JSON value, or one JSON value in several lines.
func (l *lines) readJSON(event func([]byte) error) error {
	var held []byte // the lines of a value that is not complete
	each := false   // each line holds a value
	for {
		line, err := l.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		switch {
		case len(held) > 0:
			if held = append(append(held, '\n'), line...); len(held) > maxLine {
				return errTooLong()
			}
		case len(bytes.TrimSpace(line)) == 0:
		case each && (err == nil || line[len(line)-1] == '}'), json.Valid(line):
			each = true
			if failed := event(line); failed != nil {
				return failed
			}
		default:
			held = append(held, line...)
		}
		if err == nil {
			continue
		}
		if len(held) > 0 && json.Valid(held) {
			return event(held)
		}
		return nil // the rest was cut off
	}
}

// readSSE reads server-sent events. An event ends with an empty line. A server that leaves the empty lines out is
// understood if each of its data lines is a JSON value, or empty.
// Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
func (l *lines) readSSE(event func([]byte) error) error {
	var held []byte  // the data of an event
	begun := false   // an event has begun
	several := false // it has several data lines
	send := func() error {
		if !begun {
			return nil
		}
		begun = false
		return dispatch(held, event)
	}
	for {
		line, err := l.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		data, isData := bytes.CutPrefix(line, []byte("data:"))
		data = bytes.TrimPrefix(data, []byte(" "))
		var failed error
		switch {
		case err != nil && isData && !json.Valid(data) && string(data) != doneMark: // cut off
			return nil
		case isData && begun && (several || !isWhole(held)):
			several = true
			if held = append(append(held, '\n'), data...); len(held) > maxLine {
				return errTooLong()
			}
		case isData:
			failed = send()
			held, begun, several = append(held[:0], data...), true, false
		case len(line) == 0:
			failed = send()
		case line[0] == '{', line[0] == '<': // not an event
			if failed = send(); failed == nil {
				failed = dispatch(line, event)
			}
		case isError(line):
			failed = event(slices.Concat([]byte(`{"error":`), line[len(errorField):], []byte("}")))
		}
		if err != nil && failed == nil {
			return send()
		}
		if failed != nil {
			return failed
		}
	}
}

// errorField is a field of events that is not in their specification. llama.cpp used it for errors until September 2025.
// Source: https://github.com/ggml-org/llama.cpp/pull/16109
const errorField = "error:"

// isError reports whether a line is a field with an error.
func isError(line []byte) bool {
	return bytes.HasPrefix(line, []byte(errorField)) && json.Valid(line[len(errorField):])
}

// isWhole reports whether the first data line of an event can be the whole event.
func isWhole(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 || json.Valid(data) }

// doneMark is the data of the event with which OpenAI ends a stream.
const doneMark = "[DONE]"

// dispatch passes the data of an event on. Events without data keep the connection alive.
func dispatch(data []byte, event func([]byte) error) error {
	switch text := bytes.TrimSpace(data); {
	case len(text) == 0:
		return nil
	case string(text) == doneMark:
		return ErrDone
	}
	return event(data)
}
