package openai_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/livetest"
	"github.com/elenchus-go/debate/providers/openai"
)

// TestLive tests against the service. It is skipped unless DEBATE_LIVE_BASE_URL and DEBATE_LIVE_MODEL are set. Set
// DEBATE_LIVE_KEY too if the server requires a key, and DEBATE_LIVE_API to choose an API as Config.API does.
func TestLive(t *testing.T) {
	base, model := livetest.Env(t, "DEBATE_LIVE_BASE_URL", "DEBATE_LIVE_MODEL")
	livetest.Run(t, func(t *testing.T, client *http.Client) livetest.Provider {
		p, err := openai.New(openai.Config{Key: os.Getenv("DEBATE_LIVE_KEY"), Model: model, BaseURL: base, API: os.Getenv("DEBATE_LIVE_API"), HTTPClient: client})
		require.NoError(t, err)
		return p
	})
}
