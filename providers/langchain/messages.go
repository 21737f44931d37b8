package langchain

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/providers"
)

const (
	blankLine = "\n\n"
	// openingText is a user message that precedes a leading assistant message, because some services refuse a dialog that
	// begins with the assistant.
	openingText = "(The debate begins.)"
)

var errNoMessages = errors.New("build prompt: no user or assistant message has text")

// messageGroup holds consecutive texts of one role.
type messageGroup struct {
	role  providers.Role
	texts []string
}

// prompt is a prompt in a form that all models accept: the dialog begins with the user, and the roles alternate.
type prompt struct {
	system messageGroup
	dialog []messageGroup
}

// content returns the texts as one message with one text.
func (s messageGroup) content() llms.MessageContent {
	return llms.TextParts(roles[s.role], strings.Join(s.texts, blankLine))
}

// newPrompt returns the prompt for messages. It omits messages without text.
func newPrompt(messages []providers.Message) (prompt, error) {
	p := prompt{system: messageGroup{role: providers.System}}
	for i, m := range messages {
		switch {
		case roles[m.Role] == "":
			return prompt{}, fmt.Errorf("build prompt: message %d has the unknown role %q, want system, user or assistant", i+1, m.Role)
		case strings.TrimSpace(m.Text) == "":
		case m.Role == providers.System:
			p.system.texts = append(p.system.texts, m.Text)
		default:
			p.dialog = appendText(p.dialog, m.Role, m.Text)
		}
	}
	if len(p.dialog) == 0 {
		return prompt{}, errNoMessages
	}
	return p, nil
}

// roles maps the roles to those of langchaingo that every model supports.
var roles = map[providers.Role]llms.ChatMessageType{
	providers.System:    llms.ChatMessageTypeSystem,
	providers.User:      llms.ChatMessageTypeHuman,
	providers.Assistant: llms.ChatMessageTypeAI,
}

// appendText adds a text to a dialog. It ensures that the dialog begins with the user.
func appendText(dialog []messageGroup, role providers.Role, text string) []messageGroup {
	if len(dialog) == 0 && role == providers.Assistant {
		dialog = append(dialog, messageGroup{role: providers.User, texts: []string{openingText}})
	}
	if n := len(dialog); n == 0 || dialog[n-1].role != role {
		dialog = append(dialog, messageGroup{role: role})
	}
	last := &dialog[len(dialog)-1]
	last.texts = append(last.texts, text)
	return dialog
}

// contents returns the messages of the prompt.
func (p prompt) contents() []llms.MessageContent {
	out := make([]llms.MessageContent, 0, 1+len(p.dialog))
	if len(p.system.texts) > 0 {
		out = append(out, p.system.content())
	}
	for _, s := range p.dialog {
		out = append(out, s.content())
	}
	return out
}
