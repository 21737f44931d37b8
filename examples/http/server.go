package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

const (
	maxConfigBytes = 1 << 20          // maximum size of a configuration
	writeTimeout   = 30 * time.Second // time that a viewer may take to read an event
)

// server serves the debates of an engine.
type server struct {
	engine    *debate.Engine
	keepAlive time.Duration // interval of comments in streams, so that proxies do not close quiet connections
}

func (s server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /debates", s.create)
	mux.HandleFunc("GET /debates/{id}", s.result)
	mux.HandleFunc("GET /debates/{id}/events", s.events)
	mux.HandleFunc("GET /debates/{id}/waiting", s.waiting)
	mux.HandleFunc("POST /debates/{id}/replies", s.reply)
	mux.HandleFunc("POST /debates/{id}/cancel", s.cancel)
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.fail(w, http.StatusForbidden, errors.New("refuse request: it was sent by a page of another site"))
	}))
	web := guard.Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		web.ServeHTTP(w, r)
	})
}

// create starts a debate that continues when the request ends.
func (s server) create(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxConfigBytes))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		s.fail(w, http.StatusRequestEntityTooLarge, fmt.Errorf("read configuration: it is larger than %d bytes", maxConfigBytes))
		return
	}
	var config debate.Config
	if err == nil {
		config, err = s.engine.ParseConfig(body)
	}
	if err != nil {
		s.fail(w, http.StatusBadRequest, err)
		return
	}
	d, err := s.begin(context.WithoutCancel(r.Context()), config)
	if err != nil {
		s.fail(w, statusOf(err), err)
		return
	}
	w.Header().Set("Location", "/debates/"+d.ID())
	s.answer(w, http.StatusCreated, map[string]string{"id": d.ID()})
}

