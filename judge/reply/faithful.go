package reply

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// faithful reports whether a repaired object has the same content as the original: the same brackets, keys, strings,
// numbers and literals in the same order, each key before a colon, and each string quoted or a single word. The
// repair may only have added or removed commas, quotes, backslashes and comments, and spelled literals as JSON does.
func faithful(before, after string) bool {
	d := json.NewDecoder(strings.NewReader(after))
	d.UseNumber()
	t := source{before}
	return t.value(d) && t.text == ""
}

// source is the part of the original text that has not been compared yet.
type source struct{ text string }

// value consumes the text of the next value of d. It reports whether they match.
func (t *source) value(d *json.Decoder) bool {
	token, err := d.Token()
	if err != nil {
		return false
	}
	t.skip()
	switch v := token.(type) {
	case json.Delim:
		return t.items(d, v)
	case string:
		return t.quotedString(v)
	case json.Number:
		return t.bareToken(v.String(), strings.TrimPrefix)
	case bool:
		return t.bareToken(strconv.FormatBool(v), trimFold)
	}
	return t.bareToken("null", strings.TrimPrefix) || t.bareToken("None", strings.TrimPrefix)
}

// items consumes an object or a list.
func (t *source) items(d *json.Decoder, open json.Delim) bool {
	if !t.take(open.String()) {
		return false
	}
	for d.More() {
		if open == '{' && !t.key(d) || !t.value(d) {
			return false
		}
		t.skip()
		t.take(",")
	}
	end, err := d.Token()
	t.skip()
	return err == nil && t.take(end.(json.Delim).String())
}

// key consumes a key with its colon.
func (t *source) key(d *json.Decoder) bool {
	token, err := d.Token()
	name, ok := token.(string)
	t.skip()
	if err != nil || !ok || !t.quotedString(name) {
		return false
	}
	t.skip()
	return t.take(":")
}

// quotedString consumes a string that is quoted, or a single word without quotes.
func (t *source) quotedString(s string) bool {
	closing, rest := cutOpeningQuote(t.text)
	if closing == "" {
		return s != "" && identifierLength(s) == len(s) && t.bareToken(s, strings.TrimPrefix)
	}
	for t.text = rest; s != ""; {
		want, n := utf8.DecodeRuneInString(s)
		got, m := nextCharacter(t.text, want)
		if got != want || m == 0 {
			return false
		}
		s, t.text = s[n:], t.text[m:]
	}
	return t.take(closing)
}

// bareToken consumes an unquoted token, if the token ends there.
func (t *source) bareToken(s string, trim func(text, prefix string) string) bool {
	rest := trim(t.text, s)
	if len(rest) == len(t.text) || identifierLength(rest) > 0 || rest != "" && strings.Contains(".+-", rest[:1]) {
		return false
	}
	t.text = rest
	return true
}

// trimFold removes a prefix from a text, whatever its case.
func trimFold(text, prefix string) string {
	if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
		return text[len(prefix):]
	}
	return text
}

// take consumes s. It reports whether the text began with it.
func (t *source) take(s string) bool {
	rest, ok := strings.CutPrefix(t.text, s)
	t.text = rest
	return ok
}

// skip consumes space and comments. A comment that contains a quote is not skipped, because it is probably part of a
// string.
func (t *source) skip() {
	for {
		t.text = strings.TrimLeft(t.text, whitespace)
		end := "\n"
		if strings.HasPrefix(t.text, "/*") {
			end = "*/"
		} else if !strings.HasPrefix(t.text, "//") {
			return
		}
		comment, rest, ended := strings.Cut(t.text, end)
		if !ended || strings.Contains(comment, `"`) {
			return
		}
		t.text = rest
	}
}

// The byte escaped[i] after a backslash stands for unescaped[i].
const (
	escaped   = `"\/bfnrt`
	unescaped = "\"\\/\b\f\n\r\t"
)

// nextCharacter returns the first character of a string's content and its length in bytes. A backslash that escapes
// nothing counts as a character only if want is a backslash.
func nextCharacter(text string, want rune) (rune, int) {
	if !strings.HasPrefix(text, `\`) || len(text) == 1 {
		return utf8.DecodeRuneInString(text)
	}
	if i := strings.IndexByte(escaped, text[1]); i >= 0 {
		return rune(unescaped[i]), 2
	}
	if text[1] == 'u' {
		return codepoint(text)
	}
	if want == '\\' {
		return want, 1
	}
	r, n := utf8.DecodeRuneInString(text[1:])
	return r, n + 1
}

// codepoint reads an escape such as \u00e9, or two of them that form one character.
func codepoint(text string) (rune, int) {
	first, ok := hex4(text)
	if !ok {
		return utf8.RuneError, 0
	}
	if second, ok := hex4(text[6:]); ok && utf16.IsSurrogate(first) {
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return r, 12
		}
	}
	if utf16.IsSurrogate(first) {
		first = utf8.RuneError
	}
	return first, 6
}

// hex4 reads the four hexadecimal digits of an escape such as \u00e9.
func hex4(text string) (rune, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n), err == nil
}
