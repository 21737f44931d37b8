package debatetool

import (
	"context"
	"iter"
)

// Resume passes on a reply to a debate, and continues it like [Toolset.Stream], after the turns that Status returns. If
// r.Step is empty, the reply is to the first step that the debate waits for; if that has choices, r.Text is the action.
// Without Step and Text, Resume only continues.
func (s *Toolset) Resume(ctx context.Context, r Reply) iter.Seq2[Progress, error] {
	return func(yield func(Progress, error) bool) {
		shown, err := s.lastShown(ctx, r.ID)
		if err == nil {
			err = s.passOn(ctx, r)
		}
		if err != nil {
			yield(Progress{}, err)
			return
		}
		s.Stream(ctx, Input{ID: r.ID, After: shown})(yield)
	}
}

// lastShown returns the position of the last turn that Transcript returns.
func (s *Toolset) lastShown(ctx context.Context, id string) (position int64, err error) {
	shown, err := s.Transcript(ctx, id)
	for _, t := range shown {
		position = max(position, t.Position)
	}
	return position, err
}

// passOn passes on a reply if there is one, and something to reply to.
func (s *Toolset) passOn(ctx context.Context, r Reply) error {
	if r.Step == "" && r.Text != "" {
		out, err := s.Result(ctx, r.ID)
		if err != nil {
			return err
		}
		if len(out.Waiting) == 0 {
			return nil
		}
		r.Step = out.Waiting[0].Step
		if len(out.Waiting[0].Choices) > 0 {
			r.Text, r.Action = "", r.Text
		}
	}
	if r.Step == "" {
		return nil
	}
	_, err := s.Answer(ctx, r)
	return err
}
