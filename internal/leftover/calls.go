package leftover

import (
	"bytes"
	"regexp"
	"strings"
)

// beginsCall matches what follows the mark of a block with calls: JSON, further marks, or the name of a tool.
var beginsCall = regexp.MustCompile(`^\s*(?:[\[{<]|(?:call:|functions?\.?)?[A-Za-z_][\w.:-]*\s*[\n\[{(<])`)

// mayBeginCall matches the beginning of such a text.
var mayBeginCall = regexp.MustCompile(`^\s*[\w.:-]*\s*$`)

// atCalls goes on at a mark that begins a block of calls.
func (s *scanner) atCalls(m *mark) bool {
	rest := s.buf[s.at+len(m.text):]
	inTag := strings.HasSuffix(m.text, "=")
	head := rest[:min(len(rest), maxHeader)]
	switch {
	case inTag, beginsCall.MatchString(head):
	case !s.end && len(rest) < maxHeader && mayBeginCall.MatchString(rest):
		return false
	default:
		s.keep(len(m.text))
		return true
	}
	b := &block{mark: m.text, until: strings.Fields(m.until)}
	removed := len(m.text)
	if inTag { // the name of the tool is in the tag
		removed = 0
	}
	s.flush()
	s.at += removed
	s.from = s.at
	s.block = b
	return true
}

// collect adds the rest of the piece to the block, up to its end.
func (s *scanner) collect() {
	b := s.block
	from := max(0, len(b.text)-maxHeader)
	b.text = append(b.text, s.buf[s.at:]...)
	s.at = len(s.buf)
	s.from = s.at
	at := -1
	until := ""
	for _, u := range b.until {
		if i := bytes.Index(b.text[from:], []byte(u)); i >= 0 && (at < 0 || from+i < at) {
			at = from + i
			until = u
		}
	}
	if at < 0 {
		return
	}
	rest := string(b.text[at:])
	if m, _ := lookup(rest, true); m != nil || strings.HasPrefix(until, assistantWord) { // it is a mark itself
		until = ""
	}
	s.buf = rest[len(until):]
	s.at = 0
	s.from = 0
	s.mark = 0
	s.endBlock(string(b.text[:at]), until)
}

// endBlock ends the block of calls with a mark. A block without calls stays in the reply.
func (s *scanner) endBlock(text, until string) {
	b := s.block
	s.block = nil
	found := readCalls(text, b.name)
	if len(found) == 0 && b.name == "" && !s.words {
		s.begun = true
		s.said = true
		s.pass(Part{Text: b.mark + text + until})
		return
	}
	s.note(b.mark)
	s.trim = true
	s.to = Reply
	s.ended = true
	s.pass(Part{Kind: Calling, Text: strings.TrimSpace(text), Calls: found})
}
