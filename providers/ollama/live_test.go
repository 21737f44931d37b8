package ollama_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/livetest"
	"github.com/elenchus-go/debate/providers/ollama"
)

// TestLive tests against a server. It is skipped unless DEBATE_LIVE_OLLAMA_HOST, such as http://127.0.0.1:11434, and
// DEBATE_LIVE_OLLAMA_MODEL are set.
func TestLive(t *testing.T) {
	host, model := os.Getenv("DEBATE_LIVE_OLLAMA_HOST"), os.Getenv("DEBATE_LIVE_OLLAMA_MODEL")
	if host == "" || model == "" {
		t.Skip("set DEBATE_LIVE_OLLAMA_HOST and DEBATE_LIVE_OLLAMA_MODEL to test against an Ollama server")
	}
	p, err := ollama.New(ollama.Config{Model: model, BaseURL: host, NumCtx: 16384})
	require.NoError(t, err)
	livetest.Run(t, p)
}
