package prompt

import (
	"slices"
	"strings"

	"github.com/elenchus-go/debate/providers"
)

// BlankLine separates texts that a service receives as one.
const BlankLine = "\n\n"

// openingText is a user message that precedes a leading assistant message, because some services refuse a dialog that
// begins with the assistant.
const openingText = "(The debate begins.)"

// Prompt is a prompt in a form that all services accept: the dialog begins with the user, and the roles alternate.
type Prompt struct {
	System string
	Dialog []Turn
}

// Turn holds consecutive parts of one role.
type Turn struct {
	Role  providers.Role
	Parts []providers.Part
}

// Text returns the texts of the turn as one.
func (t Turn) Text() string {
	var texts []string
	for _, p := range t.Parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, BlankLine)
}

// add adds a part to the dialog. It ensures that the dialog begins with the user.
func (p *Prompt) add(role providers.Role, part providers.Part) {
	if len(p.Dialog) == 0 && role == providers.Assistant {
		p.Dialog = append(p.Dialog, Turn{Role: providers.User, Parts: []providers.Part{{Text: openingText}}})
	}
	if n := len(p.Dialog); n == 0 || p.Dialog[n-1].Role != role {
		p.Dialog = append(p.Dialog, Turn{Role: role})
	}
	last := &p.Dialog[len(p.Dialog)-1]
	last.Parts = append(last.Parts, part)
}

// JoinSystem moves the system prompt to the beginning of the first message of the user, for models that know no system prompt.
// The beginning of the prompt stays the same from call to call, so that services find it in their caches.
func (p *Prompt) JoinSystem() {
	if p.System == "" {
		return
	}
	first := &p.Dialog[0] // it is the user's
	first.Parts = slices.Concat([]providers.Part{{Text: p.System}}, first.Parts)
	p.System = ""
}
