package cassette

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// differences collects the differences of two requests.
type differences struct {
	count int    // the sum of the weights
	first string // describes the first difference
}

func (d *differences) add(weight int, format string, args ...any) {
	if d.count == 0 {
		d.first = fmt.Sprintf(format, args...)
	}
	d.count += weight
}

// differences compares a recorded request with another one. A different method or path weighs more than any difference
// in the body.
func (i *interaction) differences(got *interaction) *differences {
	d := &differences{}
	if i.Method != got.Method {
		d.add(1000, "method: recorded %s, got %s", i.Method, got.Method)
	}
	if was, is := pathAndQuery(i.URL), pathAndQuery(got.URL); was != is {
		d.add(1000, "path: recorded %s, got %s", was, is)
	}
	d.compare("body", i.requestValue(), got.requestValue())
	return d
}

// requestValue returns the request's body: a decoded JSON value, a string, or nil if there is no body.
func (i *interaction) requestValue() any {
	if i.RequestRaw != nil {
		return string(i.RequestRaw)
	}
	v, err := decodeValue(i.RequestJSON)
	if err != nil {
		return nil // no body
	}
	return v
}

func (d *differences) compare(path string, was, is any) {
	switch was := was.(type) {
	case map[string]any:
		if is, ok := is.(map[string]any); ok {
			d.objects(path, was, is)
			return
		}
	case []any:
		if is, ok := is.([]any); ok {
			d.lists(path, was, is)
			return
		}
	case string:
		if is, ok := is.(string); ok {
			d.texts(path, was, is)
			return
		}
	default:
		if was == is {
			return
		}
	}
	d.add(1, "%s: recorded %s, got %s", path, shortJSON(was), shortJSON(is))
}

func (d *differences) objects(path string, was, is map[string]any) {
	keys := slices.Collect(maps.Keys(was))
	for key := range is {
		if _, ok := was[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		before, recorded := was[key]
		after, got := is[key]
		at := path + "." + key
		switch {
		case !got:
			d.add(1, "%s: recorded %s, got nothing", at, shortJSON(before))
		case !recorded:
			d.add(1, "%s: recorded nothing, got %s", at, shortJSON(after))
		default:
			d.compare(at, before, after)
		}
	}
}

func (d *differences) lists(path string, was, is []any) {
	for n := range min(len(was), len(is)) {
		d.compare(fmt.Sprintf("%s[%d]", path, n), was[n], is[n])
	}
	if len(was) != len(is) {
		d.add(1, "%s: recorded %d elements, got %d", path, len(was), len(is))
	}
}

func (d *differences) texts(path, was, is string) {
	if was == is {
		return
	}
	at := 0
	for at < len(was) && at < len(is) && was[at] == is[at] {
		at++
	}
	d.add(1, "%s, at byte %d: recorded %q, got %q", path, at, excerpt(was, at), excerpt(is, at))
}

// excerpt returns the part of text around byte at.
func excerpt(text string, at int) string {
	const before, after = 20, 40
	from, to := max(0, at-before), min(len(text), at+after)
	part := strings.ToValidUTF8(text[from:to], "")
	if from > 0 {
		part = "..." + part
	}
	if to < len(text) {
		part += "..."
	}
	return part
}

// shortJSON encodes v as JSON and truncates the result to about 60 bytes.
func shortJSON(v any) string {
	const most = 60
	text, err := marshal(v)
	if err != nil || len(text) <= most {
		return string(text)
	}
	cut := most
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return string(text[:cut]) + "..."
}
