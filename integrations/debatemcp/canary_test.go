package debatemcp_test

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/internal/test/canarytest"
)

// No answer of the server about a debate of any preset has a private text or the secret of its journal.
func TestNoAnswerHasAPrivateText(t *testing.T) {
	for name, cfg := range canarytest.Presets() {
		t.Run(name, func(t *testing.T) {
			c := canarytest.New(t, cfg)
			e, kept, tools := c.Tools()
			server, err := debatemcp.NewServer(e, debatemcp.Options{Tools: tools})
			require.NoError(t, err)
			client := inMemory(t, server, nil)
			out, text := client.call(t, "debate", map[string]any{"topic": c.Config.Topic, "id": "x"})
			require.Equal(t, "completed", out.Status, text)
			progress, _ := client.seen()
			texts := append(progress, text, client.read(t, "debate://x/transcript"), client.read(t, "debate://x/report"))
			for _, name := range []string{"debate_status", "debate_result"} {
				r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{"id": "x"}})
				require.NoError(t, err)
				texts = append(texts, r.Content[0].(*mcp.TextContent).Text)
				c.Out.JSON(name, r)
			}
			c.Out.Hide(canarytest.KeysIn(t, kept, "x"))
			c.Out.Add("answers", strings.Join(texts, "\n"))
			c.Require(10_000)
		})
	}
}
