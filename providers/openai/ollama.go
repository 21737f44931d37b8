package openai

import "github.com/elenchus-go/debate/providers/internal/wire"

// ollamaMark reports whether a fingerprint is the one in all replies of Ollama's /v1 endpoint. It is read without an
// allocation, because each event has a fingerprint.
// Source: https://github.com/ollama/ollama/blob/main/openai/openai.go
type ollamaMark bool

// UnmarshalJSON reads a fingerprint.
func (m *ollamaMark) UnmarshalJSON(raw []byte) error {
	*m = string(raw) == `"fp_ollama"`
	return nil
}

const ollamaWarning = "the server is Ollama, whose /v1 endpoint cuts prompts that are longer than its context window without an error: use providers/ollama, which notices that and sets the window"

// noticeOllama adds a warning to the first reply of a provider that comes from Ollama. Chat completions have the mark; the
// Responses API of Ollama has none.
func (p *Provider) noticeOllama(found ollamaMark, r *wire.Reply) {
	if found {
		p.ollama.Do(func() { r.Warn(ollamaWarning) })
	}
}
