// Package leftover removes what the templates of models leave in their replies: marks between messages, names of authors and of
// channels, messages of others, and calls of tools that the server has not recognized.
//
// The table of marks says what is known, with sources. A mark counts only where a template puts it: at the beginning, at the
// end, or between messages. One that a text mentions stays, and so does one in code. [IsSuspect] reports what is left.
package leftover

import (
	"strings"
	"unicode/utf8"
)

// Add takes a piece apart. emit gets the parts in order. Its error ends Add. A character whose bytes are not complete waits for the
// next piece.
func (f *Filter) Add(piece string, emit func(Part) error) error {
	piece = f.partial + piece
	complete := len(piece) - partialSize(piece)
	f.partial = piece[complete:]
	piece = piece[:complete]
	if f.passes(piece) {
		return emit(Part{Text: piece})
	}
	return f.scan(piece, false, emit)
}

// Held reports whether End may pass on a part.
func (f *Filter) Held() bool { return f.held != "" || f.partial != "" || f.block != nil }

// End passes on the rest of a text that has ended.
func (f *Filter) End(emit func(Part) error) error { return f.scan(f.partial, true, emit) }

// partialSize returns the number of bytes at the end of a text that begin a character and do not complete it.
func partialSize(text string) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		last := text[len(text)-n:]
		switch {
		case !utf8.RuneStart(last[0]):
			continue
		case utf8.FullRuneInString(last):
			return 0
		}
		return n
	}
	return 0
}

// passes reports whether a piece is a piece of the reply and has nothing that can belong to a mark, as most have, and notes it.
func (f *Filter) passes(piece string) bool {
	if f.held != "" || !f.begun || !f.said || f.ended || f.others || f.trim || f.words || f.inline || f.block != nil || f.to != Reply {
		return false
	}
	fences := f.fences
	span := f.span
	before := f.last
	for i := 0; i < len(piece); i++ {
		c := piece[i]
		if c == '<' || c == '[' || c == assistantWord[0] && isEndOfSentence(before) {
			return false
		}
		before = lastCharacter(piece[:i+1])
		fences.Add(c)
		span = inSpan(span, c)
	}
	f.fences = fences
	f.span = span
	f.last = before
	if text := strings.TrimRight(piece, space); text != "" {
		f.solid = lastCharacter(text)
	}
	return true
}

func (f *Filter) scan(piece string, end bool, emit func(Part) error) error {
	s := scanner{Filter: f, buf: f.held + piece, mark: -1, end: end, emit: emit}
	f.held = ""
	waits := false
	for s.err == nil && s.at < len(s.buf) && !waits {
		waits = !s.step()
	}
	f.solid = s.solidBefore()
	f.last = s.before()
	s.flush()
	f.held = s.buf[s.at:]
	if end && f.block != nil && s.err == nil {
		s.endBlock(string(f.block.text), "")
	}
	return s.err
}

// step goes on by at least one byte, or returns false because it needs more of the text.
func (s *scanner) step() bool {
	switch c := s.buf[s.at]; {
	case s.block != nil:
		s.collect()
		return true
	case !s.begun && s.to == Reply && !s.ended && !s.others && !s.inline:
		return s.begin()
	case c == '<', c == '[':
		return s.atMark()
	case c == assistantWord[0]:
		return s.atWord()
	}
	s.advance(1)
	return true
}
