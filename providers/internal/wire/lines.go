package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"

	"github.com/elenchus-go/debate/providers"
)

// ErrDone is returned by [Call.Event] after the last event of a stream.
var ErrDone = errors.New("the stream is done")

// maxLine limits the length of a line in a stream, in bytes.
const maxLine = 8 << 20

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
			l.long = append(l.long, line...)
			if len(l.long) > maxLine {
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
