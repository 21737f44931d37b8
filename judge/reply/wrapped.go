package reply

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/elenchus-go/debate/internal/deepcopy"
)

// open returns the objects that may be the reply, and examines them. An object with a known property stands for itself. One
// without stands for those inside it, because models put a reply into further objects, or call a tool with it. If some object
// stands for itself, those inside others count only if they follow the schema: then they may contradict it.
func (c *Contract) open(objects []object) (replies []object, err error) {
	var inside []object
	for _, o := range objects {
		switch known := c.schemas().known.hasKnown(o.value); {
		case !known:
			inside = append(inside, c.inside(o.value)...)
		case len(o.value) == 1:
			replies = append(replies, c.openOnly(o)...)
		default:
			c.examine(&o)
			replies = append(replies, o)
		}
	}
	if len(replies)+len(inside) > maxObjects {
		return nil, tooManyObjects()
	}
	direct := len(replies) > 0
	for _, o := range inside {
		c.examine(&o)
		if o.err == nil || !direct {
			replies = append(replies, o)
		}
	}
	if len(replies) > 0 {
		return replies, nil
	}
	for i := range objects {
		c.examine(&objects[i])
	}
	return objects, nil
}

// openOnly opens an object with one property, which is known. It is the reply if it follows the schema. Otherwise it may be a
// further object around it, whose key is that of a field by chance, such as {"answer": {"reasoning": …, "answer": …}}.
func (c *Contract) openOnly(outer object) []object {
	inside := c.insideFields(deepcopy.Of(outer.value))
	c.examine(&outer)
	if outer.err == nil {
		return []object{outer}
	}
	valid := false
	for i := range inside {
		c.examine(&inside[i])
		valid = valid || inside[i].err == nil
	}
	if !valid {
		return []object{outer}
	}
	return inside
}

// unwrapRepaired returns the object inside objects that have one property each, which is not known, and its location. What was
// repaired may be misread, so nothing else around a reply is accepted.
func (c *Contract) unwrapRepaired(value map[string]any) (inner map[string]any, outer string) {
	for len(value) == 1 && !c.schemas().known.hasKnown(value) {
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

// inside returns the objects with a known property that a value is or has inside, at any depth, also in texts that are JSON. Of
// these objects, only the texts are searched further: what a block of text such as {"type": "text", "text": "{…}"} means is
// doubtful if the reply has a field of that name. It returns at most one object more than a reply may have.
func (c *Contract) inside(value any) []object {
	f := finder{contract: c}
	f.search(value)
	return f.found
}

// insideFields returns the objects inside the objects and lists that an object has.
func (c *Contract) insideFields(value map[string]any) []object {
	f := finder{contract: c}
	for _, key := range slices.Sorted(maps.Keys(value)) {
		if _, text := value[key].(string); !text {
			f.searchAt(segment{name: key}, value[key])
		}
	}
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

// searchObject searches an object. One whose only property is an object or a list may be around a reply, even if the property is
// known.
func (f *finder) searchObject(value map[string]any) {
	own, before := f.contract.schemas().known.hasKnown(value), len(f.found)
	around := !own
	for _, key := range slices.Sorted(maps.Keys(value)) {
		_, text := value[key].(string)
		around = around || len(value) == 1 && !text
		if text || around {
			f.searchAt(segment{name: key}, value[key])
		}
	}
	if own && (!around || len(f.found) == before) {
		f.found = append(f.found, object{value: value, outer: f.at.String()})
	}
}

// searchText searches a text that is JSON as a whole.
func (f *finder) searchText(text string) {
	if f.texts == maxUnwraps || !strings.Contains(text, "{") {
		return
	}
	text, err := unwrapReply(text, f.contract.schemas().known)
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
	case f.contract.schemas().keys.startsObject(text):
		f.found = append(f.found, object{outer: f.at.String(), err: err})
	}
}

// formWords are words in the keys of objects that show what a reply looks like, or are a reply that is not meant.
var formWords = func() map[string]bool {
	known := map[string]bool{}
	for w := range strings.FieldsSeq(`alternative alternatives counterexample default defaults draft drafts example examples expected
		format hypothetical incorrect instruction instructions invalid outline placeholder previous prompt question reasoning rejected
		request sample samples schema scratchpad skeleton template thinking thought thoughts wrong`) {
		known[w] = true
	}
	return known
}()

// showsForm reports whether an object below a key is no reply, such as that of "example", "response_format" or "jsonSchema".
func showsForm(key string) bool {
	return slices.ContainsFunc(wordsOf(key), func(w string) bool { return formWords[w] })
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
