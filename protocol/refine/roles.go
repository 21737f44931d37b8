package refine

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// defaultRole is the role of participants without a role.
const defaultRole = "generalist"

// builtInRoles are the roles that the templates define.
var builtInRoles = []string{"architect", defaultRole, "performance", "security", "testing"}

// RolePrompt is the prompt of your own role, or replaces parts of a built-in role's prompt. An empty field keeps the text
// of the built-in role. If the role is not built in, an empty Propose, Critique or Refine selects a general text.
type RolePrompt struct {
	System   string `json:"system,omitempty"`   // the role and its focus; part of the system prompt
	Propose  string `json:"propose,omitempty"`  // focus of a proposal
	Critique string `json:"critique,omitempty"` // focus of a critique
	Refine   string `json:"refine,omitempty"`   // focus of a refinement
	Source   string `json:"source,omitempty"`   // origin of the prompt for readers, such as the path of a file
}

// ParseRolePrompt returns a role whose system prompt is the given text, such as the content of a file. It returns an error
// if the text is blank or not UTF-8.
func ParseRolePrompt(text, source string) (RolePrompt, error) {
	if !utf8.ValidString(text) {
		return RolePrompt{}, fmt.Errorf("parse role of %q: the text is not UTF-8", source)
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if text == "" {
		return RolePrompt{}, fmt.Errorf("parse role of %q: the text is blank", source)
	}
	return RolePrompt{System: text, Source: source}, nil
}
