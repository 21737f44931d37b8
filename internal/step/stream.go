package step

import (
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/reasoning"
)

// stream passes on the text of a call while it arrives: in whole characters, and without reasoning. A run is reused for
// other steps, so a stream has what a late piece needs.
type stream struct {
	call     Call
	began    time.Time
	first    time.Duration // until the first piece
	rest     string        // bytes of a character that has not arrived completely
	complete bool          // the reply has ended
	filters  bool          // the reply has had a character with which reasoning can begin
	filter   reasoning.Filter
}

// add passes on a piece of the reply.
func (s *stream) add(piece string) error {
	if piece != "" && s.first == 0 {
		s.first = time.Since(s.began)
	}
	text := s.wholeCharacters(piece)
	if !s.filters && strings.IndexByte(text, '<') >= 0 {
		s.filters = true
		s.filter.Add(s.call.Text()) // all of it was shown, but may have opened a code fence
	}
	if s.filters {
		text = s.filter.Add(text)
	}
	if s.complete {
		text += s.filter.End()
	}
	return s.call.Chunk(text)
}

// end passes on the rest of a reply that has ended.
func (s *stream) end() {
	s.rest = characters.Valid(s.rest)
	s.complete = true
	if s.rest != "" || s.filter.Pending() {
		_ = s.add("") // the turn counts even if the viewer has left
	}
}

// wholeCharacters returns the characters that are complete once a piece of the reply has arrived. Bytes that are not
// UTF-8 become U+FFFD.
func (s *stream) wholeCharacters(piece string) string {
	if s.rest == "" && characters.Valid(piece) == piece {
		return piece
	}
	piece = s.rest + piece
	n := characters.Complete(piece)
	s.rest = piece[n:]
	return characters.Valid(piece[:n])
}
