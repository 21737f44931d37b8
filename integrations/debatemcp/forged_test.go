package debatemcp_test

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/forgedtest"
	"github.com/elenchus-go/debate/store"
)

// Tools and resources answer with an error that names the entry if a stored debate is damaged or forged.
func TestAForgedDebateIsAnError(t *testing.T) {
	forgedtest.InStores(t, func(t *testing.T, e *debate.Engine, _ store.Store, message string) {
		server, err := debatemcp.NewServer(e, debatemcp.Options{Tools: debatetool.Options{}})
		require.NoError(t, err)
		c := inMemory(t, server, nil)
		want := "read " + message
		tools, err := c.ListTools(t.Context(), nil)
		require.NoError(t, err)
		told := 0
		for _, tool := range tools.Tools {
			r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name, Arguments: map[string]any{"id": "d"}})
			if err != nil || !r.IsError {
				continue
			}
			if strings.Contains(r.Content[0].(*mcp.TextContent).Text, want) {
				told++
			}
		}
		require.NotZero(t, told)
		_, err = c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "debate://d/report"})
		require.ErrorContains(t, err, want)
	})
}
