package reply

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// faithful tells whether a repaired object says what stood there before: the same brackets, keys, texts, numbers and
// literals in the same order, each key before a colon, each text within quotes or a single word. The repair may only
// have put in or taken out commas, quotes, backslashes and comments, and have spelt literals as JSON does.
func faithful(before, after string) bool {
	d := json.NewDecoder(strings.NewReader(after))
	d.UseNumber()
	t := source{before}
	return t.value(d) && t.text == ""
}

// source is what is left of a text that was repaired.
type source struct{ text string }

// value takes the value that d has next.
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

// items takes an object or a list.
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

// key takes a key with its colon.
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

// quotedString takes a text that stands in quotes, or is a word without.
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

// bareToken takes what stands without quotes, if it ends there.
func (t *source) bareToken(s string, trim func(text, prefix string) string) bool {
	rest := trim(t.text, s)
	if len(rest) == len(t.text) || identifierLength(rest) > 0 || rest != "" && strings.Contains(".+-", rest[:1]) {
		return false
	}
	t.text = rest
	return true
}

func trimFold(text, prefix string) string {
	if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
		return text[len(prefix):]
	}
	return text
}

func (t *source) take(s string) bool {
	rest, ok := strings.CutPrefix(t.text, s)
	t.text = rest
	return ok
}

// skip passes over space and comments. What holds a quote is no comment but, likely, a part of some text.
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

// escaped and unescaped are what may stand after a backslash, and what it then means.
const (
	escaped   = `"\/bfnrt`
	unescaped = "\"\\/\b\f\n\r\t"
)

// nextCharacter is the first nextCharacter of a string's content, and how many bytes it takes. A backslash that escapes nothing
// is a nextCharacter where one is wanted, else it is none.
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

// codepoint reads the form \u00e9, also where two of them make one character.
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

func hex4(text string) (rune, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n), err == nil
}
