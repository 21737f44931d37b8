package wire

import (
	"fmt"

	"github.com/elenchus-go/debate/providers"
)

// NewReply returns an empty reply to a request.
func NewReply(r providers.Request) *Reply {
	reply := &Reply{asked: r}
	reply.take = reply.takePart
	return reply
}

// Add adds text to the reply and passes its complete characters to OnChunk. It leaves out text that the service sends again.
func (r *Reply) Add(t Text) error {
	if len(t) == 0 {
		return nil
	}
	if err := r.settleThought(); err != nil {
		return err
	}
	fresh, err := r.said.Add(t)
	if err != nil {
		return &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: %w", err)}
	}
	return r.add(fresh)
}

// add adds text that the service has not sent before.
func (r *Reply) add(t Text) error {
	if len(t) == 0 {
		return nil
	}
	if err := r.Grow(len(t)); err != nil {
		return err
	}
	if len(r.partRune) > 0 {
		t = append(r.partRune, t...)
		r.partRune = nil
	}
	n := completeLength(t)
	if n < len(t) {
		r.partRune = append([]byte(nil), t[n:]...)
	}
	return r.deliver(t[:n])
}

// deliver takes a piece of the text apart.
func (r *Reply) deliver(t Text) error {
	if len(t) == 0 {
		return nil
	}
	return r.marks.Add(t.String(), r.take)
}

// Reason adds text of the model's reasoning.
func (r *Reply) Reason(t Text) error { return r.ReasonFor("", t) }

// ReasonFor adds text of the model's reasoning that a service needs back if the model calls tools.
func (r *Reply) ReasonFor(service string, t Text) error {
	if len(t) == 0 {
		return nil
	}
	r.service = service
	fresh, err := r.thought.Add(t)
	if err != nil { // the service changed it: what was there stays
		return nil
	}
	return r.think(fresh)
}

// think adds reasoning that the service has not sent before.
func (r *Reply) think(t Text) error {
	if len(t) == 0 {
		return nil
	}
	if err := r.Grow(len(t)); err != nil {
		return err
	}
	return r.addThought(r.service, t)
}

// settleThought adds reasoning that was held until it was clear that the service had not sent it before.
func (r *Reply) settleThought() error {
	if !r.thought.Held() {
		return nil
	}
	return r.think(r.thought.End())
}

// flush delivers what was held until more arrived.
func (r *Reply) flush() error {
	if err := r.settleThought(); err != nil {
		return err
	}
	if err := r.add(r.said.End()); err != nil {
		return err
	}
	rest := r.partRune
	r.partRune = nil
	if err := r.deliver(rest); err != nil {
		return err
	}
	return r.marks.End(r.take)
}
