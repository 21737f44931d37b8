package openai

import (
	"regexp"
	"strings"

	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Patterns of the IDs of tool calls.
// Sources: https://platform.openai.com/docs/api-reference/chat/create (at most 40 characters), the reference of the Responses
// API (at most 64), and, for Mistral's error "must be a-z, A-Z, 0-9, with a length of 9",
// https://github.com/langchain-ai/langchain/pull/24668
var (
	chatIDs      = regexp.MustCompile(`^[!-~]{1,40}$`)
	responsesIDs = regexp.MustCompile(`^[!-~]{1,64}$`)
	strictIDs    = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
)

// callIDs returns the pattern of IDs in chat completions.
func callIDs(strict bool) *regexp.Regexp {
	if strict {
		return strictIDs
	}
	return chatIDs
}

// callReasoning returns the reasoning that a message with tool calls needs. DeepSeek refuses such a message without the
// reasoning_content that it had, also in later requests. If the server refuses calls of other models, which have none, it
// gets a space.
// Source: https://api-docs.deepseek.com/guides/thinking_mode
func callReasoning(t prompt.Turn, service string, s wire.Support) string {
	var text strings.Builder
	for _, part := range t.Parts {
		if part.Reasoning != nil && part.Reasoning.Service == service && !s.NoReasoning {
			text.WriteString(part.Reasoning.Text)
		}
	}
	if text.Len() == 0 && s.NeedsReasoning {
		return " "
	}
	return text.String()
}