func (s server) begin(ctx context.Context, config debate.Config) (*debate.Debate, error) {
	d, err := s.engine.Create(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := d.Start(ctx); err != nil { // for example, a provider is unknown; delete the debate to release its id
		return nil, errors.Join(err, s.engine.Delete(ctx, d.ID()))
	}
	return d, nil
}

func (s server) result(w http.ResponseWriter, r *http.Request) {
	d, err := s.engine.Open(r.Context(), r.PathValue("id"))
	var result *debate.Result
	if err == nil {
		result, err = d.Result(r.Context())
	}
	if err != nil {
		s.fail(w, statusOf(err), err)
		return
	}
	s.answer(w, http.StatusOK, result)
}

func (s server) cancel(w http.ResponseWriter, r *http.Request) {
	d, err := s.engine.Open(r.Context(), r.PathValue("id"))
	if err == nil {
		err = d.Cancel(r.Context())
	}
	if err != nil {
		s.fail(w, statusOf(err), err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// waiting answers with what the debate asks people.
func (s server) waiting(w http.ResponseWriter, r *http.Request) {
	d, err := s.engine.Open(r.Context(), r.PathValue("id"))
	list := []debate.Asked{}
	if err == nil {
		list, err = d.Waiting(r.Context())
	}
	if err != nil {
		s.fail(w, statusOf(err), err)
		return
	}
	s.answer(w, http.StatusOK, list)
}

// reply gives a person's reply to a step.
func (s server) reply(w http.ResponseWriter, r *http.Request) {
	var given struct {
		Key  transcript.Key `json:"key"`
		Text string         `json:"text"`
		By   string         `json:"by"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxConfigBytes)).Decode(&given); err != nil {
		s.fail(w, http.StatusBadRequest, fmt.Errorf("read reply: %w", err))
		return
	}
	d, err := s.engine.Open(r.Context(), r.PathValue("id"))
	if err == nil {
		err = d.Answer(context.WithoutCancel(r.Context()), given.Key, given.Text, given.By)
	}
	if err != nil {
		s.fail(w, statusOf(err), err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// events streams the events of a debate: first the stored events after the viewer's last one, then new events. A viewer
// who speaks for a participant names it with the parameter as, and hears nobody too early.
func (s server) events(w http.ResponseWriter, r *http.Request) {
	after := int64(0)
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		n, err := strconv.ParseUint(id, 10, 63)
		if err != nil {
			s.fail(w, http.StatusBadRequest, fmt.Errorf("read Last-Event-ID: %q is not an event id, want an integer of 0 or more", id))
			return
		}
		after = int64(n)
	}
	d, err := s.engine.Open(r.Context(), r.PathValue("id"))
	if err != nil {
		s.fail(w, statusOf(err), err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s.stream(r.Context(), follow(d, r.URL.Query().Get("as"), after), func(format string, args ...any) bool {
		control := http.NewResponseController(w)
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // fails for writers that do not support deadlines
		_, err := fmt.Fprintf(w, format, args...)
		return err == nil && control.Flush() == nil
	})
}

// follow returns a function that watches a debate, as the viewer who speaks for a seat if it is not empty.
func follow(d *debate.Debate, seat string, after int64) func(context.Context) iter.Seq2[debate.Event, error] {
	return func(ctx context.Context) iter.Seq2[debate.Event, error] {
		if seat == "" {
			return d.Watch(ctx, after)
		}
		return d.WatchAs(ctx, seat, after)
	}
}

// stream writes the events of a debate until the debate ends or the viewer disconnects. It also writes a comment at each
// keepAlive interval.
func (s server) stream(ctx context.Context, watch func(context.Context) iter.Seq2[debate.Event, error], write func(format string, args ...any) bool) {
	ctx, leave := context.WithCancel(ctx)
	events, beat := make(chan debate.Event), time.NewTicker(s.keepAlive)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(events)
		for event, err := range watch(ctx) {
			if err != nil { // the viewer has disconnected, or the service stops; the viewer can reconnect
				return
			}
			select {
			case events <- event:
			case <-ctx.Done():
			}
		}
	}()
	defer func() { beat.Stop(); leave(); <-done }()
	if !write("") { // send the headers before the first event
		return
	}
	for {
		select {
		case event, more := <-events:
			if !more || !sendEvent(write, event) {
				return
			}
		case <-beat.C:
			if !write(": keep-alive\n\n") {
				return
			}
		}
	}
}

// sendEvent writes one event and reports whether it succeeded. Only stored events have an id, so that a viewer that
// reconnects receives each of them exactly once.
func sendEvent(write func(format string, args ...any) bool, event debate.Event) bool {
	data, err := json.Marshal(event) // one line, with <, > and & escaped
	if err != nil {
		return false
	}
	stamp := event.Meta()
	if stamp.Live {
		return write("event: %s\ndata: %s\n\n", stamp.Type, data)
	}
	return write("id: %d\nevent: %s\ndata: %s\n\n", stamp.Seq, stamp.Type, data)
}

// statusOf returns the HTTP status code for an error of the engine.
func statusOf(err error) int {
	_, problems := errors.AsType[*debate.Problems](err)
	_, refused := errors.AsType[*fsm.Refused](err)
	_, conflict := errors.AsType[*store.Conflict](err)
	switch {
	case problems:
		return http.StatusBadRequest
	case refused, conflict, errors.Is(err, debate.ErrAnswered), errors.Is(err, debate.ErrNotAsked):
		return http.StatusConflict
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, debate.ErrUnsupported): // this server lacks a provider, for example
		return http.StatusNotImplemented
	case errors.Is(err, debate.ErrClosed):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

func (s server) fail(w http.ResponseWriter, code int, err error) {
	body := struct {
		Error    string             `json:"error"`
		Problems []protocol.Problem `json:"problems,omitempty"`
	}{Error: err.Error()}
	if wrong, ok := errors.AsType[*debate.Problems](err); ok {
		body.Problems = wrong.List
	}
	s.answer(w, code, body)
}

func (server) answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // fails if the client has disconnected
}
