package clienttest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/debatehttp"
)

// newHTTPSite starts package debatehttp.
func newHTTPSite(t *testing.T) *site {
	return newSite(t, func(e *debate.Engine, presets map[string]debate.Config) http.Handler {
		h, err := debatehttp.New(e, debatehttp.Options{Authorize: debatehttp.AllowEveryone, Presets: presets})
		require.NoError(t, err)
		return h
	})
}

func TestOpenAI(t *testing.T) {
	runScript(t, "openai.mjs", "DEBATE_URL="+newHTTPSite(t).URL)
}
