package main

import "bytes"

// withoutComments returns JSON in place of JSON with comments: it replaces comments, and commas after a last element, by
// spaces. Positions in the text remain the same.
func withoutComments(text []byte) []byte {
	out := bytes.Clone(text)
	comma := -1 // position of the last comma; -1 if something else follows it
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			i, comma = endOfString(out, i), -1
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			i = blankComment(out, i)
		case c == ',':
			comma = i
		case (c == ']' || c == '}') && comma >= 0:
			out[comma], comma = ' ', -1
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			comma = -1
		}
	}
	return out
}

// endOfString returns the position of the last byte of the string that begins at a position.
func endOfString(text []byte, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

// blankComment replaces the comment that begins at a position by spaces, and returns the position of its last byte.
func blankComment(text []byte, at int) int {
	end := len(text)
	if text[at+1] == '*' {
		if n := bytes.Index(text[at+2:], []byte("*/")); n >= 0 {
			end = at + 2 + n + 2
		}
	} else if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		end = at + n
	}
	for i := at; i < end; i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
	return end - 1
}
