package anthropic_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
)

const (
	textDelta   = `data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "So."}}` + "\n\n"
	streamEnd   = `data: {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}` + "\n\n" + `data: {"type": "message_stop"}` + "\n\n"
	thoughtText = `data: {"type": "content_block_start", "index": 1, "content_block": {"type": "thinking", "thinking": "Hm.", "signature": ""}}` + "\n\n"
)

// The service calls its own tools and gets their results before the reply ends. Neither is part of the reply.
func TestToolsOfTheServiceAreNoPartOfTheReply(t *testing.T) {
	p, _ := provider(t, anthropic.Config{}, fakellm.Reply{RawLines: []string{
		`data: {"type": "content_block_start", "index": 1, "content_block": {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}}` + "\n",
		`data: {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"query\": \"cars\"}"}}` + "\n",
		`data: {"type": "content_block_stop", "index": 1}` + "\n",
		textDelta,
		`data: {"type": "content_block_start", "index": 2, "content_block": {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result", "title": "Cars"}]}}` + "\n",
		`data: {"type": "content_block_stop", "index": 2}` + "\n",
		streamEnd,
	}})
	res, err := p.Generate(t.Context(), ask)
	require.NoError(t, err)
	require.Equal(t, "So.", res.Text)
	require.Empty(t, res.Parts)
	require.Equal(t, providers.Stop, res.FinishReason)
}

// A signature arrives in pieces, each of which counts towards the limit of the reply.
func TestSignaturesInPieces(t *testing.T) {
	for name, test := range map[string]struct {
		piece   string
		pieces  int
		wantErr string // empty if the reply is read
	}{
		"short": {"c2ln", 3, ""},
		"long":  {strings.Repeat("c2ln", 1<<10), 30, "read reply: longer than 103936 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			events := []string{textDelta, thoughtText}
			for range test.pieces {
				events = append(events, `data: {"type": "content_block_delta", "index": 1, "delta": {"type": "signature_delta", "signature": "`+test.piece+`"}}`+"\n")
			}
			end := `data: {"type": "content_block_stop", "index": 1}` + "\n"
			if test.wantErr != "" { // the limit is checked before the block ends
				end = ""
			}
			p, _ := provider(t, anthropic.Config{}, fakellm.Reply{RawLines: append(events, end, streamEnd)})
			res, err := p.Generate(t.Context(), ask)
			if test.wantErr != "" {
				require.ErrorContains(t, err, test.wantErr)
				require.Equal(t, providers.InvalidResponse, providers.AsError(err).Kind)
				return
			}
			require.NoError(t, err)
			kept := slices.IndexFunc(res.Parts, func(p providers.Part) bool { return p.Reasoning != nil && p.Reasoning.Data != nil })
			require.GreaterOrEqual(t, kept, 0)
			var block struct{ Signature string }
			require.NoError(t, json.Unmarshal(res.Parts[kept].Reasoning.Data, &block))
			require.Equal(t, strings.Repeat(test.piece, test.pieces), block.Signature)
		})
	}
}
