package debatehttp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// events streams the events of a debate: first the durable events after the viewer's last one, then new events.
func (c *call) events() error {
	last, ended, err := c.lastEvent()
	if err != nil {
		return err
	}
	if err := c.allow(); err != nil {
		return err
	}
	if ended && c.access.Debate.State.Final() && last == c.access.Debate.Seq {
		return c.done(nil) // by this an EventSource knows that it need not come back
	}
	c.lasts()
	after := min(last, c.access.Debate.Seq) // what lies beyond the end belongs to an earlier debate with the same id, which was deleted
	if c.r.Method == http.MethodHead {
		c.w.Header().Set("Content-Type", "text/event-stream")
		return nil
	}
	f, leave := c.feeds.follow(c.debate, c.access.Debate, c.access.Seat)
	defer leave()
	if p := f.refusal(c.r.Context()); p != nil {
		return p
	}
	out := c.startStream("text/event-stream")
	beat := time.NewTicker(c.Heartbeat)
	defer beat.Stop()
	for from, ok := 0, out.send(nil); ok; { // send the headers before the first event
		list, rest, changed, ended := f.next(from, after)
		from = rest
		for _, one := range list {
			ok = out.write(one.text)
			if !ok {
				return nil
			}
		}
		if len(list) > 0 {
			ok = out.flush()
			continue
		}
		if ended {
			out.end()
			return nil
		}
		select {
		case <-changed:
		case <-beat.C:
			ok = out.keepAlive()
		case <-c.r.Context().Done():
			return nil
		}
	}
	return nil
}

// lastEvent returns the seq in the id of the last event that the viewer has seen, and whether that is the event Ended.
func (c *call) lastEvent() (seq int64, ended bool, err error) {
	id := c.r.Header.Get("Last-Event-ID")
	if id == "" {
		return 0, false, nil
	}
	number, ended := strings.CutSuffix(id, endedSuffix)
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil {
		return 0, false, invalid("Last-Event-ID", "%q is not the id of an event, use an integer of 0 or more", id)
	}
	return int64(n), ended, nil
}

// A stream is a response that continues as long as there are events.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration // time that the client may take to read what is written at once
}

// startStream begins a response that continues.
func (c *call) startStream(contentType string) *stream {
	h := c.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Accel-Buffering", "no") // proxies such as nginx must not hold events back
	return &stream{c.w, http.NewResponseController(c.w), c.Timeout}
}

// write writes a part of the response and reports whether that succeeded.
func (s *stream) write(b []byte) bool {
	_ = s.control.SetWriteDeadline(time.Now().Add(s.timeout)) // fails for writers that do not support deadlines
	_, err := s.w.Write(b)
	return err == nil
}

// flush sends what was written.
func (s *stream) flush() bool { return s.control.Flush() == nil }

// end lets the connection serve other requests without the deadline of this one.
func (s *stream) end() { _ = s.control.SetWriteDeadline(time.Time{}) }

// send writes a part of the response and sends it.
func (s *stream) send(b []byte) bool { return s.write(b) && s.flush() }

// keepAlive sends a comment, so that proxies do not close the connection.
func (s *stream) keepAlive() bool { return s.send([]byte(": keep-alive\n\n")) }

// eventFormat is the format of a server-sent event without a name.
const eventFormat = "data: %s\n\n"

// sendJSON sends a value in a format.
func (s *stream) sendJSON(format string, v any) bool {
	b, err := json.Marshal(v)
	return err == nil && s.send(fmt.Appendf(nil, format, b))
}
