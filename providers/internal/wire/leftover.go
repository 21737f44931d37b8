package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/leftover"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/fault"
)

// takePart adds a part of the text to the reply.
func (r *Reply) takePart(p leftover.Part) error {
	switch p.Kind {
	case leftover.Thought:
		return r.addThought("", Text(p.Text))
	case leftover.Earlier:
		r.makeReasoning()
		return nil
	case leftover.Calling:
		return r.callByText(p)
	case leftover.Reply:
	}
	return r.say(p.Text)
}

// makeReasoning makes reasoning of the text so far. Who listens has heard it already.
func (r *Reply) makeReasoning() {
	for i := range r.segments {
		if s := &r.segments[i]; s.kind == textSegment {
			s.kind = reasonSegment
		}
	}
}

// callByText adds the calls in a text, which a server without a parser for the model's calls leaves there. If the model has no such
// tool, the text is no reply, unless a structured reply is asked for: then it may be what the call has.
func (r *Reply) callByText(p leftover.Part) error {
	hasTool := func(c leftover.Call) bool {
		return slices.ContainsFunc(r.asked.Tools, func(t providers.Tool) bool { return t.Name == c.Name })
	}
	switch {
	case r.asked.MayCallTools() && slices.ContainsFunc(p.Calls, hasTool):
		for _, c := range p.Calls {
			if err := r.AddCall(providers.ToolCall{Name: c.Name, Arguments: c.Arguments}); err != nil {
				return err
			}
		}
		return nil
	case len(r.asked.Schema) > 0, r.asked.SchemaName != "":
		return r.say(p.Text)
	}
	r.stray = true
	return nil
}

// noteRemoved adds warnings about what was left out of the reply, once.
func (r *Reply) noteRemoved() {
	if r.noted {
		return
	}
	r.noted = true
	if n := r.said.Removed() + r.thought.Removed() + r.resent; n > 0 {
		r.Warn(fmt.Sprintf("the service sent text again that it had sent before: %d bytes were left out", n))
	}
	if marks := r.marks.Removed(); len(marks) > 0 {
		r.Warn("the reply had leftovers of a chat template, which were removed: " + strings.Join(marks, ", "))
	}
	if cut := r.marks.Cut(); cut != "" {
		quoted := fault.Excerpt(cut, r.secrets)
		r.Warn(fmt.Sprintf("%d bytes of messages of others, or after the end of the reply, were left out: %q", len(cut), quoted))
	}
}
