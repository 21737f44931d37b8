package anthropic_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/livetest"
	"github.com/elenchus-go/debate/providers/anthropic"
)

// TestLive tests against the service. It is skipped unless DEBATE_LIVE_ANTHROPIC_KEY and
// DEBATE_LIVE_ANTHROPIC_MODEL are set.
func TestLive(t *testing.T) {
	key, model := livetest.Env(t, "DEBATE_LIVE_ANTHROPIC_KEY", "DEBATE_LIVE_ANTHROPIC_MODEL")
	livetest.Run(t, func(t *testing.T, client *http.Client) livetest.Provider {
		p, err := anthropic.New(anthropic.Config{Key: key, Model: model, HTTPClient: client})
		require.NoError(t, err)
		return p
	})
}
