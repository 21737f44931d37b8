package reply

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// faithful reports whether a repaired object has the same content as the original: the same brackets, keys, strings,
// numbers and literals in the same order. The repair may have added or removed commas, quotes, backslashes and comments,
// and spelled literals as JSON does. Each key stands before a colon, and each string is quoted or a single word.
//
// One colon or one quote may be missing, if there is no other doubt about where the strings begin and end.
func faithful(before, after string) bool {
	d := json.NewDecoder(strings.NewReader(after))
	d.UseNumber()
	t := source{text: before}
	return t.value(d, "") && t.text == "" && t.certain()
}

// source is the part of the original text that has not been compared yet, with what was unusual in the part before it.
type source struct {
	text  string
	quote string  // the quote that closed the first string
	gap   *string // the space between the first colon and its value

	missing int  // colons and quotes that are missing
	commas  int  // commas that are missing
	bare    int  // strings without quotes
	inner   int  // quotes inside strings that would close them
	outer   int  // such quotes next to the quotes around the string, or next to one another
	mixed   int  // strings in other quotes than the first one
	edges   int  // strings that begin or end with a character that gives an object its structure
	quoted  int  // strings that begin or end with a quote
	inValue bool // whether the missing quote is that of a value
	uneven  int  // values behind other space than the first one, which may be part of a string without an opening quote
}

// certain reports whether the strings begin and end where the repair says.
func (t *source) certain() bool {
	switch {
	case t.outer > 0 || t.missing > 1:
		return false
	case t.missing == 1:
		return t.commas+t.bare+t.inner+t.mixed+t.edges+t.quoted == 0 && (t.uneven == 0 || !t.inValue)
	}
	return t.commas == 0 || t.edges == 0
}

// value consumes the text of the next value of d. It reports whether they match. If next is not empty, a string may
// lack its closing quote before it.
func (t *source) value(d *json.Decoder, next string) bool {
	token, err := d.Token()
	if err != nil {
		return false
	}
	t.skip()
	switch v := token.(type) {
	case json.Delim:
		return t.items(d, v)
	case string:
		return t.quotedString(v, next)
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
		item := (*source).item
		if open == '{' {
			item = (*source).property
		}
		if !item(t, d) {
			return false
		}
		if t.skip(); !t.take(",") && d.More() {
			t.commas++
		}
	}
	end, err := d.Token()
	t.skip()
	return err == nil && t.take(end.(json.Delim).String())
}

// item consumes an item of a list.
func (t *source) item(d *json.Decoder) bool {
	missing, gap := t.missing, t.leadingSpace()
	if !t.value(d, "") {
		return false
	}
	if t.missing > missing && gap != "" {
		t.inValue = true
		t.uneven++
	}
	return true
}

// property consumes a key with its colon and its value.
func (t *source) property(d *json.Decoder) bool {
	token, err := d.Token()
	name, ok := token.(string)
	t.skip()
	if err != nil || !ok || !t.quotedString(name, ":") {
		return false
	}
	if t.skip(); !t.take(":") {
		t.missing++
		return t.value(d, "")
	}
	gap := t.leadingSpace()
	if t.gap == nil {
		t.gap = &gap
	}
	if gap != *t.gap {
		t.uneven++
	}
	missing := t.missing
	ok = t.value(d, ",")
	t.inValue = t.inValue || t.missing > missing
	return ok
}

// leadingSpace returns the space at the beginning of the text.
func (t *source) leadingSpace() string {
	return t.text[:len(t.text)-len(strings.TrimLeft(t.text, whitespace))]
}

// quotedString consumes a string that is quoted, or a single word without quotes. One quote may be missing. The closing
// quote may be missing only before next, because a truncated string has none either.
func (t *source) quotedString(s, next string) bool {
	closing, rest := cutOpeningQuote(t.text)
	if closing == "" {
		return t.unopenedString(s)
	}
	t.text = rest
	if !t.content(s, closing) {
		return false
	}
	if t.take(closing) {
		return true
	}
	t.missing++
	if next == ":" {
		return strings.HasPrefix(strings.TrimLeft(t.text, whitespace), next)
	}
	after, found := strings.CutPrefix(t.text, next)
	quote, _ := cutOpeningQuote(strings.TrimLeft(after, whitespace))
	return next != "" && found && quote != ""
}

// unopenedString consumes a string without an opening quote.
func (t *source) unopenedString(s string) bool {
	word := s != "" && identifierLength(s) == len(s) && t.bareToken(s, strings.TrimPrefix)
	if word && !strings.HasPrefix(t.text, `"`) && !strings.HasPrefix(t.text, "'") {
		t.bare++
		return true
	}
	t.missing++
	if s == "" || !word && !t.content(s, "") {
		return false
	}
	for _, closing := range []string{`"`, "'"} {
		if t.take(closing) {
			t.quote = cmp.Or(t.quote, closing)
			if t.quote != closing {
				t.mixed++
			}
			t.inner += strings.Count(s, closing)
			return true
		}
	}
	return false
}

// content consumes the content of a string.
func (t *source) content(s, closing string) bool {
	if t.quote = cmp.Or(t.quote, closing); closing != "" && t.quote != closing {
		t.mixed++
	}
	if edge := strings.TrimSpace(s); edge != "" {
		ends := edge[:1] + edge[len(edge)-1:]
		if strings.ContainsAny(ends, `{}[]:,\`) {
			t.edges++
		}
		first, _ := utf8.DecodeRuneInString(edge)
		last, _ := utf8.DecodeLastRuneInString(edge)
		if strings.ContainsRune(quotes, first) || strings.ContainsRune(quotes, last) {
			t.quoted++
		}
	}
	for before := ""; s != ""; {
		want, n := utf8.DecodeRuneInString(s)
		if closing != "" && strings.HasPrefix(t.text, closing) {
			t.inner++
			if before == "" || before == closing || n == len(s) || strings.HasPrefix(strings.TrimLeft(s[n:], whitespace), closing) {
				t.outer++
			}
		}
		got, m := nextCharacter(t.text, want)
		if got != want || m == 0 {
			return false
		}
		if want > ' ' {
			before = t.text[:m]
		}
		s, t.text = s[n:], t.text[m:]
	}
	return true
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
