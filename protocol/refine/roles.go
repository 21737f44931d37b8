package refine

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// defaultRole is the role of those who have none.
const defaultRole = "generalist"

// builtInRoles are the roles whose words stand in the templates.
var builtInRoles = []string{"architect", defaultRole, "performance", "security", "testing"}

// RolePrompt is the words of a role of one's own, or of a built-in one in which some are replaced. An empty field leaves the
// built-in words in place, or general ones where the role is no built-in one.
type RolePrompt struct {
	System   string `json:"system,omitempty"`   // who it is and what it cares for, in the system prompt
	Propose  string `json:"propose,omitempty"`  // what it looks at when it proposes
	Critique string `json:"critique,omitempty"` // when it criticizes
	Refine   string `json:"refine,omitempty"`   // when it refines
	Source   string `json:"source,omitempty"`   // where the words came from, such as a file's path; for the reader
}

// ParseRolePrompt is the role whose system words are a text, such as a file's. The error says why the text is none: it is
// blank or not UTF-8.
func ParseRolePrompt(text, source string) (RolePrompt, error) {
	if !utf8.ValidString(text) {
		return RolePrompt{}, fmt.Errorf("parse role of %q: it is not UTF-8 text", source)
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if text == "" {
		return RolePrompt{}, fmt.Errorf("parse role of %q: it is blank", source)
	}
	return RolePrompt{System: text, Source: source}, nil
}
