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
func (p *Provider) callIDs() *regexp.Regexp {
	if p.strictRounds {
		return strictIDs
	}
	return chatIDs
}

// separates reports whether the server is taken to be unable to combine tools with a schema. OpenAI's servers can. Groq and
// llama.cpp refuse it, and servers that enforce the schema from the first token suppress calls.
// Sources: https://console.groq.com/docs/structured-outputs and https://github.com/ollama/ollama/issues/8095
func (p *Provider) separates() bool { return !p.official && !p.azure }

// reasoning returns the reasoning that a message with tool calls needs. DeepSeek refuses such a message without the
// reasoning_content that it had, also in later requests. If the server refuses calls of other models, which have none, it
// gets a space.
// Source: https://api-docs.deepseek.com/guides/thinking_mode
func (p *Provider) reasoning(t prompt.Turn, s wire.Support) string {
	var text strings.Builder
	for _, part := range t.Parts {
		if part.Reasoning != nil && part.Reasoning.Service == p.service && !s.NoReasoning {
			text.WriteString(part.Reasoning.Text)
		}
	}
	if text.Len() == 0 && s.NeedsReasoning {
		return " "
	}
	return text.String()
}
