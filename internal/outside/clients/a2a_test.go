package clients

import (
	"net/http"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatea2a"
	"github.com/elenchus-go/debate/integrations/debatetool"
)

func TestA2A(t *testing.T) {
	s := newSite(t, func(e *debate.Engine, presets map[string]debate.Config) http.Handler {
		tools := debatetool.Options{Presets: map[string]debatetool.Preset{}}
		for name, c := range presets {
			tools.Presets[name] = debatetool.Preset{Description: name, Config: c}
		}
		sender := push.NewHTTPPushSender(&push.HTTPSenderConfig{AllowPrivateNetworks: true, FailOnError: true}) // the script is on this machine
		agent, err := debatea2a.New(e, debatea2a.Options{Tools: tools, Push: sender})
		require.NoError(t, err)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // the card has the address, which is not known before
			agent.Handler(agent.Card("http://"+r.Host)).ServeHTTP(w, r)
		})
	})
	runScript(t, "a2a.mjs", "A2A_URL="+s.URL)
}
