// Package leftover removes what the templates of models leave in their replies: marks between messages, names of authors and of
// channels, messages of others, and calls of tools that the server has not recognized.
//
// The table of marks says what is known, with sources. A mark counts only where a template puts it: at the beginning, at the
// end, or between messages. One that a text mentions stays, and so does one in code. [IsSuspect] reports what is left.
package leftover

import (
	"strings"
	"unicode/utf8"

	"github.com/elenchus-go/debate/internal/reasoning"
)

// Kind is what a part of a text is.
type Kind int

// The kinds of parts.
const (
	Reply   Kind = iota // a piece of the reply
	Thought             // a piece of reasoning
	Calling             // a block with calls of tools
	Earlier             // nothing, but all of the reply so far was reasoning
)

// Part is a part of a text.
type Part struct {
	Kind  Kind
	Text  string // of a block with calls, without its marks
	Calls []Call
}

// Filter takes a text apart that arrives in pieces. The zero Filter is ready to use.
type Filter struct {
	held   string // what may be the beginning of a mark, and what is needed to understand it
	last   rune   // the character before held; 0 at the beginning and after a mark
	solid  rune   // the same, without white space
	to     Kind   // what the text is
	others bool   // it is a message of somebody else
	begun  bool   // the reply has begun
	said   bool   // it has more than white space
	ended  bool   // it has ended
	trim   bool   // white space is left out
	inline bool   // within reasoning that stays
	struck bool   // the reply has an HTML tag that looks like a mark
	words  bool   // the marks of Harmony have become words

	author, recipient string // of a message whose header is not complete
	channels          bool   // the text has messages with channels
	block             *block // the block of calls that has begun; nil if none has

	fences reasoning.Fences
	span   bool // within code between backquotes

	removed []string
	cut     strings.Builder
}

// block is a block of calls that has begun.
type block struct {
	mark  string // with which it begins
	name  string // of the tool, if a header has it
	until []string
	text  []byte
}

// Removed returns the marks that were removed, each once.
func (f *Filter) Removed() []string { return f.removed }

// Cut returns the text that was left out, because it is of somebody else or follows the end of the reply.
func (f *Filter) Cut() string { return strings.TrimSpace(f.cut.String()) }

// Add takes a piece apart. emit gets the parts in order. Its error ends Add.
func (f *Filter) Add(piece string, emit func(Part) error) error {
	if f.passes(piece) {
		return emit(Part{Text: piece})
	}
	return f.scan(piece, false, emit)
}

// Held reports whether End may pass on a part.
func (f *Filter) Held() bool { return f.held != "" || f.block != nil }

// End passes on the rest of a text that has ended.
func (f *Filter) End(emit func(Part) error) error { return f.scan("", true, emit) }

// passes reports whether a piece is a piece of the reply and has nothing that can belong to a mark, as most have, and notes it.
func (f *Filter) passes(piece string) bool {
	if f.held != "" || !f.said || f.ended || f.others || f.trim || f.words || f.inline || f.block != nil || f.to != Reply {
		return false
	}
	fences, span, before := f.fences, f.span, f.last
	for i := 0; i < len(piece); i++ {
		c := piece[i]
		if c == '<' || c == '[' || c == assistantWord[0] && isEndOfSentence(before) {
			return false
		}
		before = rune(c)
		if c >= utf8.RuneSelf {
			before, _ = utf8.DecodeLastRuneInString(piece[:i+1])
		}
		fences.Add(c)
		span = inSpan(span, c)
	}
	f.fences = fences
	f.span = span
	f.last = before
	if text := strings.TrimRight(piece, space); text != "" {
		f.solid, _ = utf8.DecodeLastRuneInString(text)
	}
	return true
}

// inSpan reports whether the text after c is code between backquotes. A line ends it.
func inSpan(is bool, c byte) bool {
	switch c {
	case '`':
		return !is
	case '\n':
		return false
	}
	return is
}

// scanner takes a piece apart.
type scanner struct {
	*Filter

	buf  string
	at   int // where the scanner is
	from int // buf[:from] was passed on
	mark int // where the last mark ended, if it was in buf
	end  bool
	emit func(Part) error
	err  error
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

// before returns the character before the scanner, or 0 at the beginning and after a mark.
func (s *scanner) before() rune {
	switch {
	case s.at == s.mark:
		return 0
	case s.at == 0:
		return s.last
	}
	r, _ := utf8.DecodeLastRuneInString(s.buf[:s.at])
	return r
}

// solidBefore returns the last character before the scanner that is no white space, or 0.
func (s *scanner) solidBefore() rune {
	text := s.buf[max(0, s.mark):s.at]
	text = strings.TrimRight(text, space)
	if text != "" {
		r, _ := utf8.DecodeLastRuneInString(text)
		return r
	}
	if s.mark >= 0 {
		return 0
	}
	return s.solid
}

// advance goes on by n bytes that are no mark.
func (s *scanner) advance(n int) {
	for ; n > 0; n-- {
		c := s.buf[s.at]
		if s.to == Reply && !s.others && !s.ended {
			s.fences.Add(c)
			s.span = inSpan(s.span, c)
		}
		s.at++
	}
}

// flush passes on the text up to the scanner.
func (s *scanner) flush() {
	text := s.buf[s.from:s.at]
	s.from = s.at
	if s.ended || s.others {
		s.cut.WriteString(text)
		return
	}
	if s.trim {
		text = strings.TrimLeft(text, space)
	}
	if text == "" {
		return
	}
	s.trim = false
	if s.to == Reply && !s.inline && strings.Trim(text, space) != "" {
		s.said = true
	}
	s.pass(Part{Kind: s.to, Text: text})
}

// pass passes on a part, unless an error has occurred.
func (s *scanner) pass(p Part) {
	if s.err == nil {
		s.err = s.emit(p)
	}
}

// remove removes n bytes, which a mark has.
func (s *scanner) remove(mark string, n int) {
	s.flush()
	s.at += n
	s.from = s.at
	s.mark = s.at
	s.trim = true
	s.span = false
	s.fences.BeginLine()
	s.note(mark)
}

// note notes that a mark was removed.
func (f *Filter) note(mark string) {
	for _, known := range f.removed {
		if known == mark {
			return
		}
	}
	f.removed = append(f.removed, mark)
}

const space = " \t\r\n"
