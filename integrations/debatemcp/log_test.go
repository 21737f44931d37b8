package debatemcp_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
)

// full is a store whose disk is full.
type full struct{ store.Store }

func (full) Commit(context.Context, store.Change) error { return store.ErrUnavailable }

// The log gets errors that have an internal cause, and no others: the model can correct those.
func TestInternalErrorsAreLogged(t *testing.T) {
	var log bytes.Buffer
	e, err := debate.NewEngine(debate.Options{Store: full{store.Memory()}, Providers: map[string]providers.Provider{"model": scripted.Text("Yes.")}})
	require.NoError(t, err)
	server, err := debatemcp.NewServer(e, debatemcp.Options{Server: mcp.ServerOptions{
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}})
	require.NoError(t, err)
	c := inMemory(t, server, nil)
	for tool, input := range map[string]map[string]any{"debate_status": {"id": "nothing"}, "debate": {"question": "Ban cars?"}} {
		r := debatetest.Call(t, c.CallTool, &mcp.CallToolParams{Name: tool, Arguments: input})
		require.True(t, r.IsError)
	}
	require.Empty(t, log.String())
	r := debatetest.Call(t, c.CallTool, &mcp.CallToolParams{Name: "debate_start", Arguments: map[string]any{"topic": "Ban cars?"}})
	require.True(t, r.IsError)
	require.Contains(t, log.String(), `level=ERROR msg="call tool" tool=debate_start`)
	require.Contains(t, log.String(), "the store is not available")
}
