package openai

import "github.com/elenchus-go/debate/providers/internal/wire"

// ollamaFingerprint is the fingerprint in all replies of Ollama's /v1 endpoint.
// Source: https://github.com/ollama/ollama/blob/main/openai/openai.go
const ollamaFingerprint = "fp_ollama"

const ollamaWarning = "the server is Ollama, whose /v1 endpoint cuts prompts that are longer than its context window without an error: use providers/ollama, which notices that and sets the window"

// noticeOllama adds a warning to the first reply of a provider that comes from Ollama.
func (p *Provider) noticeOllama(fingerprint string, r *wire.Reply) {
	if fingerprint == ollamaFingerprint {
		p.ollama.Do(func() { r.Warn(ollamaWarning) })
	}
}
