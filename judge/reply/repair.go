package reply

import (
	"encoding/json"
	"strings"
)

// repair writes an object as JSON if it is in Python's notation, with single quotes, True, False and None, or has a comma
// behind the last value of an object or a list. It changes nothing else, so it reports false if the object has another fault.
func repair(object string) (fixed string, ok bool) {
	var b strings.Builder
	last := "" // the token before, without space
	for rest := object; rest != ""; {
		token := rest[:tokenLength(rest)]
		rest = rest[len(token):]
		switch token[0] {
		case ' ', '\t', '\r', '\n':
			b.WriteString(token)
			continue
		case '"', '\'':
			writeString(&b, token)
		case ',':
			if last == "{" || last == "[" || !closesNext(rest) {
				b.WriteString(token)
			}
		default:
			b.WriteString(literal(token))
		}
		last = token
	}
	return b.String(), json.Valid([]byte(b.String()))
}

// tokenLength returns the length of the string, the word or the character at the beginning of text.
func tokenLength(text string) int {
	if text[0] == '"' || text[0] == '\'' {
		return stringLength(text)
	}
	return max(identifierLength(text), 1)
}

// closesNext reports whether the next character that is not space closes an object or a list.
func closesNext(text string) bool {
	text = strings.TrimLeft(text, whitespace)
	return strings.HasPrefix(text, "}") || strings.HasPrefix(text, "]")
}

// literal returns the literal of JSON for one of Python, and any other token as it is.
func literal(token string) string {
	switch token {
	case "True":
		return "true"
	case "False":
		return "false"
	case "None":
		return "null"
	}
	return token
}

// writeString writes a string in double or single quotes as JSON does, where double quotes are escaped and single ones are
// not. Other escapes stay as they are, and those that JSON does not have are a fault.
func writeString(b *strings.Builder, quoted string) {
	inner := strings.TrimSuffix(quoted[1:], quoted[:1])
	b.WriteByte('"')
	for i := 0; i < len(inner); i++ {
		switch {
		case strings.HasPrefix(inner[i:], `\'`):
			i++
			b.WriteByte('\'')
		case inner[i] == '\\' && i+1 < len(inner):
			b.WriteString(inner[i : i+2])
			i++
		case inner[i] == '"':
			b.WriteString(`\"`)
		default:
			b.WriteByte(inner[i])
		}
	}
	b.WriteByte('"')
}
