package debatetool

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/vote"
)

func TestOptionsGoToTheProtocol(t *testing.T) {
	options := []string{"Refund", "Refuse"}
	for _, p := range []protocol.Protocol{panel.Protocol{}, procon.Protocol{}, vote.Protocol{}} {
		c := debate.Config{Protocol: p}
		require.Empty(t, setOptions(&c, nil))
		require.Equal(t, p, c.Protocol, "without options nothing changes")
		require.Empty(t, setOptions(&c, options))
		switch p := c.Protocol.(type) {
		case panel.Protocol:
			require.Equal(t, options, p.Decision.Options)
		case procon.Protocol:
			require.Equal(t, options, p.Decision.Options)
		case vote.Protocol:
			require.Equal(t, options, p.Options)
		}
	}
	c := debate.Config{Protocol: council.Protocol{}}
	require.Equal(t, "options", setOptions(&c, options)[0].Field)
	require.Len(t, setOptions(&debate.Config{Protocol: panel.Protocol{}}, []string{"Only"}), 1)
}
