package wire

import (
	"strings"

	"github.com/elenchus-go/debate/providers"
)

// End returns the response, or an error if the reply is incomplete or empty.
func (r *Reply) End() (providers.Response, error) {
	if err := r.flush(); err != nil {
		return providers.Response{}, err
	}
	if r.res.FinishReason == providers.Stop && r.has(callSegment) { // the text has called a tool
		r.res.FinishReason = providers.ToolCalls
	}
	if err := r.check(); err != nil {
		return providers.Response{}, err
	}
	return r.res, nil
}

// check sets the fields of the response, and returns why it is not a reply.
func (r *Reply) check() error {
	if r.failed != nil {
		return r.failed
	}
	if !r.complete {
		return replyError(providers.Network, "the stream ended before the reply was complete")
	}
	r.fill()
	r.noteRemoved()
	if limit := r.asked.MaxTokens; r.res.FinishReason == "" && limit > 0 && r.res.Usage.Output >= limit { // some servers give no reason
		r.res.FinishReason = providers.Length
	}
	if r.res.FinishReason == providers.Length && endedEarly(r.res.Usage.Output, r.asked.MaxTokens) {
		r.res.FinishReason = providers.WindowFull
	}
	if r.stray {
		return emptyError(r.res.FinishReason, false, true, r.asked.MaxTokens)
	}
	if strings.TrimSpace(r.res.Text) != "" || r.has(callSegment) && r.asked.MayCallTools() {
		return nil
	}
	thought := r.has(reasonSegment) || r.has(opaqueSegment) || r.res.Usage.Reasoning > 0
	return emptyError(r.res.FinishReason, thought, r.has(callSegment), r.asked.MaxTokens)
}

// fill sets the text and the parts of the response.
func (r *Reply) fill() {
	var text []byte
	var parts []providers.Part
	plain, calls := true, r.has(callSegment)
	resent := 0
	for _, s := range r.segments {
		part := providers.Part{}
		switch s.kind {
		case textSegment:
			part.Text = string(s.bytes)
			text = append(text, s.bytes...)
		case reasonSegment:
			part.Reasoning = &providers.Reasoning{Text: Text(s.bytes).String()}
			if calls {
				part.Reasoning.Service = s.keep.Service
			}
		case opaqueSegment:
			part.Reasoning = &s.keep
		case callSegment:
			given, again := s.arguments()
			s.call.Arguments = arguments(given)
			part.ToolCall = &s.call
			resent += again
		}
		plain = plain && s.kind == textSegment
		parts = append(parts, part)
	}
	r.res.Text = string(text)
	if !plain {
		r.res.Parts = parts
	}
	r.resent = resent
}

// Partial returns the part of a failed reply that arrived. It has a finish reason if the service ended the reply, but
// the reply has no text.
func (r *Reply) Partial() providers.Response {
	r.quiet = true
	_ = r.settleThought() // the reply has failed already
	if rest := r.said.End(); len(rest) > 0 {
		_ = r.deliver(rest[:completeLength(rest)]) // it is quiet
	}
	_ = r.marks.End(r.take)
	r.fill()
	r.noteRemoved()
	res := r.res
	if !r.complete {
		res.FinishReason = ""
	}
	return res
}
