package reply

import (
	"fmt"
	"strings"
)

// What is read of a reply at most.
const (
	maxBytes   = 64 << 10 // reasoning not counted
	maxDepth   = 100
	maxObjects = 16 // that are tried, from the last
)

const space = " \t\r\n"

// extract returns the JSON objects that a reply holds, in order; a reply that is one object as a whole holds no other.
func extract(text string) ([]string, error) {
	text = strings.Trim(text, "\ufeff"+space)
	if len(text) <= maxBytes && whole(text) {
		return []string{text}, nil
	}
	text = answer(text)
	if len(text) > maxBytes {
		return nil, invalid(fmt.Sprintf("the reply has %d bytes, %d are allowed: be brief", len(text), maxBytes))
	}
	return scan(text)
}

// answer is a reply without what its model said while it reasoned: all that stands before the end of the last block
// of reasoning, be its beginning there or not, and all of a block that was not ended.
func answer(text string) string {
	for _, tag := range []string{"think>", "thinking>"} {
		if i := strings.LastIndex(text, "</"+tag); i >= 0 {
			text = text[i+len("</"+tag):]
		}
		text, _, _ = strings.Cut(text, "<"+tag)
	}
	return text
}

// scan collects the objects that stand in a text. One that is not closed voids all of them: then the reply was cut, and
// what stands before the cut, or inside the cut object, is not what the model came to say.
//
// It is linear in the length of the text. What balanced reads is passed over or ends the scan. What keyed reads ends
// with a quote, and from no brace does it read past the quote that must follow the next one.
func scan(text string) (objects []string, err error) {
	for i := strings.IndexByte(text, '{'); i >= 0; i = strings.IndexByte(text, '{') {
		if text = text[i:]; !keyed(text) {
			text = text[1:]
			continue
		}
		n, err := balanced(text)
		if err != nil {
			return nil, err
		}
		objects, text = append(objects, text[:n]), text[n:]
	}
	if len(objects) == 0 {
		return nil, invalid("the reply holds no JSON object: answer with one JSON object and nothing else")
	}
	return objects[max(0, len(objects)-maxObjects):], nil
}

// whole tells whether a text is one object and nothing else.
func whole(text string) bool {
	if !strings.HasPrefix(text, "{") {
		return false
	}
	n, err := balanced(text)
	return err == nil && n == len(text)
}

// keyed tells whether the brace that text begins with opens an object with a first key. Braces in prose, in code and in
// formulas do not.
func keyed(text string) bool {
	text = strings.TrimLeft(text[1:], space)
	if !strings.HasPrefix(text, `"`) {
		return false
	}
	return strings.HasPrefix(strings.TrimLeft(text[quoted(text):], space), ":")
}

// balanced is the length of the object that text begins with. Brackets inside its strings do not count.
func balanced(text string) (int, error) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += quoted(text[i:]) - 1
		case '{', '[':
			if depth++; depth > maxDepth {
				return 0, invalid(fmt.Sprintf("the JSON object is nested deeper than %d levels", maxDepth))
			}
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
	}
	return 0, invalid("the JSON object is not closed: close every text, list and object, and be brief")
}

// quoted is the length of the string that text begins with, quotes included; all of text where no quote closes it.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
