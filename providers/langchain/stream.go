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

	"github.com/elenchus-go/debate/providers"
)

// maxReplySize is the longest reply that does not stream, in bytes.
const maxReplySize = 32 << 20

// observeBody lets the model read a reply while s sees it.
func observeBody(resp *http.Response, a *api, s *responseObserver, streams bool) (*http.Response, error) {
	switch {
	case a.maxLine == 0: // its streams have no lines: whoever reads them judges them
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
		err = &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: it is longer than %d bytes", maxReplySize)}
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

// stream hands a stream over line by line. It ends in an error where the reply did, so that the model cannot take what
// came for all of it, and keeps from the model what follows an error: anthropic would leave a goroutine behind.
type stream struct {
	body      io.Closer
	lines     *bufio.Reader
	maxLine   int
	jsonLines bool
	observer  *responseObserver

	line []byte // what is left of the line that is handed over
	rest []byte // lines that belong to no event: a whole answer that is an error
	err  error  // follows the line
}

// Close closes the connection. Reading ends then.
func (s *stream) Close() error { return s.body.Close() }

// Read gives what is left of a line, or the next.
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

// next reads a line and judges it.
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
	if failed, ok := errors.AsType[*providers.Error](s.observeLine(bytes.TrimSpace(line))); ok {
		s.fail(failed)
		return
	}
	if s.line = line; s.jsonLines && len(bytes.TrimSpace(line)) == 0 {
		s.line = nil // langchaingo takes it for broken JSON
	}
	if s.err != nil {
		s.observeEnd()
	}
}

// fragment says whether the stream broke off within the line.
func (s *stream) fragment(data []byte) bool { return s.err != nil && !json.Valid(data) }

func (s *stream) fail(e *providers.Error) {
	s.observer.fail(e)
	s.line, s.err = nil, e
}

// observeLine looks at a line. An error ends the stream.
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

// observeEnd judges the observeEnd of the stream.
func (s *stream) observeEnd() {
	switch {
	case s.observer.finished():
		s.err = io.EOF // whatever became of the connection afterwards
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

// A bodyScanner sees how a reply of Google ends. Its client leaves a stream at a piece that has no more than the end, and
// drops the usage there.
type bodyScanner struct {
	io.ReadCloser
	observer *responseObserver
	last     []byte // of what was read
}

// scanWindow is how much is looked at, in bytes.
const scanWindow = 4 << 10

var (
	googleFinish = regexp.MustCompile(`"finishReason": *"?(\w+)`)
	googleTokens = regexp.MustCompile(`"(promptTokenCount|cachedContentTokenCount|candidatesTokenCount|totalTokenCount)": *(\d+)`)
	googleModel  = regexp.MustCompile(`"modelVersion": *"([^"\\]+)"`)
	// googleFinishes are the reasons by their numbers, by which the client asks for them.
	googleFinishes = map[string]string{
		"1": "stop", "2": "maxtokens", "3": "safety", "4": "recitation", "7": "blocklist", "8": "prohibitedcontent", "9": "spii",
		"STOP": "stop", "MAX_TOKENS": "maxtokens",
	}
)

// Read reads, and looks.
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
	for _, m := range googleTokens.FindAllSubmatch(g.last, -1) { // the last counts
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
