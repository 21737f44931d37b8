package debatetool

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

type callKey struct{}

// minCallID limits the ids of calls from below.
const minCallID = 16

// WithCallID returns a context for a call that has an id, such as that of the framework's tool call. A call that is
// repeated with the same id and the same input continues its debate instead of starting another one. Use ids that are
// unique among the calls of all conversations. Ids of fewer than 16 bytes have no effect, because some services use them
// for several calls.
func WithCallID(ctx context.Context, id string) context.Context {
	if len(id) < minCallID {
		return ctx
	}
	return context.WithValue(ctx, callKey{}, id)
}

// idFor returns the id of the debate that an input asks for: its own, or one that follows from the id of the call, or a new
// one.
func idFor(ctx context.Context, in Input) (string, error) {
	call, _ := ctx.Value(callKey{}).(string)
	if in.ID != "" || call == "" {
		return cmp.Or(in.ID, "tool-"+rand.Text()), nil
	}
	in.After = 0
	raw, err := json.Marshal([]any{call, in})
	if err != nil {
		return "", fmt.Errorf("encode input: %w", err)
	}
	sum := sha256.Sum256(raw)
	return "call-" + hex.EncodeToString(sum[:16]), nil
}

// launch opens or starts the debate that an input asks for, and has it driven.
func (s *Toolset) launch(ctx context.Context, in Input) (*debate.Debate, error) {
	id, err := idFor(ctx, in)
	if err != nil {
		return nil, explain("", err)
	}
	d, err := s.open(ctx, id)
	if errors.Is(err, store.ErrNotFound) && (in.Topic != "" || in.ID == "") {
		c, wrong := s.config(id, in)
		if wrong != nil {
			return nil, wrong
		}
		d, err = s.engine.Launch(ctx, c)
		if err == nil {
			return d, nil
		}
		if errors.Is(err, debate.ErrTaken) { // by the same call, at the same time
			d, err = s.open(ctx, id)
		}
	}
	if err != nil {
		return nil, explain(id, err)
	}
	status, err := d.Status(ctx)
	if err == nil {
		err = in.sameDebate(id, status.Topic)
	}
	if err == nil {
		err = retry(ctx, d, status)
	}
	return d, explain(id, err)
}

// retry starts a debate again that has failed, or that was never started.
func retry(ctx context.Context, d *debate.Debate, status store.Status) error {
	if status.State == fsm.Error {
		err := d.Retry(ctx)
		if _, hopeless := errors.AsType[*fsm.Refused](err); hopeless {
			return nil // the output says why
		}
		if err != nil {
			return err
		}
		return d.Start(ctx)
	}
	if status.State == fsm.Configuring || status.State == fsm.Ready {
		return d.Start(ctx)
	}
	return nil
}
