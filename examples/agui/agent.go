package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/debatehttp"
	"github.com/elenchus-go/debate/store"
)

// input is what a user interface sends to begin a run.
type input struct {
	ThreadID string    `json:"threadId"`
	RunID    string    `json:"runId"`
	Messages []message `json:"messages"`
}

// message is a message of the conversation so far.
type message struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a text, or a list of parts
}

// text returns the text of a message.
func (m message) text() (text string, err error) {
	if len(m.Content) == 0 || json.Unmarshal(m.Content, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return "", errors.New("the content of a message is neither a text nor a list of parts")
	}
	for _, p := range parts {
		if p.Type != "text" {
			return "", fmt.Errorf("a message has a part of type %q, only text is supported", p.Type)
		}
		text += p.Text
	}
	return text, nil
}

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
	if _, taken := errors.AsType[*store.Conflict](err); taken {
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

const (
	idPrefix = "agui-"   // begins the ids of debates, and so those of their messages
	answerID = "/answer" // ends the id of the message with the answer
)

// conversation returns the topic of a debate, which is the last message, and the background, which is what was said before
// it. Of earlier debates, the answers count and the speeches do not.
func conversation(list []message) (topic, background string, err error) {
	last := len(list) - 1
	if last < 0 || list[last].Role != "user" {
		return "", "", errors.New("the last message is not from the user")
	}
	if topic, err = list[last].text(); err != nil {
		return "", "", err
	}
	var before []string
	for _, m := range list[:last] {
		text, err := m.text()
		speech := strings.HasPrefix(m.ID, idPrefix) && !strings.HasSuffix(m.ID, answerID)
		switch {
		case speech || m.Role != "user" && m.Role != "assistant" && m.Role != "system" && m.Role != "developer":
		case err != nil:
			return "", "", err
		case m.Role == "system", m.Role == "developer":
			before = append(before, text)
		case text != "": // a message that only calls tools has none
			before = append(before, fmt.Sprintf("Earlier, the %s said: %s", m.Role, text))
		}
	}
	return topic, strings.TrimSpace(strings.Join(before, "\n\n")), nil
}

// answerOf returns the answer of a debate as text, or as JSON if it has no text.
func answerOf(r *debate.Result) string { return cmp.Or(r.Answer.Text, string(r.Answer.Data)) }
