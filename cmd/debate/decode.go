package main

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The byte order marks with which texts may begin.
var (
	markUTF8 = []byte{0xef, 0xbb, 0xbf}
	markLE   = []byte{0xff, 0xfe}
	markBE   = []byte{0xfe, 0xff}
)

// decodeText returns the text of a file in UTF-8, or in UTF-16 with a byte order mark. It reports false for anything else.
func decodeText(b []byte) (text []byte, ok bool) {
	switch {
	case bytes.HasPrefix(b, markLE):
		return decodeUTF16(b[2:], 0)
	case bytes.HasPrefix(b, markBE):
		return decodeUTF16(b[2:], 1)
	}
	b = bytes.TrimPrefix(b, markUTF8)
	if bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b) {
		return nil, false
	}
	return b, true
}

// decodeUTF16 returns a text whose units have their lower byte at this place.
func decodeUTF16(b []byte, low int) (text []byte, ok bool) {
	if len(b)%2 != 0 {
		return nil, false
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = uint16(b[2*i+low]) | uint16(b[2*i+1-low])<<8
	}
	decoded := string(utf16.Decode(units))
	if strings.ContainsAny(decoded, "\x00"+string(utf8.RuneError)) {
		return nil, false
	}
	return []byte(decoded), true
}
