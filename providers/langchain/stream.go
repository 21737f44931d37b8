package langchain

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/elenchus-go/debate/providers"
)

// maxReplySize limits the size of a response that does not stream, in bytes.
const maxReplySize = 32 << 20

// observeBody replaces the body of a response so that s observes what the model reads.
func observeBody(resp *http.Response, a *api, s *responseObserver, streams bool) (*http.Response, error) {
	switch {
	case a.maxLine == 0: // streams without lines; the model detects their errors
		resp.Body = &bodyScanner{ReadCloser: resp.Body, observer: s}
		return resp, nil
	case streams:
		resp.Body = &stream{body: resp.Body, lines: bufio.NewReader(resp.Body), maxLine: a.maxLine, jsonLines: a.jsonLines, observer: s}
		return resp, nil
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxReplySize+1))
	_ = resp.Body.Close()
	switch {
	case err != nil:
		s.connectionFailed(err)
		return nil, err
	case len(raw) > maxReplySize:
		err = &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: longer than %d bytes", maxReplySize)}
	default:
		err = s.observe(raw)
	}
	if failed, ok := errors.AsType[*providers.Error](err); ok {
		s.fail(failed)
	}
	s.mu.Lock()
	s.complete = true
	s.mu.Unlock()
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return resp, nil
}

// stream is a body that passes a stream to the model line by line. If the reply ends with an error, reading ends with
// that error, so that the model cannot take a part for the whole reply. Lines after an error are dropped, because with
// them langchaingo's anthropic would leak a goroutine.
type stream struct {
	body      io.Closer
	lines     *bufio.Reader
	maxLine   int
	jsonLines bool
	observer  *responseObserver

	line []byte // the unread part of the current line
	cut  []byte // the first bytes of a character that the service has cut
	rest []byte // lines outside of events, which may form a response that is an error
	err  error  // returned after the line
}

// Close closes the connection, which ends reading.
func (s *stream) Close() error { return s.body.Close() }

// Read reads the rest of the current line, or the next line.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.line) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.next()
	}
	n := copy(p, s.line)
	s.line = s.line[n:]
	return n, nil
}

// next reads and observes a line.
func (s *stream) next() {
	var line []byte
	for {
		piece, err := s.lines.ReadSlice('\n')
		line = append(line, piece...)
		if len(line) > s.maxLine {
			s.fail(&providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: a line of the stream is longer than %d bytes", s.maxLine)})
			return
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		s.err = err
		break
	}
	line = s.joinCharacter(line)
	if failed, ok := errors.AsType[*providers.Error](s.observeLine(bytes.TrimSpace(line))); ok {
		s.fail(failed)
		return
	}
	if s.line = line; s.jsonLines && len(bytes.TrimSpace(line)) == 0 {
		s.line = nil // langchaingo reports an empty line as invalid JSON
	}
	if s.err != nil {
		s.observeEnd()
	}
}

// joinCharacter joins a character whose bytes a service has sent at the end of one text and at the start of the next.
// The JSON decoder would replace both parts.
func (s *stream) joinCharacter(line []byte) []byte {
	if len(s.cut) == 0 && utf8.Valid(line) {
		return line
	}
	for i := 1; i < len(line) && len(s.cut) > 0; i++ {
		if line[i-1] == '"' && !utf8.RuneStart(line[i]) {
			line, s.cut = slices.Insert(line, i, s.cut...), nil
		}
	}
	for i := range line {
		if line[i] != '"' {
			continue
		}
		start := max(0, i-utf8.UTFMax)
		if from := start + completeRunes(string(line[start:i])); from < i {
			s.cut = slices.Clone(line[from:i])
			return slices.Delete(line, from, i)
		}
	}
	return line
}

// fragment reports whether the stream broke off inside the line.
func (s *stream) fragment(data []byte) bool { return s.err != nil && !json.Valid(data) }

func (s *stream) fail(e *providers.Error) {
	s.observer.fail(e)
	s.line, s.err = nil, e
}

// observeLine observes a line. An error ends the stream.
func (s *stream) observeLine(line []byte) error {
	data, sse := bytes.CutPrefix(line, []byte("data:"))
	data = bytes.TrimSpace(data)
	switch {
	case sse && string(data) == "[DONE]":
		s.observer.mu.Lock()
		s.observer.complete = true
		s.observer.mu.Unlock()
	case s.fragment(data) && (sse || s.rest == nil), s.jsonLines && len(line) == 0:
	case s.jsonLines:
		return s.observer.observe(line)
	case sse && bytes.HasPrefix(data, []byte("{")), bytes.HasPrefix(line, []byte("{")) && bytes.HasSuffix(line, []byte("}")):
		return s.observer.observe(data)
	case !sse && len(s.rest)+len(line) < maxErrorBody:
		s.rest = append(s.rest, line...)
	}
	return nil
}

// observeEnd sets the error with which the stream ends.
func (s *stream) observeEnd() {
	switch {
	case s.observer.finished():
		s.err = io.EOF // an error after the end of the reply does not matter
	case !errors.Is(s.err, io.EOF):
		s.observer.connectionFailed(s.err)
	case json.Valid(s.rest):
		if failed, ok := errors.AsType[*providers.Error](s.observer.observe(s.rest)); ok {
			s.fail(failed)
			return
		}
		fallthrough
	default:
		s.observer.fail(errCutStream)
		s.err = io.ErrUnexpectedEOF
	}
}

// A bodyScanner reads the finish reason, the model and the usage from a reply of Google. Google's client stops at a
// piece without content and drops its usage.
type bodyScanner struct {
	io.ReadCloser
	observer *responseObserver
	last     []byte // the last bytes read
}

// scanWindow is the number of bytes that are searched.
const scanWindow = 4 << 10

var (
	googleFinish = regexp.MustCompile(`"finishReason": *"?(\w+)`)
	googleTokens = regexp.MustCompile(`"(promptTokenCount|cachedContentTokenCount|candidatesTokenCount|totalTokenCount)": *(\d+)`)
	googleModel  = regexp.MustCompile(`"modelVersion": *"([^"\\]+)"`)
	// googleFinishes maps finish reasons to lower case. The client requests them as numbers.
	googleFinishes = map[string]string{
		"1": "stop", "2": "maxtokens", "3": "safety", "4": "recitation", "7": "blocklist", "8": "prohibitedcontent", "9": "spii",
		"STOP": "stop", "MAX_TOKENS": "maxtokens",
	}
)

// Read reads from the body and searches what it read.
func (g *bodyScanner) Read(p []byte) (int, error) {
	n, err := g.ReadCloser.Read(p)
	g.last = append(g.last, p[:n]...)
	g.observer.mu.Lock()
	defer g.observer.mu.Unlock()
	if m := googleFinish.FindSubmatch(g.last); m != nil {
		g.observer.finish = googleFinishes[string(m[1])]
	}
	if m := googleModel.FindSubmatch(g.last); m != nil {
		g.observer.model = string(m[1])
	}
	for _, m := range googleTokens.FindAllSubmatch(g.last, -1) { // the last match wins
		n, _ := strconv.Atoi(string(m[2]))
		switch t := &g.observer.tokens; string(m[1]) {
		case "promptTokenCount":
			t.Prompt = n
		case "cachedContentTokenCount":
			t.PromptOf.Cached = n
		case "candidatesTokenCount":
			t.Completion = n
		default:
			t.Total = n
		}
	}
	g.last = slices.Clone(g.last[max(0, len(g.last)-scanWindow):])
	return n, err
}
