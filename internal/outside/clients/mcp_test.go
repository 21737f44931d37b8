package clients

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/integrations/debatetool"
)

func TestMCP(t *testing.T) {
	s := newSite(t, func(e *debate.Engine, presets map[string]debate.Config) http.Handler {
		o := debatemcp.Options{Heartbeat: time.Second, Tools: debatetool.Options{Presets: map[string]debatetool.Preset{}}}
		for name, c := range presets {
			o.Tools.Presets[name] = debatetool.Preset{Config: c}
		}
		h, err := debatemcp.NewHandler(e, o)
		require.NoError(t, err)
		return h
	})
	command := filepath.Join(t.TempDir(), "debate")
	runProgram(t, ".", nil, "go", "build", "-o", command, "github.com/elenchus-go/debate/cmd/debate")
	runScript(t, "mcp.mjs", "DEBATE_URL="+s.URL, "DEBATE_COMMAND="+command, "DEBATE_DATABASE="+filepath.Join(t.TempDir(), "debates.db"))
}
