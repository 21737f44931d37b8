package debatehttp

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// What Serve waits for. A stream is not limited as long as the client reads it.
const (
	bodyTime   = 30 * time.Second // time to send the body of a request
	unreadTime = time.Second      // time to send the rest of a body that the handler has not read, before it is answered
	readTime   = 30 * time.Second // time to read a piece of an answer
	pieceSize  = 64 << 10         // bytes of a piece
)

// limited limits the time that clients take to send requests to a handler and to read its answers. net/http has such limits
// too, but they end streams.
func limited(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &limitedAnswer{ResponseWriter: w, control: http.NewResponseController(w)}
		if r.ContentLength != 0 {
			_ = a.control.SetReadDeadline(time.Now().Add(bodyTime)) // fails for writers that do not support deadlines
			r = r.WithContext(r.Context())                          // a copy: net/http uses the body of its own request
			a.body = &limitedBody{ReadCloser: r.Body, control: a.control}
			a.fullDuplex, r.Body = r.ProtoMajor > 1, a.body
		}
		defer a.limit() // for what is still to be sent
		h.ServeHTTP(a, r)
	})
}

// limitedBody removes the deadline of a body at its end. Otherwise the deadline would cancel the request.
type limitedBody struct {
	io.ReadCloser
	control *http.ResponseController
	read    atomic.Bool // the whole body was read
}

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && !b.read.Swap(true) { //nolint:errorlint // io.Reader returns the value itself
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err //nolint:wrapcheck // a transparent reader
}

// limitedAnswer gives the client a time to read each part of an answer, unless the handler sets a deadline itself.
type limitedAnswer struct {
	http.ResponseWriter
	control    *http.ResponseController
	body       *limitedBody // nil if the request has none
	fullDuplex bool         // the handler can read the body while it answers
	hurried    bool         // unreadTime applies to the body
	own        bool         // the handler has set a deadline for what it writes
}

// limit sets the deadlines for a part of the answer. Before the first part, net/http reads the rest of the body.
func (a *limitedAnswer) limit() {
	if !a.own {
		_ = a.control.SetWriteDeadline(time.Now().Add(readTime))
	}
	if a.body != nil && !a.body.read.Load() && !a.fullDuplex && !a.hurried {
		_ = a.control.SetReadDeadline(time.Now().Add(unreadTime))
		a.hurried = true
	}
}

// WriteHeader implements http.ResponseWriter.
func (a *limitedAnswer) WriteHeader(status int) {
	a.limit()
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *limitedAnswer) Write(b []byte) (n int, err error) {
	for {
		piece := b[n:min(n+pieceSize, len(b))]
		a.limit()
		m, err := a.ResponseWriter.Write(piece)
		n += m
		if err != nil || n == len(b) {
			return n, err //nolint:wrapcheck // a transparent writer
		}
	}
}

// FlushError sends what was written. See http.ResponseController.
func (a *limitedAnswer) FlushError() error {
	a.limit()
	return a.control.Flush() //nolint:wrapcheck // a transparent writer
}

// Flush implements http.Flusher.
func (a *limitedAnswer) Flush() { _ = a.FlushError() }

// SetWriteDeadline replaces the limit for what the handler writes, or restores it if the time is zero. See
// http.ResponseController.
func (a *limitedAnswer) SetWriteDeadline(at time.Time) error {
	a.own = !at.IsZero()
	return a.control.SetWriteDeadline(at) //nolint:wrapcheck // a transparent writer
}

// Unwrap returns the writer for everything else that http.ResponseController does.
func (a *limitedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
