package reply

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Limits on what is read of a reply.
const (
	maxBytes   = 64 << 10 // without reasoning
	maxObjects = 16       // objects that are tried, starting from the last
	maxUnwraps = 3        // nested wrappers that are removed
)

// unwrapReply removes the reasoning from a reply, and then a code fence, a list of one item or a JSON string around
// the whole rest.
func unwrapReply(text string) (string, error) {
	text = strings.Trim(text, "\ufeff"+whitespace)
	if len(text) > maxBytes || !isObject(text) {
		text = strings.Trim(stripReasoning(text), "\ufeff"+whitespace)
	}
	if len(text) > maxBytes {
		return "", newInvalid(fmt.Sprintf("the reply has %d bytes, %d are allowed: be brief", len(text), maxBytes))
	}
	for range maxUnwraps {
		inner, err := unwrapValue(stripCodeFence(text))
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
// text is neither.
func unwrapValue(text string) (string, error) {
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
		if len(list) > 1 && strings.HasPrefix(inner, "{") {
			return "", newInvalid(fmt.Sprintf("the reply is a list of %d: answer with one JSON object and nothing else", len(list)))
		}
	}
	return inner, nil
}

// findObjects returns the JSON objects in a text, at most the last maxObjects of them. An object that is not closed
// invalidates all objects: it means that the reply was truncated, and that objects before or inside the truncated one
// are not the model's final answer.
//
// The time is linear in the length of the text. What objectLength reads is either skipped or ends the search. What
// startsQuotedKey reads ends with a quote, and it never reads past the quote that must follow the next brace.
// startsAnyKey reads a brace only inside a key, and keys are short.
func findObjects(text string, begins func(string) bool) (objects []string, err error) {
	for i := strings.IndexByte(text, '{'); i >= 0; i = strings.IndexByte(text, '{') {
		if text = text[i:]; !begins(text) {
			text = text[1:]
			continue
		}
		n, err := objectLength(text)
		if err != nil {
			return nil, err
		}
		objects, text = append(objects, text[:n]), text[n:]
	}
	return objects[max(0, len(objects)-maxObjects):], nil
}
