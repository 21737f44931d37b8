package refine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/elenchus-go/debate/transcript"
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

// known are the names of all roles, sorted.
func (p Protocol) known() []string {
	names := slices.Concat(builtIn, slices.Collect(maps.Keys(p.Roles)))
	slices.Sort(names)
	return slices.Compact(names)
}

// vars are what an agent's prompt of a phase reads of its role. All but "focus" are the same in all phases.
func (p Protocol) vars(s transcript.Seat, phase string) map[string]string {
	name := cmp.Or(s.Role, generalist)
	own := p.Roles[name]
	focus := map[string]string{propose: own.Propose, critique: own.Critique, refine: own.Refine}[phase]
	return map[string]string{"role": name, "words": own.System, "focus": focus}
}

// source is where the words of a role came from.
func (p Protocol) source(name string) string {
	if own, ok := p.Roles[name]; ok {
		return cmp.Or(own.Source, "configuration")
	}
	return "built-in"
}
