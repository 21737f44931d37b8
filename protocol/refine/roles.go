package refine

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// generalist is the role of those who have none.
const generalist = "generalist"

// builtIn are the roles whose words stand in the templates.
var builtIn = []string{"architect", generalist, "performance", "security", "testing"}

// Role is the words of a role of one's own, or of a built-in one in which some are replaced. An empty field leaves the
// built-in words in place, or general ones where the role is no built-in one.
type Role struct {
	System   string `json:"system,omitempty"`   // who it is and what it cares for, in the system prompt
	Propose  string `json:"propose,omitempty"`  // what it looks at when it proposes
	Critique string `json:"critique,omitempty"` // when it criticizes
	Refine   string `json:"refine,omitempty"`   // when it refines
	Source   string `json:"source,omitempty"`   // where the words came from, such as a file's path; for the reader
}

// ParseRole is the role whose system words are a text, such as a file's. The error says why the text is none: it is
// blank or not UTF-8.
func ParseRole(text, source string) (Role, error) {
	if !utf8.ValidString(text) {
		return Role{}, fmt.Errorf("parse role of %q: it is not UTF-8 text", source)
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if text == "" {
		return Role{}, fmt.Errorf("parse role of %q: it is blank", source)
	}
	return Role{System: text, Source: source}, nil
}
