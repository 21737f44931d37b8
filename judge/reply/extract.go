package reply

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits on what is read of a reply.
const (
	maxBytes   = 64 << 10 // without reasoning
	maxObjects = 16       // objects in a text
	maxUnwraps = 3        // nested wrappers that are removed
)

// unwrapReply removes the reasoning from a reply, and then a code fence, a list of one item or a JSON string around
// the whole rest. known are the properties of a reply.
func unwrapReply(text string, known knownFields) (string, error) {
	text = strings.Trim(text, "\ufeff"+whitespace)
	if len(text) > maxBytes || !isObject(text) {
		text = strings.Trim(stripReasoning(text), "\ufeff"+whitespace)
	}
	if !utf8.ValidString(text) {
		return "", newInvalid("the reply is not valid UTF-8: write it again, with valid characters only")
	}
	if len(text) > maxBytes {
		return "", newInvalid(fmt.Sprintf("the reply has %d bytes, %d are allowed: be brief", len(text), maxBytes))
	}
	for range maxUnwraps {
		inner, err := unwrapValue(stripCodeFence(text), known)
		if err != nil || inner == "" {
			return text, err
		}
		text = strings.Trim(inner, whitespace)
	}
	return text, nil
}

// stripReasoning removes what a model wrote while it reasoned: everything before the end of the last reasoning block,
// even if its beginning is missing, and the whole of a block that has no end.
func stripReasoning(text string) string {
	for _, tag := range []string{"think>", "thinking>"} {
		if i := strings.LastIndex(text, "</"+tag); i >= 0 {
			text = text[i+len("</"+tag):]
		}
		text, _, _ = strings.Cut(text, "<"+tag)
	}
	return text
}

// stripCodeFence returns the content of a code fence that encloses the whole text, or the text if there is none.
func stripCodeFence(text string) string {
	inner, fenced := strings.CutPrefix(text, "```")
	if !fenced {
		return text
	}
	_, inner, _ = strings.Cut(inner, "\n") // the first line names the language
	return strings.Trim(strings.TrimSuffix(inner, "```"), whitespace)
}

// unwrapValue returns the only item of a list, or the content of a text that was encoded twice. It returns "" if the
// text is neither, and an error if it is a list of several replies.
func unwrapValue(text string, known knownFields) (string, error) {
	if !strings.HasPrefix(text, `"`) && !strings.HasPrefix(text, "[") {
		return "", nil
	}
	var list []json.RawMessage
	var inner string
	switch {
	case strings.HasPrefix(text, `"`):
		if json.Unmarshal([]byte(text), &inner) != nil {
			return "", nil
		}
	case strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &list) == nil && len(list) > 0:
		inner = string(list[0])
		if len(list) == 1 || !strings.HasPrefix(inner, "{") {
			break
		}
		if slices.ContainsFunc(list, known.isReply) {
			return "", newInvalid(fmt.Sprintf("the reply is a list of %d: answer with one JSON object and nothing else", len(list)))
		}
		return "", nil // one of the items may have the reply inside
	}
	return inner, nil
}

// isReply reports whether a JSON text is an object with a known property.
func (s knownFields) isReply(text json.RawMessage) bool {
	var value any
	if json.Unmarshal(text, &value) != nil {
		return false
	}
	object, ok := value.(map[string]any)
	return ok && s.hasKnown(object)
}

// object is a JSON object in a text, or what looks like one.
type object struct {
	text       string // the object as it is written; empty if it is not closed, or is inside another one
	value      map[string]any
	outer      string  // the location of value in the object of the text; empty if it is that object
	content    content // of value
	misspelled bool    // whether the object has a misspelled property
	err        error   // why the object has no value, or the value is not valid
}

func tooManyObjects() error {
	return newInvalid(fmt.Sprintf("the reply holds more than %d JSON objects: answer with one JSON object and nothing else", maxObjects))
}

// findObjects returns the JSON objects in a text and what looks like one. If an object is not closed, it is the last and
// has no text: it means that the reply was truncated, or that a quote is missing.
//
// The time is linear in the length of the text. What objectLength reads is either skipped or ends the search. What
// startsQuotedKey reads ends with a quote, and it never reads past the quote that must follow the next brace.
func findObjects(text string, known *keys) (objects []object, err error) {
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '{')
		if next < 0 {
			return objects, nil
		}
		at += next
		if !startsQuotedKey(text[at:]) && !known.startsObject(text[at:]) {
			at++
			continue
		}
		if len(objects) == maxObjects {
			return nil, tooManyObjects()
		}
		n, err := objectLength(text[at:])
		if err == nil && known.continuesObject(text[at+n:]) {
			err = newInvalid("the JSON object is closed before its end: write each bracket once")
		}
		if err != nil {
			return append(objects, object{err: err}), nil
		}
		o := object{text: text[at : at+n]}
		o.value, o.err = parseObject(o.text)
		objects = append(objects, o)
		at += n
	}
}
