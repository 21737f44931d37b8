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
	// opening stands where a prompt would begin with the assistant, which not all services take.
	opening = "(The debate begins.)"
)

var errNoMessages = errors.New("build prompt: no user or assistant message has text")

// speech is what one role says in a row.
type speech struct {
	role  llms.ChatMessageType
	texts []string
}

// content is the speech as one message of one text.
func (s speech) content() llms.MessageContent {
	return llms.TextParts(s.role, strings.Join(s.texts, blankLine))
}

// canonical puts a prompt into the one form that all models take alike. Messages without text are left out.
func canonical(messages []providers.Message) ([]llms.MessageContent, error) {
	system := speech{role: llms.ChatMessageTypeSystem}
	var dialog []speech
	for i, m := range messages {
		role, known := roles[m.Role]
		switch {
		case !known:
			return nil, fmt.Errorf("build prompt: message %d has the unknown role %q", i+1, m.Role)
		case strings.TrimSpace(m.Text) == "":
		case role == system.role:
			system.texts = append(system.texts, m.Text)
		default:
			dialog = extend(dialog, role, m.Text)
		}
	}
	if len(dialog) == 0 {
		return nil, errNoMessages
	}
	return assemble(system, dialog), nil
}

// roles are the three that every model knows.
var roles = map[providers.Role]llms.ChatMessageType{
	providers.System:    llms.ChatMessageTypeSystem,
	providers.User:      llms.ChatMessageTypeHuman,
	providers.Assistant: llms.ChatMessageTypeAI,
}

// extend adds a text to a dialog, in which the user is the first to speak.
func extend(dialog []speech, role llms.ChatMessageType, text string) []speech {
	if len(dialog) == 0 && role == llms.ChatMessageTypeAI {
		dialog = append(dialog, speech{role: llms.ChatMessageTypeHuman, texts: []string{opening}})
	}
	if n := len(dialog); n == 0 || dialog[n-1].role != role {
		dialog = append(dialog, speech{role: role})
	}
	last := &dialog[len(dialog)-1]
	last.texts = append(last.texts, text)
	return dialog
}

// assemble makes messages of the system's texts and the dialog.
func assemble(system speech, dialog []speech) []llms.MessageContent {
	out := make([]llms.MessageContent, 0, 1+len(dialog))
	if len(system.texts) > 0 {
		out = append(out, system.content())
	}
	for _, s := range dialog {
		out = append(out, s.content())
	}
	return out
}
