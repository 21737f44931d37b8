package wire

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/resent"
)

// AddCall adds a whole tool call.
func (r *Reply) AddCall(call providers.ToolCall) error {
	r.segments = append(r.segments, segment{kind: callSegment, index: wholeCall, call: call, bytes: call.Arguments})
	return r.Grow(len(call.Arguments) + len(call.Name) + len(call.ID))
}

// wholeCall replaces the index of a call of which no more pieces arrive.
const wholeCall = -1

// GrowCall adds to the last tool call with an index, whose arguments arrive in pieces. Empty fields of call do not change
// it. Some services give no index, or the same for all calls: a new ID, or the name of a function after whole arguments,
// begins another call.
func (r *Reply) GrowCall(index int, call providers.ToolCall, arguments string) error {
	i := len(r.segments) - 1
	for i >= 0 && (r.segments[i].kind != callSegment || r.segments[i].index != index) {
		i--
	}
	if i < 0 || r.segments[i].isOther(call, arguments) {
		r.segments = append(r.segments, segment{kind: callSegment, index: index})
		i = len(r.segments) - 1
	}
	s := &r.segments[i]
	s.call.ID = cmp.Or(s.call.ID, call.ID)
	s.call.Name = cmp.Or(s.call.Name, call.Name)
	s.call.Opaque = cmp.Or(s.call.Opaque, call.Opaque)
	s.bytes = append(s.bytes, arguments...)
	s.ends = append(s.ends, len(s.bytes))
	return r.Grow(len(arguments) + len(call.Name) + len(call.ID))
}

// isOther reports whether a piece belongs to another call than s.
func (s *segment) isOther(call providers.ToolCall, arguments string) bool {
	if call.ID != "" && s.call.ID != "" {
		return call.ID != s.call.ID
	}
	return call.Name != "" && arguments != "" && len(s.bytes) > 0 && json.Valid(s.bytes)
}

// HasCall reports whether the reply has a tool call with an index.
func (r *Reply) HasCall(index int) bool {
	return slices.ContainsFunc(r.segments, func(s segment) bool { return s.kind == callSegment && s.index == index })
}

// arguments returns the arguments of a call. If the pieces are not JSON together, but each repeats those before it, the last one
// has all of them. again is the number of bytes that were sent again.
func (s *segment) arguments() (given []byte, again int) {
	if len(s.ends) < 2 || json.Valid(s.bytes) {
		return s.bytes, 0
	}
	var pieces resent.Filter
	from := 0
	for _, to := range s.ends {
		fresh, err := pieces.Add(s.bytes[from:to])
		if err != nil {
			return s.bytes, 0
		}
		given = append(given, fresh...)
		from = to
	}
	given = append(given, pieces.End()...)
	if !json.Valid(given) {
		return s.bytes, 0
	}
	return given, pieces.Removed()
}
