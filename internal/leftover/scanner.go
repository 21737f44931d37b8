package leftover

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
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

// Call is a call of a tool.
type Call struct {
	Name      string
	Arguments json.RawMessage
}

// Filter takes a text apart that arrives in pieces. The zero Filter is ready to use.
type Filter struct {
	held    string // what may be the beginning of a mark, and what is needed to understand it
	partial string // the beginning of a character
	last    rune   // the character before held; 0 at the beginning and after a mark
	solid   rune   // the same, without white space
	to      Kind   // what the text is
	others  bool   // it is a message of somebody else
	begun   bool   // the reply has begun
	said    bool   // it has more than white space
	ended   bool   // it has ended
	trim    bool   // white space is left out
	inline  bool   // within reasoning that stays
	struck  bool   // the reply has an HTML tag that looks like a mark
	words   bool   // the marks of Harmony have become words

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

// note notes that a mark was removed.
func (f *Filter) note(mark string) {
	if !slices.Contains(f.removed, mark) {
		f.removed = append(f.removed, mark)
	}
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

// lastCharacter returns the last character of a text. For the character 0 it returns utf8.RuneError, because 0 means that there is
// none.
func lastCharacter(text string) rune {
	r, _ := utf8.DecodeLastRuneInString(text)
	if r == 0 {
		return utf8.RuneError
	}
	return r
}

// before returns the character before the scanner, or 0 at the beginning and after a mark.
func (s *scanner) before() rune {
	switch s.at {
	case s.mark:
		return 0
	case 0:
		return s.last
	}
	return lastCharacter(s.buf[:s.at])
}

// solidBefore returns the last character before the scanner that is no white space, or 0.
func (s *scanner) solidBefore() rune {
	text := s.buf[max(0, s.mark):s.at]
	text = strings.TrimRight(text, space)
	if text != "" {
		return lastCharacter(text)
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

// keep goes on by n bytes that look like a mark and are none.
func (s *scanner) keep(n int) {
	s.begun = true
	s.advance(n)
}

// endMessage notes the end of a message.
func (s *scanner) endMessage() {
	switch {
	case s.others:
		s.others = false
		s.to = Reply
	case s.to != Reply:
		s.to = Reply
	case s.said:
		s.ended = true
	}
}

// speaks notes that a message begins.
func (s *scanner) speaks(model bool) {
	s.to = Reply
	switch {
	case s.said:
		s.ended = true
	default:
		s.others = !model
	}
}

// reset notes that all of the reply so far was reasoning.
func (s *scanner) reset() {
	s.said = false
	s.ended = false
	s.begun = false
	s.pass(Part{Kind: Earlier})
}

// following is what follows a mark.
type following int

const (
	unclear  following = iota
	nothing            // the text ends
	nextMark           // another mark
	atOnce             // text
	sameLine           // white space and text
	nextLine           // a line break and text
)

// after returns what follows n bytes.
func (s *scanner) after(n int) following {
	rest := s.buf[s.at+n:]
	text := strings.TrimLeft(rest, space)
	white := rest[:len(rest)-len(text)]
	switch {
	case len(white) > maxHeader:
		return nothing
	case text == "" && s.end:
		return nothing
	case text == "":
		return unclear
	}
	if text[0] == '<' || text[0] == '[' {
		if m, wait := lookup(text, s.end); m != nil {
			return nextMark
		} else if wait {
			return unclear
		}
	}
	switch {
	case white == "":
		return atOnce
	case strings.Contains(white, "\n"):
		return nextLine
	}
	return sameLine
}

// isGlued reports whether the text before belongs to a message that a mark ends: there is no space between them, and no bracket
// or quotation mark.
func (s *scanner) isGlued() bool {
	r := s.before()
	return r == 0 || r == '\n' || !unicode.IsSpace(r) && !unicode.In(r, unicode.Ps, unicode.Pi) && !strings.ContainsRune("\"'`=:,/-", r)
}

// isEndOfSentence reports whether a sentence can end with a character.
func isEndOfSentence(r rune) bool {
	return strings.ContainsRune(".!?…)\"”’。！？」*", r) && r != 0
}

// maxHeader limits the length of a header, in bytes.
const maxHeader = 200

const space = " \t\r\n"

// assistantWord names the model. Where marks are not shown, it stands alone before or after a message.
const assistantWord = "assistant"

// Words into which the marks of Harmony turn where they are not shown: "analysisWe should argue.assistantfinalThe edge wins."
// Sources: Augustas11/macprovider#743, raullenchai/Rapid-MLX#480
const (
	analysisWord   = "analysis"
	commentaryWord = "commentary"
	finalWord      = "final"
	callHeader     = "commentary to="
)
