package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
)

// agent is the handler of runs.
type agent struct {
	engine       *debate.Engine
	stopOnCancel bool // cancel the debate of a viewer who leaves
}

// ServeHTTP launches a debate and streams its events as those of AG-UI. Errors are events too, apart from those of a body
// that is no run.
func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in input
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in); err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(debatehttp.Problem{Title: "The request is invalid", Status: http.StatusBadRequest, Detail: "read run: " + err.Error()})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	d, events := a.begin(r.Context(), in)
	for e := range events {
		b, err := json.Marshal(e)
		if err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", b)
		}
		if err != nil || http.NewResponseController(w).Flush() != nil {
			break // the viewer has left; the debate goes on
		}
	}
	if a.stopOnCancel && d != nil && r.Context().Err() != nil {
		_ = d.Cancel(context.WithoutCancel(r.Context())) // fails if the debate has ended
	}
}

// begin launches the debate of a run, or opens it if the run is repeated. It returns the events of the run.
func (a *agent) begin(ctx context.Context, in input) (*debate.Debate, iter.Seq[event]) {
	id := fmt.Sprintf("%s%x", idPrefix, sha256.Sum256([]byte(in.ThreadID+"\x00"+in.RunID)))[:len(idPrefix)+32]
	topic, background, err := conversation(in.Messages)
	if err != nil {
		return nil, translate(in, id, failing(err))
	}
	d, err := a.engine.Launch(context.WithoutCancel(ctx), debate.Config{
		ID: id, Topic: topic, Background: background,
		Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}}, Judges: []debate.Participant{{Name: "Judge"}},
		Limits: debate.Limits{MaxRounds: 2},
	})
	if errors.Is(err, debate.ErrTaken) {
		d, err = a.engine.Open(ctx, id)
	}
	if err != nil {
		return nil, translate(in, id, failing(err))
	}
	return d, translate(in, id, d.Watch(ctx, 0))
}

// failing returns the events of a debate that cannot begin.
func failing(err error) iter.Seq2[debate.Event, error] {
	return func(yield func(debate.Event, error) bool) { yield(nil, err) }
}
