package debate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

func TestHintsSayWhatToDo(t *testing.T) {
	for want, f := range map[string]debate.Failure{
		"see Failure.Stack":                     {Kind: providers.Panic},
		"Ada gives no reply":                    {Kind: providers.Declined},
		"set \"reasoning\": \"none\" for Ada":   {Provider: "p", Kind: providers.InvalidResponse, OnlyReasoning: true},
		"start it, or check its address":        {Provider: "p", Kind: providers.Network, Unreachable: true},
		"or the connection broke":               {Provider: "p", Kind: providers.Network},
		"add what the message names to Options": {Kind: providers.InvalidRequest},
		"choose a model that follows a format":  {Provider: "p", Kind: providers.InvalidResponse},
		"provider p failed: see its message":    {Provider: "p", Kind: providers.ServerError},
		"choose a smaller model, or a smaller":  {Provider: "p", Kind: providers.OutOfMemory},
		"check its credit, its plan and":        {Provider: "p", Kind: providers.Billing},
		"raise Limits.StepTimeout":              {Provider: "p", Kind: providers.Timeout},
		"lower the Window of Ada":               {Provider: "p", Kind: providers.ContextOverflow},
		"set a lower rate with a middleware":    {Provider: "p", Kind: providers.RateLimit},
		"change the topic or the wording":       {Provider: "p", Kind: providers.ContentFiltered},
		"set a valid one in Options.Providers":  {Provider: "p", Kind: providers.Authentication},
		"check that it has a model \"m\" and":   {Provider: "p", Model: "m", Kind: providers.InvalidRequest},
	} {
		f.Key = transcript.Key{Actor: "Ada", Phase: "argue"}
		require.Contains(t, f.Hint(), want)
	}
	require.Equal(t, "plan round 2: it fell", (&debate.Failure{Key: transcript.Key{Round: 2}, Message: "it fell"}).Error())
}
