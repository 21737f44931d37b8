package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

func TestHintsAdvise(t *testing.T) {
	for want, f := range map[string]journal.Failure{
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
		"a web page answers at the address of":  {Provider: "p", Model: "m", Kind: providers.WrongAddress},
		"accepts no more calls for 6h0m0s":      {Provider: "p", Kind: providers.RateLimit, RetryAfter: 6 * time.Hour},
		"repeats itself without end":            {Provider: "p", Model: "m", Kind: providers.Loop},
		"set OnRefusal to continue":             {Provider: "p", Model: "m", Kind: providers.Refused},
		"set a lower rate with a middleware":    {Provider: "p", Kind: providers.RateLimit},
		"change the topic or the wording":       {Provider: "p", Kind: providers.ContentFiltered},
		"set a valid one in Options.Providers":  {Provider: "p", Kind: providers.Authentication},
		"check that it has a model \"m\" and":   {Provider: "p", Model: "m", Kind: providers.InvalidRequest},
	} {
		f.Key = transcript.Key{Actor: "Ada", Phase: "argue"}
		require.Contains(t, f.Hint(), want)
	}
}
