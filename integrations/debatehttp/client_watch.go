package debatehttp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/elenchus-go/debate"
)

const (
	minWait  = 100 * time.Millisecond // before the first attempt to reconnect
	maxWait  = 30 * time.Second
	maxQuiet = 90 * time.Second // a connection that is quiet for longer is dead
)

// Watch follows a debate as Debate.Watch does, or as Debate.WatchAs does if seat is not empty. It yields the stored events
// after the given seq (0 for all), then new events. If the connection breaks or the server stops, Watch reconnects until
// ctx ends, and misses no stored event. It then receives the live events of attempts in flight again, from their
// TurnStarted on. If the first connection fails, or the handler refuses, Watch yields the error and ends.
func (c *Client) Watch(ctx context.Context, id, seat string, after int64) iter.Seq2[debate.Event, error] {
	return func(yield func(debate.Event, error) bool) {
		w := &watcher{client: c, id: id, seat: seat, after: max(after, 0), yield: yield, wait: minWait}
		for {
			err := w.connect(ctx)
			switch {
			case w.over:
				return
			case ctx.Err() != nil:
				yield(nil, context.Cause(ctx))
				return
			case err != nil && !w.passing(err):
				yield(nil, err)
				return
			}
			select {
			case <-time.After(w.wait):
				w.wait = min(2*w.wait, maxWait)
			case <-ctx.Done():
			}
		}
	}
}

// A watcher is one use of Client.Watch.
type watcher struct {
	client    *Client
	id, seat  string
	after     int64 // seq of the last stored event
	yield     func(debate.Event, error) bool
	connected bool          // whether a connection has succeeded
	over      bool          // whether nothing more is to be yielded
	wait      time.Duration // before the next connection
}

// passing reports whether a later connection may succeed.
func (w *watcher) passing(err error) bool {
	p, refused := errors.AsType[*Problem](err)
	return w.connected && (!refused || p.Status >= http.StatusInternalServerError || p.Status == http.StatusTooManyRequests)
}

// connect yields the events of one connection.
func (w *watcher) connect(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	quiet := time.AfterFunc(maxQuiet, end)
	defer quiet.Stop()
	req, err := w.client.request(ctx, http.MethodGet, pathOf(w.id, "/events"), seatOf(w.seat), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	if w.after > 0 {
		req.Header.Set("Last-Event-ID", strconv.FormatInt(w.after, 10))
	}
	res, err := w.client.send(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "text/event-stream" {
		return stranger(res, "has the type %q, want a stream of events", kind)
	}
	w.connected = true
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(make([]byte, 0, 4096), maxResponse)
	kind := ""
	for lines.Scan() {
		quiet.Reset(maxQuiet)
		line := lines.Bytes()
		if value, ok := bytes.CutPrefix(line, []byte("event: ")); ok {
			kind = string(value)
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		quiet.Stop() // the loop's body may take its time
		if w.show(kind, data); w.over {
			return nil
		}
		quiet.Reset(maxQuiet)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		w.fail(fmt.Errorf("an event has more than %d bytes", maxResponse))
	}
	return nil // Watch reconnects
}

// show yields the event in the data of a message.
func (w *watcher) show(kind string, data []byte) {
	if kind == "problem" {
		p := &Problem{}
		err := json.Unmarshal(data, p)
		if err == nil {
			err = p
		}
		w.fail(err)
		return
	}
	ev, err := debate.ParseEvent(data)
	if err != nil {
		w.fail(err)
		return
	}
	meta := ev.Meta()
	if !meta.Live {
		w.after = meta.Seq
	}
	w.wait = minWait
	_, ended := ev.(debate.Ended)
	w.over = !w.yield(ev, nil) || ended
}

// fail yields an error, which is the last thing.
func (w *watcher) fail(err error) {
	w.over = true
	w.yield(nil, fmt.Errorf("watch debate %s: %w", w.id, err))
}
