package providertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

// testSettings calls a provider with all settings that it supports. Each setting that it does not support must be one
// of the request, with a reason.
func testSettings(t *testing.T, h ProviderFunc) {
	seed := int64(7)
	r := sampleRequest()
	r.TopP = 0.95
	r.Seed = &seed
	r.Stop = []string{"END"}
	r.Reasoning = "low"
	r.MaxTokens = 4096
	p := h(t, sampleReply)
	if l, ok := p.(providers.Limited); ok {
		require.Empty(t, l.Unsupported(providers.Request{}), "nothing is set")
		settings := r
		settings.Messages = nil
		for name, reason := range l.Unsupported(settings) {
			require.NotEmpty(t, reason)
			require.True(t, clearSetting(&r, name), "%q is not the JSON name of a setting", name)
		}
		settings = r
		settings.Messages = nil
		require.Empty(t, l.Unsupported(settings), "what was refused is no longer set")
	}
	res, err := p.Generate(t.Context(), r)
	require.NoError(t, err)
	requireReply(t, sampleReply, res)
}

// clearSetting removes a setting, and reports whether r had it.
func clearSetting(r *providers.Request, name string) (had bool) {
	switch name {
	case "temperature":
		had, r.Temperature = r.Temperature != nil, nil
	case "top_p":
		had, r.TopP = r.TopP > 0, 0
	case "seed":
		had, r.Seed = r.Seed != nil, nil
	case "stop":
		had, r.Stop = r.Stop != nil, nil
	case "reasoning":
		had, r.Reasoning = r.Reasoning != "", ""
	}
	return had
}
