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

// longestReply is the longest reply that does not stream, in bytes.
const longestReply = 32 << 20

// watch lets the model read a reply while s sees it.
func watch(resp *http.Response, a *api, s *sight, streams bool) (*http.Response, error) {
	switch {
	case a.longest == 0: // its streams have no lines: whoever reads them judges them
		resp.Body = &glance{ReadCloser: resp.Body, sight: s}
		return resp, nil
	case streams:
		resp.Body = &stream{body: resp.Body, lines: bufio.NewReader(resp.Body), longest: a.longest, bare: a.bare, sight: s}
		return resp, nil
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, longestReply+1))
	_ = resp.Body.Close()
	switch {
	case err != nil:
		s.broke(err)
		return nil, err
	case len(raw) > longestReply:
		err = &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: it is longer than %d bytes", longestReply)}
	default:
		err = s.see(raw)
	}
	if failed, ok := errors.AsType[*providers.Error](err); ok {
		s.fail(failed)
	}
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return resp, nil
}

// stream hands a stream over line by line. It ends in an error where the reply did, so that the model cannot take what
// came for all of it, and keeps from the model what follows an error: anthropic would leave a goroutine behind.
type stream struct {
	body    io.Closer
	lines   *bufio.Reader
	longest int
	bare    bool
	sight   *sight

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
		if len(line) > s.longest {
			s.fail(&providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: a line of the stream is longer than %d bytes", s.longest)})
			return
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		s.err = err
		break
	}
	if failed, ok := errors.AsType[*providers.Error](s.judge(bytes.TrimSpace(line))); ok {
		s.fail(failed)
		return
	}
	if s.line = line; s.bare && len(bytes.TrimSpace(line)) == 0 {
		s.line = nil // langchaingo takes it for broken JSON
	}
	if s.err != nil {
		s.end()
	}
}

// fragment says whether the stream broke off within the line.
func (s *stream) fragment(data []byte) bool { return s.err != nil && !json.Valid(data) }

func (s *stream) fail(e *providers.Error) {
	s.sight.fail(e)
	s.line, s.err = nil, e
}

// judge looks at a line. An error ends the stream.
func (s *stream) judge(line []byte) error {
	data, sse := bytes.CutPrefix(line, []byte("data:"))
	data = bytes.TrimSpace(data)
	switch {
	case sse && string(data) == "[DONE]":
		s.sight.mu.Lock()
		s.sight.ended = true
		s.sight.mu.Unlock()
	case s.fragment(data) && (sse || s.rest == nil), s.bare && len(line) == 0:
	case s.bare:
		return s.sight.see(line)
	case sse && bytes.HasPrefix(data, []byte("{")), bytes.HasPrefix(line, []byte("{")) && bytes.HasSuffix(line, []byte("}")):
		return s.sight.see(data)
	case !sse && len(s.rest)+len(line) < longestRefusal:
		s.rest = append(s.rest, line...)
	}
	return nil
}

// end judges the end of the stream.
func (s *stream) end() {
	switch {
	case s.sight.over():
		s.err = io.EOF // whatever became of the connection afterwards
	case !errors.Is(s.err, io.EOF):
		s.sight.broke(s.err)
	case json.Valid(s.rest):
		if failed, ok := errors.AsType[*providers.Error](s.sight.see(s.rest)); ok {
			s.fail(failed)
			return
		}
		fallthrough
	default:
		s.sight.fail(errCut)
		s.err = io.ErrUnexpectedEOF
	}
}

// A glance sees how a reply of Google ends. Its client leaves a stream at a piece that has no more than the end, and
// drops the usage there.
type glance struct {
	io.ReadCloser
	sight *sight
	last  []byte // of what was read
}

// glanced is how much is looked at, in bytes.
const glanced = 4 << 10

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
func (g *glance) Read(p []byte) (int, error) {
	n, err := g.ReadCloser.Read(p)
	g.last = append(g.last, p[:n]...)
	g.sight.mu.Lock()
	defer g.sight.mu.Unlock()
	if m := googleFinish.FindSubmatch(g.last); m != nil {
		g.sight.finish = googleFinishes[string(m[1])]
	}
	if m := googleModel.FindSubmatch(g.last); m != nil {
		g.sight.model = string(m[1])
	}
	for _, m := range googleTokens.FindAllSubmatch(g.last, -1) { // the last counts
		n, _ := strconv.Atoi(string(m[2]))
		switch t := &g.sight.tokens; string(m[1]) {
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
	g.last = slices.Clone(g.last[max(0, len(g.last)-glanced):])
	return n, err
}
