package wire_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
)

// A service that leaves the connection open after the reply costs little time.
func TestConnectionsThatStayOpen(t *testing.T) {
	ends := map[fakellm.Protocol][]string{
		fakellm.OpenAI:    {`data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}`, "", ""},
		fakellm.Anthropic: {`data: {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}`, "", ""},
		fakellm.Google:    {`data: {"candidates": [{"index": 0, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 5}}`, "", ""},
	}
	for protocol, lines := range ends {
		t.Run(string(protocol), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := fakellm.Start(t, protocol, fakellm.Reply{Chunks: []string{"So."}, RawLines: lines, Hang: true})
				began := time.Now()
				res, err := service(t, protocol, s.Client(t), nil).Generate(calltest.Forever(t), calltest.Ask())
				require.NoError(t, err)
				require.Equal(t, "So.", res.Text)
				limit := time.Second
				if res.Usage.Output > 0 { // nothing else is to come
					limit = 250 * time.Millisecond
				}
				require.LessOrEqual(t, time.Since(began), limit)
			})
		})
	}
}
