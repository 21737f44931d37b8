package toolcall

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// Readable returns the arguments of a call for people: indented if they are JSON, and in any case without the escapes of <, > and &.
func Readable(arguments []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, bytes.TrimSpace(arguments), "", "  ") != nil {
		b.Reset()
		b.Write(arguments)
	}
	return escaped.ReplaceAllStringFunc(b.String(), unescape)
}

// escaped matches the escapes in JSON.
var escaped = regexp.MustCompile(`\\(u[0-9a-fA-F]{4}|.)`)

// unescape returns the character for an escape with which encoding/json protects HTML, because people read the text. It returns
// any other escape as it is.
func unescape(escape string) string {
	if char, ok := map[string]string{`\u003c`: "<", `\u003e`: ">", `\u0026`: "&"}[strings.ToLower(escape)]; ok {
		return char
	}
	return escape
}
