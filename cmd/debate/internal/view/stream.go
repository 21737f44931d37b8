package view

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/transcript"
)

// tailLines limits the number of lines of a reply in flight that the view keeps.
const tailLines = 64

// stream is a reply in flight.
type stream struct {
	*debate.Attempt
	began   time.Time
	waits   bool   // the attempt has failed, and another one follows
	raw     []byte // the reply so far
	hidden  bool   // show no text
	data    bool   // the reply is JSON
	fields  jsonText
	cleaner cleaner
	wrapper
}

func newStream(a *debate.Attempt, columns int, hidden bool) *stream {
	return &stream{Attempt: a, began: time.Now(), hidden: hidden, wrapper: wrapper{columns: columns, keep: tailLines}}
}

// add appends a piece at an offset of the reply. A piece that replaces something is rare.
func (s *stream) add(offset int, text string) {
	if offset < len(s.raw) {
		s.raw = append(s.raw[:offset:offset], text...)
		s.rewrap(s.columns)
		return
	}
	s.raw = append(s.raw, text...)
	s.show(text)
}

// rewrap breaks the reply into lines again.
func (s *stream) rewrap(columns int) {
	raw := string(s.raw)
	s.raw = s.raw[:0]
	*s = stream{Attempt: s.Attempt, began: s.began, waits: s.waits, hidden: s.hidden, raw: s.raw, wrapper: wrapper{columns: columns, keep: s.keep}}
	s.raw = append(s.raw, raw...)
	s.show(raw)
}

// show adds text to the lines: prose, or the texts in a participant's JSON. The JSON of judges names participants by
// their pseudonyms.
func (s *stream) show(text string) {
	if len(s.raw) == len(text) { // the first piece
		start := strings.TrimLeft(text, " \n\t")
		s.data = strings.HasPrefix(start, "{") || strings.HasPrefix(start, "```")
	}
	if s.data {
		text = s.fields.write(text)
	}
	if s.hidden || s.data && s.Kind != transcript.Speech {
		return
	}
	if len(s.lines) == 0 && s.rest == "" {
		text = strings.TrimLeft(text, " \n\t")
	}
	s.write(s.cleaner.clean(text))
}

// jsonText finds the texts in JSON that arrives in pieces: its string values, without the names of fields.
type jsonText struct {
	open     []byte // the open objects and arrays
	value    bool   // in an object, a value comes next
	inside   bool   // inside a string
	escape   string // the escape sequence so far
	high     rune   // first half of a character in two escape sequences
	anything bool   // a value came before
}

// write returns the texts in the next piece. Each text is on lines of its own.
func (j *jsonText) write(piece string) string {
	var b strings.Builder
	for i := range len(piece) {
		c := piece[i]
		if j.inside {
			j.character(&b, c)
			continue
		}
		switch c {
		case '{', '[':
			j.open, j.value = append(j.open, c), false
		case '}', ']':
			j.open, j.value = j.open[:max(0, len(j.open)-1)], false
		case ':':
			j.value = true
		case ',':
			j.value = false
		case '"':
			j.inside = len(j.open) > 0
			if j.inside && j.shown() && j.anything {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// shown reports whether the current string is a value.
func (j *jsonText) shown() bool { return j.value || j.open[len(j.open)-1] == '[' }

// character adds a byte of a string.
func (j *jsonText) character(b *strings.Builder, c byte) {
	switch {
	case j.escape != "":
		j.escape += string(rune(c))
		if j.escape[1] == 'u' && len(j.escape) < len(`\u0000`) {
			return
		}
		if j.shown() {
			b.WriteString(j.unescape())
		}
		j.escape = ""
	case c == '\\':
		j.escape = `\`
	case c == '"':
		j.inside, j.anything = false, j.anything || j.shown()
	case j.shown():
		b.WriteByte(c)
	}
}

// unescape returns the character of an escape sequence, or "" if it is the first half of one.
func (j *jsonText) unescape() string {
	switch j.escape[1] {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'u':
		n, _ := strconv.ParseUint(j.escape[2:], 16, 16) // 0 if it is not valid: a control character, which is not shown
		r := rune(n)
		if high := j.high; high != 0 {
			j.high = 0
			return string(utf16.DecodeRune(high, r))
		}
		if utf16.IsSurrogate(r) {
			j.high = r
			return ""
		}
		return string(r)
	case 'b', 'f', 'r':
		return ""
	}
	return j.escape[1:]
}
