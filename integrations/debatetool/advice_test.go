package debatetool

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

func TestAdviceIsForCallers(t *testing.T) {
	for kind, want := range map[providers.ErrorKind]string{
		providers.Authentication: "refuses the server's key", providers.Billing: "does not serve the server's account",
		providers.InvalidRequest: "refuses the request", providers.OutOfMemory: "too little memory", providers.Panic: "internal error",
		providers.ContentFiltered: "in other words", providers.ContextOverflow: "less background", providers.Declined: "Ada has declined",
		providers.InvalidResponse: "no usable reply", providers.Network: "Try again later",
	} {
		text := advice(&debate.Failure{Provider: "p", Kind: kind, Key: transcript.Key{Actor: "Ada"}})
		require.Contains(t, text, want)
		require.NotContains(t, text, "Options")
	}
	require.Contains(t, advice(&debate.Failure{Kind: providers.InvalidRequest}), "lacks something")
}
