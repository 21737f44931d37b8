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
		out, err := s.Status(ctx, r.ID, 0)
		for err == nil && len(out.Turns) > 0 { // they were shown
			out, err = s.Status(ctx, r.ID, out.Position)
		}
		if err == nil && r.Step == "" && r.Text != "" && len(out.Waiting) > 0 {
			if r.Step = out.Waiting[0].Step; len(out.Waiting[0].Choices) > 0 {
				r.Text, r.Action = "", r.Text
			}
		}
		if err == nil && r.Step != "" {
			_, err = s.Answer(ctx, r)
		}
		if err != nil {
			yield(Progress{}, err)
			return
		}
		s.Stream(ctx, Input{ID: r.ID, After: out.Position})(yield)
	}
}
