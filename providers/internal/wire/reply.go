package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/leftover"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/fault"
	"github.com/elenchus-go/debate/providers/internal/loop"
	"github.com/elenchus-go/debate/providers/internal/resent"
	"github.com/elenchus-go/debate/transcript"
)

// Reply collects the reply to a call. [Call.Event] calls its methods in the order in which the parts arrive.
type Reply struct {
	res      providers.Response
	asked    providers.Request
	complete bool // the service said that the reply is complete
	unknown  int  // the number of events that nobody understood
	secrets  []string
	failed   error // why the service says that the reply has failed

	segments []segment
	said     resent.Filter // the pieces of the text
	thought  resent.Filter // the pieces of the reasoning
	service  string        // that needs the reasoning back
	resent   int           // bytes of arguments that were sent again
	noted    bool          // warnings say what was left out
	marks    leftover.Filter
	take     func(leftover.Part) error // takes the parts of the text
	quiet    bool                      // nobody hears what follows
	stray    bool                      // the text calls a tool that the model cannot call
	saying   loop.Detector             // of the text
	thinking loop.Detector             // of the reasoning
	looped   bool                      // the model repeats itself without end
	partRune Text                      // the bytes of an incomplete character
	size     int                       // the bytes of all segments

	tooLong     bool
	callbackErr error // the error of OnChunk
}

// segment is a part of the reply that may still grow.
type segment struct {
	kind  segmentKind
	index int // the service's number of a tool call
	call  providers.ToolCall
	keep  providers.Reasoning
	bytes []byte // text, reasoning, or the arguments of a tool call
	ends  []int  // where each piece of the arguments ends
}

type segmentKind int

const (
	textSegment segmentKind = iota
	reasonSegment
	opaqueSegment
	callSegment
)

// last returns the last segment. It appends one if the last has another kind.
func (r *Reply) last(kind segmentKind) *segment {
	if n := len(r.segments); n == 0 || r.segments[n-1].kind != kind {
		r.segments = append(r.segments, segment{kind: kind})
	}
	return &r.segments[len(r.segments)-1]
}

// NewReply returns an empty reply to a request.
func NewReply(r providers.Request) *Reply {
	reply := &Reply{asked: r}
	reply.take = reply.takePart
	return reply
}

// Limits of a reply whose request has a token limit: a token rarely has more than 32 bytes, and an event of a stream
// has at most a few kilobytes for each token. Without a token limit, a request is assumed to have defaultTokens.
const (
	baseBytes      = 64 << 10
	tokenBytes     = 64
	baseStream     = 8 << 20
	tokenStream    = 16 << 10
	defaultTokens  = 1 << 18
	maxStreamBytes = 1 << 32
)

func (r *Reply) tokens() int {
	if r.asked.MaxTokens > 0 {
		return min(r.asked.MaxTokens, defaultTokens)
	}
	return defaultTokens
}

// maxStream returns the largest size of the response in bytes.
func (r *Reply) maxStream() int64 {
	return min(baseStream+int64(r.tokens())*tokenStream, maxStreamBytes)
}

// Grow counts n bytes of the reply. The methods that add to the reply call it. A caller of Keep calls it for pieces that
// it holds until the opaque reasoning is complete.
func (r *Reply) Grow(n int) error {
	if r.size += n; r.size > baseBytes+r.tokens()*tokenBytes {
		r.tooLong = true
		return &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: longer than %d bytes, which is more than the token limit explains", baseBytes+r.tokens()*tokenBytes)}
	}
	return nil
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

// say adds a piece to the text and passes it to OnChunk.
func (r *Reply) say(piece string) error {
	if piece == "" || r.looped {
		return nil
	}
	s := r.last(textSegment)
	s.bytes = append(s.bytes, piece...)
	if l := r.saying.Add(piece); l.Piece > 0 {
		return r.endLoop(s, l)
	}
	if r.asked.OnChunk == nil || r.quiet {
		return nil
	}
	r.callbackErr = r.asked.OnChunk(piece)
	return r.callbackErr
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

// addThought adds reasoning that a service needs back.
func (r *Reply) addThought(service string, t Text) error {
	s := r.last(reasonSegment)
	s.keep.Service = service
	s.bytes = append(s.bytes, t...)
	if l := r.thinking.Add(string(t)); l.Piece > 0 && !r.looped {
		return r.endLoop(s, l)
	}
	return nil
}

// endLoop ends a reply whose last segment repeats itself without end. It removes the loop, which says nothing.
func (r *Reply) endLoop(s *segment, l loop.Loop) error {
	r.looped = true
	n := min(l.Length, len(s.bytes))
	for n < len(s.bytes) && n >= l.Piece && s.bytes[len(s.bytes)-1-n] == s.bytes[len(s.bytes)-1-n+l.Piece] { // what came at once
		n++
	}
	piece := s.bytes[len(s.bytes)-min(l.Piece, len(s.bytes)):]
	err := fmt.Errorf("read reply: the model repeats the same %d bytes without end: %q", l.Piece, fault.Excerpt(Text(piece).String(), r.secrets))
	s.bytes = s.bytes[:len(s.bytes)-n]
	s.bytes = s.bytes[:completeLength(s.bytes)]
	return &providers.Error{Kind: providers.Loop, Err: err}
}

// settleThought adds reasoning that was held until it was clear that the service had not sent it before.
func (r *Reply) settleThought() error {
	if !r.thought.Held() {
		return nil
	}
	return r.think(r.thought.End())
}

// Keep adds opaque reasoning, which the service needs back in later requests.
func (r *Reply) Keep(part providers.Reasoning) error {
	r.segments = append(r.segments, segment{kind: opaqueSegment, keep: part})
	return r.Grow(len(part.Data))
}

// CallbackErr returns the error of OnChunk, or nil if there was none.
func (r *Reply) CallbackErr() error { return r.callbackErr }

// Finish sets the finish reason. The reply is then complete, although usage may follow. Some services report that a reply
// stopped although it ended with tool calls.
func (r *Reply) Finish(reason providers.FinishReason) {
	r.complete = true
	if reason == providers.Stop && r.has(callSegment) {
		reason = providers.ToolCalls
	}
	if r.res.FinishReason != providers.ContentFilter {
		r.res.FinishReason = reason
	}
}

// Fail sets the error of a reply that the service says has failed. A later event may report the cause instead.
func (r *Reply) Fail(err error) { r.failed = err }

// NoteUnknown notes that the provider does not know an event. If the event has a message, it is an error. Otherwise, the
// reply is complete only if the service gives a finish reason.
func (r *Reply) NoteUnknown() { r.unknown++ }

// SetModel sets the name of the model that replied, unless it is empty.
func (r *Reply) SetModel(name string) {
	if name != "" {
		r.res.Model = name
	}
}

// Warn adds a warning to the response, unless it is empty.
func (r *Reply) Warn(warning string) {
	if warning != "" {
		r.res.Warnings = append(r.res.Warnings, warning)
	}
}

// Usage returns the usage of the reply, so that it can be changed.
func (r *Reply) Usage() *transcript.Usage { return &r.res.Usage }

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

// has reports whether the reply has a segment of a kind.
func (r *Reply) has(kind segmentKind) bool {
	return slices.ContainsFunc(r.segments, func(s segment) bool { return s.kind == kind })
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
