package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Limits of what an agent writes.
const (
	maxLine    = 8 << 20  // bytes of a message
	maxStrange = 20       // lines that are no JSON
	maxTurn    = 64 << 20 // bytes of the messages of one turn
	maxQueued  = 512      // messages that the connection has and has not handled
)

var (
	errLongLine = fmt.Errorf("a message has more than %d bytes", maxLine)
	errStrange  = errors.New("it writes something else than JSON")
)

// lines passes the messages of an agent on to the connection, line by line. It leaves out a few lines that are no JSON, because
// some programs greet, and it waits when the connection has many messages that are not handled yet: the connection would
// otherwise end itself.
type lines struct {
	in    *bufio.Reader
	ready chan struct{} // closed when the connection may read
	rest  []byte        // of the line that is passed on

	mu      sync.Mutex
	free    *sync.Cond
	queued  int
	strange int
	first   string // the first line that is no JSON
	err     error  // why the lines have ended
}

func newLines(in io.Reader) *lines {
	l := &lines{in: bufio.NewReaderSize(in, 64<<10), ready: make(chan struct{})}
	l.free = sync.NewCond(&l.mu)
	return l
}

// Read returns the next part of a message.
func (l *lines) Read(into []byte) (int, error) {
	<-l.ready
	if len(l.rest) == 0 {
		line, err := l.next()
		if err != nil {
			l.end(err)
			return 0, err
		}
		l.rest = line
	}
	n := copy(into, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next returns the next message.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		var head struct {
			Method string `json:"method"`
		}
		text := bytes.TrimSpace(line)
		switch {
		case len(text) == 0:
		case text[0] != '{' || json.Unmarshal(text, &head) != nil:
			if l.noteStrange(text) > maxStrange {
				return nil, errStrange
			}
		default:
			if head.Method != "" {
				l.wait()
			}
			return line, nil
		}
	}
}

// line returns the next line, or an error if it is too long.
func (l *lines) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, errLongLine
		case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// noteStrange notes a line that is no JSON, and returns how many there were.
func (l *lines) noteStrange(text []byte) int {
	const longest = 200
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.strange == 0 {
		l.first = string(bytes.ToValidUTF8(text[:min(len(text), longest)], nil))
	}
	l.strange++
	return l.strange
}

// wait waits until the connection has room for a message.
func (l *lines) wait() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.queued >= maxQueued && l.err == nil {
		l.free.Wait()
	}
	l.queued++
}

// handled notes that the connection has handled a message.
func (l *lines) handled() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queued--
	l.free.Broadcast()
}

// settle waits until the connection has handled all messages, but not longer than a time.
func (l *lines) settle(longest time.Duration) {
	late := false
	timer := time.AfterFunc(longest, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		late = true
		l.free.Broadcast()
	})
	defer timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.queued > 0 && !late {
		l.free.Wait()
	}
}

// end ends the lines for a reason. The first reason counts.
func (l *lines) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	l.free.Broadcast()
}

// ended returns why the lines have ended, and the first line that is no JSON.
func (l *lines) ended() (first string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first, l.err
}
