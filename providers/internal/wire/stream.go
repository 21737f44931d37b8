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
	case first == '<', isPage(resp, buffer):
		err := errors.New("read reply: the server sent an HTML page: check that Config.BaseURL is the address of an API")
		return &providers.Error{Kind: providers.WrongAddress, Err: err}
	case first == '[':
		err = readArray(buffer, event)
	case first == '{':
		err = l.readJSON(event)
	default:
		err = l.readSSE(event)
	}
	if errors.Is(err, ErrDone) {
		body.drain()
	}
	return err
}

// isPage reports whether a body of HTML begins with text, and not with JSON or events.
func isPage(resp *http.Response, body *bufio.Reader) bool {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return false
	}
	begins := func(mark string) bool {
		next, _ := body.Peek(len(mark))
		return string(next) == mark
	}
	return !slices.ContainsFunc([]string{"{", "[", ":", "data:", "event:", "id:", "retry:", errorField}, begins)
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
	cr   bool // the last byte was a carriage return
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

// Read reads from the body. It returns a carriage return without a line feed as a line feed, because it ends a line of
// server-sent events too. JSON has none within strings.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.read(p)
	if b.cr && n > 0 && p[0] == '\n' { // the carriage return was read before
		copy(p, p[1:n])
		n--
	}
	b.cr = b.cr && n == 0
	for at := 0; ; at++ {
		i := bytes.IndexByte(p[at:n], '\r')
		if i < 0 {
			return n, err
		}
		at += i
		if at+1 == n || p[at+1] != '\n' {
			p[at] = '\n'
			b.cr = at+1 == n
		}
	}
}

func (b *body) read(p []byte) (int, error) {
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
	b.w.limitRest(drainTime)
	_, _ = io.Copy(io.Discard, b) // the reply is complete
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
			held = append(append(held, '\n'), line...)
			if len(held) > maxLine {
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

// readArray passes on each element of a JSON array, as Google sends a stream for which no server-sent events are asked.
func readArray(r io.Reader, event func([]byte) error) error {
	part := &io.LimitedReader{R: r}
	d := json.NewDecoder(part)
	part.N = maxLine
	if _, err := d.Token(); err != nil {
		return eof(err)
	}
	for d.More() {
		part.N = maxLine
		var element json.RawMessage
		switch err := d.Decode(&element); {
		case err != nil && part.N <= 0:
			return errTooLong()
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // cut off
			return nil
		case malformed(err):
			return &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: %w", err)}
		case err != nil:
			return err
		}
		if err := event(element); err != nil {
			return err
		}
	}
	return nil
}
