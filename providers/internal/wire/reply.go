package wire

import (
	"fmt"
	"slices"

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
	r.size += n
	if r.size > baseBytes+r.tokens()*tokenBytes {
		r.tooLong = true
		return &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: longer than %d bytes, which is more than the token limit explains", baseBytes+r.tokens()*tokenBytes)}
	}
	return nil
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
	piece := Text(s.bytes[len(s.bytes)-min(l.Piece, len(s.bytes)):])
	quoted := fault.Excerpt(piece.String(), r.secrets)
	err := fmt.Errorf("read reply: the model repeats the same %d bytes without end: %q", l.Piece, quoted)
	s.bytes = s.bytes[:len(s.bytes)-n]
	s.bytes = s.bytes[:completeLength(s.bytes)]
	return &providers.Error{Kind: providers.Loop, Err: err}
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

// NoteRead adds what the model has looked at by itself.
func (r *Reply) NoteRead(list []transcript.Access) { r.res.Read = append(r.res.Read, list...) }

// Usage returns the usage of the reply, so that it can be changed.
func (r *Reply) Usage() *transcript.Usage { return &r.res.Usage }

// has reports whether the reply has a segment of a kind.
func (r *Reply) has(kind segmentKind) bool {
	return slices.ContainsFunc(r.segments, func(s segment) bool { return s.kind == kind })
}
