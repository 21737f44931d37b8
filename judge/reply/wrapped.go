package reply

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// unwrapRepaired returns the object inside objects that have one property each, which is not known, and its location. What was
// repaired may be misread, so nothing else around a reply is accepted.
func (c *Contract) unwrapRepaired(value map[string]any) (inner map[string]any, outer string) {
	for len(value) == 1 && !c.reading().known.hasKnown(value) {
		for key, only := range value {
			object, ok := only.(map[string]any)
			if !ok || showsForm(key) {
				return value, outer
			}
			value, outer = object, outer+"/"+key
		}
	}
	return value, outer
}

// inside returns the objects with a known property that an object has inside, at any depth, also in texts that are JSON. It
// returns at most one object more than a reply may have.
func (c *Contract) inside(value map[string]any) []object {
	f := finder{contract: c}
	f.searchFields(value)
	return f.found
}

// finder collects the objects inside a value.
type finder struct {
	contract *Contract
	found    []object
	at       path // of the value that is searched
	texts    int  // around that value
}

// searchAt searches a part of the value that is searched, unless it shows the form of a reply.
func (f *finder) searchAt(at segment, value any) {
	if at.name != "" && showsForm(at.name) {
		return
	}
	f.at = append(f.at, at)
	f.search(value)
	f.at = f.at[:len(f.at)-1]
}

func (f *finder) search(value any) {
	if len(f.found) > maxObjects {
		return
	}
	switch v := value.(type) {
	case string:
		f.searchText(v)
	case []any:
		for i, item := range v {
			f.searchAt(segment{place: i + 1}, item)
		}
	case map[string]any:
		f.searchObject(v)
	}
}

// searchObject searches an object. One with a field of the reply may be a reply. Its texts are searched further: what a block of
// text such as {"type": "text", "text": "{…}"} means is doubtful if the reply has a field of that name.
func (f *finder) searchObject(value map[string]any) {
	if f.contract.hasField(value) {
		f.found = append(f.found, object{value: value, outer: f.at.String()})
	}
	f.searchFields(value)
}

// searchFields searches what an object has around a reply. The parts of a reply are none.
func (f *finder) searchFields(value map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(value)) {
		_, text := value[key].(string)
		if text || f.contract.isFurther(key, value[key]) {
			f.searchAt(segment{name: key}, value[key])
		}
	}
}

// hasField reports whether an object has a known property, perhaps misspelled, that is no further object around a reply.
func (c *Contract) hasField(object map[string]any) bool {
	for key, value := range object {
		if c.reading().known.isField(key) && !c.isFurther(key, value) {
			return true
		}
	}
	return false
}

// isField reports whether a name is that of a known property, perhaps misspelled.
func (s knownFields) isField(name string) bool {
	_, known := s[name]
	return known || len(s.misspelled(nil, name, "")) > 0
}

// isFurther reports whether a property is something further around a reply: an object, a list, or a text with an object, that no
// field of that name has, such as the arguments of a call.
func (c *Contract) isFurther(key string, value any) bool {
	kind := ""
	switch v := value.(type) {
	case map[string]any:
		kind = "object"
	case []any:
		kind = "array"
	case string:
		if strings.Contains(v, "{") {
			kind = "string"
		}
	}
	return kind != "" && !c.hasKind(key, kind)
}

// hasKind reports whether a field of that name, perhaps misspelled, may have a value of a kind.
func (c *Contract) hasKind(key, kind string) bool {
	s := c.schemas()
	has := func(name string) bool {
		return slices.Contains(s.validator.Properties[name].Types, kind) || kind == "object" && s.reading().layout.fields[name].entries != nil
	}
	if _, known := s.reading().known[key]; known {
		return has(key)
	}
	normal := normalizeName(key)
	for name, field := range s.reading().known {
		if (normal == field.normal || isTypo(normal, field.normal)) && has(name) {
			return true
		}
	}
	return false
}

// misspells reports whether an object has a misspelled field.
func (c *Contract) misspells(object map[string]any) bool {
	for key, value := range object {
		_, known := c.reading().known[key]
		if !known && c.reading().known.isField(key) && !c.isFurther(key, value) {
			return true
		}
	}
	return false
}

// searchText searches a text that is JSON as a whole.
func (f *finder) searchText(text string) {
	if f.texts == maxUnwraps || !strings.Contains(text, "{") {
		return
	}
	text, err := unwrapReply(text, f.contract.reading().known)
	text = stripCodeFence(text)
	if err != nil || !isObject(text) {
		return
	}
	value, err := parseObject(text)
	switch {
	case err == nil:
		f.texts++
		f.search(value)
		f.texts--
	case f.contract.reading().keys.startsObject(text):
		f.found = append(f.found, object{outer: f.at.String(), err: err})
	}
}

// formWords are words in the keys of objects that show what a reply looks like, or are a reply that is not meant.
var formWords = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for w := range strings.FieldsSeq(`alternative alternatives counterexample default defaults draft drafts example examples expected
		format hypothetical incorrect instruction instructions invalid outline placeholder previous prompt question reasoning rejected
		request sample samples schema scratchpad skeleton template thinking thought thoughts wrong`) {
		known[w] = true
	}
	return known
})

// showsForm reports whether an object below a key is no reply, such as that of "example", "response_format" or "jsonSchema".
func showsForm(key string) bool {
	return slices.ContainsFunc(wordsOf(key), func(w string) bool { return formWords()[w] })
}

// wordsOf returns the words of a key in lower case. A capital letter after a small one begins a word.
func wordsOf(key string) (list []string) {
	var word []rune
	before := ' '
	for _, r := range key + " " {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && unicode.IsLower(before) {
			list = append(list, strings.ToLower(string(word)))
			word = nil
		}
		if unicode.IsLetter(r) {
			word = append(word, r)
		}
		before = r
	}
	return list
}
