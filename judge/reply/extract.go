package reply

import (
	"encoding/json"
	"fmt"
	"strings"
)

// What is read of a reply at most.
const (
	maxBytes   = 64 << 10 // reasoning not counted
	maxObjects = 16       // that are tried, from the last
	maxUnwraps = 3        // that are taken off, one in the other
)

// unwrapReply is what a reply comes down to: without reasoning, and without a list of one or a text that all of it stands in.
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

// stripReasoning is a reply without what its model said while it reasoned: all that stands before the end of the last block
// of reasoning, be its beginning there or not, and all of a block that was not ended.
func stripReasoning(text string) string {
	for _, tag := range []string{"think>", "thinking>"} {
		if i := strings.LastIndex(text, "</"+tag); i >= 0 {
			text = text[i+len("</"+tag):]
		}
		text, _, _ = strings.Cut(text, "<"+tag)
	}
	return text
}

// stripCodeFence is what stands in a fence, where all of the text does.
func stripCodeFence(text string) string {
	inner, fenced := strings.CutPrefix(text, "```")
	if !fenced {
		return text
	}
	_, inner, _ = strings.Cut(inner, "\n") // the rest of the first line names the language
	return strings.Trim(strings.TrimSuffix(inner, "```"), whitespace)
}

// unwrapValue is the only item of a list, or what a text that was encoded twice says; empty where the text is neither.
func unwrapValue(text string) (string, error) {
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

// findObjects collects the objects that stand in a text, the last of them at most. One that is not closed voids all of them:
// then the reply was cut, and what stands before the cut, or inside the cut object, is not what the model came to say.
//
// It is linear in the length of the text. What balanced reads is passed over or ends the findObjects. What keyed reads ends
// with a quote, and from no brace does it read past the quote that must follow the next one; likely reads no brace but
// in a key, which is short.
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
