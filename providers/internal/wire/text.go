package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a JSON string. Unlike a string, it keeps the bytes of a character whose other bytes are in the next event.
// Half of a surrogate pair is kept as the three bytes that UTF-8 would use for it. A value that is not a string, such
// as null, is an empty Text.
type Text []byte

// UnmarshalJSON reads a JSON string.
func (t *Text) UnmarshalJSON(raw []byte) error {
	*t = nil
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		*t = append([]byte(nil), raw...)
		return nil
	}
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 || i+1 == len(raw) {
			out = append(out, raw...)
			break
		}
		out = append(out, raw[:i]...)
		var n int
		out, n = appendEscape(out, raw[i:])
		raw = raw[i+n:]
	}
	*t = out
	return nil
}

// appendEscape appends the character of the escape sequence with which raw begins, and returns the sequence's length.
// The sequence is valid, because encoding/json has checked it.
func appendEscape(out, raw []byte) ([]byte, int) {
	const long = len(`\u0000`)
	switch c := raw[1]; c {
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'n':
		return append(out, '\n'), 2
	case 'r':
		return append(out, '\r'), 2
	case 't':
		return append(out, '\t'), 2
	case 'u':
		if len(raw) < long {
			return append(out, raw...), len(raw)
		}
		r := hexRune(raw[2:long])
		if !utf16.IsSurrogate(r) {
			return utf8.AppendRune(out, r), long
		}
		if len(raw) >= 2*long && raw[long] == '\\' && raw[long+1] == 'u' {
			if both := utf16.DecodeRune(r, hexRune(raw[long+2:2*long])); both != utf8.RuneError {
				return utf8.AppendRune(out, both), 2 * long
			}
		}
		return append(out, 0xE0|byte(r>>12&0x0F), 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F)), long
	default:
		return append(out, c), 2
	}
}

func hexRune(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits), 16, 16)
	return rune(n)
}

// surrogateLen is the number of bytes of half of a surrogate pair.
const surrogateLen = 3

// isHighSurrogate reports whether t begins with the first half of a surrogate pair.
func isHighSurrogate(t Text) bool { return isSurrogate(t) && t[1] < 0xB0 }

// MarshalJSON writes a JSON string.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// String returns the text as valid UTF-8. It joins the halves of surrogate pairs, and replaces invalid bytes.
func (t Text) String() string {
	if utf8.Valid(t) {
		return string(t)
	}
	out := make([]byte, 0, len(t))
	for len(t) > 0 {
		if isHighSurrogate(t) && isSurrogate(t[surrogateLen:]) {
			if r := utf16.DecodeRune(surrogate(t), surrogate(t[surrogateLen:])); r != utf8.RuneError {
				out = utf8.AppendRune(out, r)
				t = t[2*surrogateLen:]
				continue
			}
		}
		n := surrogateLen
		if !isSurrogate(t) {
			var r rune
			r, n = utf8.DecodeRune(t)
			out = utf8.AppendRune(out, r)
		} else {
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		t = t[n:]
	}
	return string(out)
}

// isSurrogate reports whether t begins with half of a surrogate pair.
func isSurrogate(t Text) bool {
	return len(t) >= surrogateLen && t[0] == 0xED && t[1] >= 0xA0 && t[1] < 0xC0 && t[2] >= 0x80 && t[2] < 0xC0
}

// surrogate returns the half of a surrogate pair with which t begins.
func surrogate(t Text) rune { return rune(t[0]&0x0F)<<12 | rune(t[1]&0x3F)<<6 | rune(t[2]&0x3F) }

// completeLength returns the length of t without an incomplete character at its end. Half of a surrogate pair counts
// as incomplete too.
func completeLength(t Text) int {
	if len(t) >= surrogateLen && isHighSurrogate(t[len(t)-surrogateLen:]) {
		return len(t) - surrogateLen
	}
	for i := len(t) - 1; i >= 0 && len(t)-i < utf8.UTFMax; i-- {
		if utf8.RuneStart(t[i]) {
			if !utf8.FullRune(t[i:]) {
				return i
			}
			break
		}
	}
	return len(t)
}

// arguments returns the arguments of a tool call as JSON: an object if there are none, and a string if they are not JSON.
func arguments(raw []byte) json.RawMessage {
	switch {
	case len(raw) == 0:
		return json.RawMessage("{}")
	case !json.Valid(raw):
		raw, _ = json.Marshal(string(raw)) // strings always encode
	}
	return raw
}
