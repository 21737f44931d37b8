package protocol_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol"
)

func TestTheMaximumOfAChartIsNeverBelowAValue(t *testing.T) {
	c := &protocol.Chart{Maximum: 10}
	c.Set("a", "score", 7)
	require.Equal(t, 10.0, c.Maximum)
	c.SetRound(1, "score", 12)
	require.Equal(t, 12.0, c.Maximum)
}
