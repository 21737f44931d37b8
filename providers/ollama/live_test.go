package ollama_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/livetest"
	"github.com/elenchus-go/debate/providers/ollama"
)

// TestLive tests against the service. It is skipped unless DEBATE_LIVE_OLLAMA_HOST, such as http://127.0.0.1:11434, and
// DEBATE_LIVE_OLLAMA_MODEL are set.
func TestLive(t *testing.T) {
	host, model := livetest.Env(t, "DEBATE_LIVE_OLLAMA_HOST", "DEBATE_LIVE_OLLAMA_MODEL")
	livetest.Run(t, func(t *testing.T, client *http.Client) livetest.Provider {
		p, err := ollama.New(ollama.Config{Model: model, BaseURL: host, NumCtx: 16384, HTTPClient: client})
		require.NoError(t, err)
		return p
	})
}
