package sources

import (
	"encoding/json"
	"strings"
)

// decoded returns the texts in a text that is JSON, joined by line breaks: the values that are strings, without their escapes, but
// not the names of fields. It returns "" for any other text. Of JSON that is cut, it returns the strings up to the cut.
func decoded(text string, partial bool) string {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !strings.ContainsRune(`{["`, rune(trimmed[0])) || !partial && !json.Valid([]byte(trimmed)) {
		return ""
	}
	var list []string
	var objects []bool // whether each open object or array is an object
	isName := false    // the next string is the name of a field
	inObject := func() bool { return len(objects) > 0 && objects[len(objects)-1] }
	d := json.NewDecoder(strings.NewReader(trimmed))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err != nil { // the end, or the cut
			if last := cutString(trimmed[d.InputOffset():]); partial && !isName && last != "" {
				list = append(list, last)
			}
			return strings.Join(list, "\n")
		}
		switch t := t.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				objects = append(objects, t == '{')
				isName = t == '{'
				continue
			}
			objects = objects[:len(objects)-1]
		case string:
			if isName {
				isName = false
				continue
			}
			list = append(list, t)
		}
		isName = inObject()
	}
}

// cutString returns the beginning of a string at which JSON was cut. What follows on a new line is no part of it.
func cutString(rest string) (text string) {
	rest, isString := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n:,"), `"`)
	rest, _, _ = strings.Cut(rest, "\n")
	for range len(`\u0026`) { // the cut may be in an escape
		if !isString || json.Unmarshal([]byte(`"`+rest+`"`), &text) == nil {
			break
		}
		rest = rest[:max(len(rest)-1, 0)]
	}
	return text
}
