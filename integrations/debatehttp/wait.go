package debatehttp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// A waiter is a request whose client waits for the answer of a debate.
type waiter struct {
	*call
	debate *debate.Debate
}

// A happening is what a debate's viewer sees next.
type happening struct {
	event debate.Event
	err   error
}

// follow waits for the end of the debate. It calls show with the text of each statement if Options.ShowTurns is set, and
// keepAlive at each heartbeat. Both report whether the client is there.
func (r *waiter) follow(keepAlive func() bool, show func(string) bool) (*debate.Result, error) {
	result, err := r.await(keepAlive, show)
	if err != nil && r.StopOnCancel && (errors.Is(err, errClientLeft) || r.r.Context().Err() != nil) {
		if err := r.debate.Cancel(r.detached()); err != nil {
			r.Logger.WarnContext(r.detached(), "cancel debate whose client has left", "debate", r.debate.ID(), "error", err)
		}
	}
	return result, err
}

func (r *waiter) await(keepAlive func() bool, show func(string) bool) (*debate.Result, error) {
	ctx, leave := context.WithCancel(r.r.Context())
	events := make(chan happening)
	go func() {
		defer close(events)
		for ev, err := range r.debate.Watch(ctx, 0) {
			select {
			case events <- happening{ev, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() {
		leave()
		for range events { //nolint:revive // until the goroutine has returned
		}
	}()
	beat := time.NewTicker(r.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			if !keepAlive() {
				return nil, errClientLeft
			}
		case h, more := <-events:
			if !more {
				return nil, errClientLeft
			}
			if result, err := r.see(ctx, h, show); result != nil || err != nil {
				return result, err
			}
		}
	}
}

// errClientLeft ends a response whose client has disconnected.
var errClientLeft = errors.New("the client has disconnected")

// see handles what happens in the debate. It returns the result if the debate has ended.
func (r *waiter) see(ctx context.Context, h happening, show func(string) bool) (*debate.Result, error) {
	if _, refused := errors.AsType[*debate.Problems](h.err); refused {
		r.Logger.WarnContext(ctx, "answer chat request", "debate", r.debate.ID(), "error", h.err)
		return nil, problem("stopped", "debate %s could not start, see its problems", r.debate.ID())
	}
	if h.err != nil {
		return nil, h.err
	}
	switch ev := h.event.(type) {
	case debate.TurnDone:
		said := ev.Turn.Kind == transcript.Speech || ev.Turn.Kind == transcript.Remark
		if r.ShowTurns && said && !show(fmt.Sprintf("%s: %s\n\n", ev.Turn.Actor, ev.Turn.Text)) {
			return nil, errClientLeft
		}
	case debate.StateChanged:
		if ev.To != fsm.Error {
			return nil, nil
		}
		s, err := r.debate.Status(ctx)
		if err == nil && s.State == fsm.Error { // nobody has retried it
			err = problem("stopped", "debate %s is in error: %s", s.ID, s.FailureKind)
		}
		return nil, err
	case debate.Ended:
		if answerText(ev.Result) == "" {
			return nil, problem("stopped", "debate %s has ended without an answer: %s", ev.Result.ID, ev.Result.Ending.Outcome)
		}
		return ev.Result, nil
	}
	return nil, nil
}

// answerText returns the answer as text, or as JSON if it has no text.
func answerText(r *debate.Result) string {
	if r.Answer.Text != "" {
		return r.Answer.Text
	}
	return string(r.Answer.Data)
}
