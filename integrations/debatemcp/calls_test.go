package debatemcp_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/toolviewtest"
)

// A client hears who calls which tools, shows a person a call that needs approval with its whole arguments, and reads what calls
// found in the report. Nothing has the text of a private document.
func TestCallsOfTools(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		e, _ := toolviewtest.Engine(t)
		c := toolviewtest.Config()
		c.ID, c.Topic = "", ""
		server, err := debatemcp.NewServer(e, debatemcp.Options{
			Tools:  debatetool.Options{Presets: map[string]debatetool.Preset{"panel": {Config: c}}},
			Server: mcp.ServerOptions{SupportedProtocolVersions: []string{version}},
		})
		require.NoError(t, err)
		var mu sync.Mutex
		var forms []string
		client := inMemory(t, server, func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			mu.Lock()
			defer mu.Unlock()
			forms = append(forms, r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"action": "refuse", "text": toolviewtest.Reason, "by": "Pat"}}, nil
		})
		out, text := client.call(t, "debate", map[string]any{"topic": "Is the rent too high?", "id": "x"})
		require.Equal(t, "completed", out.Status, text)
		require.Len(t, forms, 1)
		toolviewtest.RequireSafe(t, forms[0], 4<<10, "Ada wants to call the tool order with these arguments:", toolviewtest.Ordered, "approve: call the tool with these arguments")
		progress, _ := client.seen()
		require.Contains(t, progress, "Debate x: Ada calls look.")
		toolviewtest.RequireSafe(t, text+strings.Join(progress, "\n"), 32<<10)
		toolviewtest.RequireSafe(t, client.read(t, "debate://x/transcript"), 32<<10, "Checked: 1 quote verified, 1 altered, 1 not found.")
		toolviewtest.RequireSafe(t, client.read(t, "debate://x/report"), 150_000, toolviewtest.Asked, toolviewtest.Found, toolviewtest.Ordered, "disapproved", "1 quote verified, 1 altered, 1 not found", "“the quoted-58b1 is paid”")
		for _, name := range []string{"debate_status", "debate_result", "debate_list"} {
			input := map[string]any{"id": "x"}
			if name == "debate_list" {
				input = map[string]any{}
			}
			r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: input})
			require.NoError(t, err)
			toolviewtest.RequireSafe(t, r.Content[0].(*mcp.TextContent).Text, 32<<10)
		}
	})
}
