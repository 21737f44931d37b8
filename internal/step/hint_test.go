package step_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

func TestHintsAdvise(t *testing.T) {
	for want, f := range map[string]step.Failure{
		"see Failure.Stack":                     {Err: &providers.Error{Kind: providers.Panic}},
		"Ada gives no reply":                    {Err: &providers.Error{Kind: providers.Declined}},
		"set \"reasoning\": \"none\" for Ada":   {Provider: "p", Err: &providers.Error{Kind: providers.InvalidResponse}, OnlyReasoning: true},
		"start it, or check its address":        {Provider: "p", Err: &providers.Error{Kind: providers.Network}, Unreachable: true},
		"or the connection broke":               {Provider: "p", Err: &providers.Error{Kind: providers.Network}},
		"add what the message names to Options": {Err: &providers.Error{Kind: providers.InvalidRequest}},
		"choose a model that follows a format":  {Provider: "p", Err: &providers.Error{Kind: providers.InvalidResponse}},
		"provider p failed: see its message":    {Provider: "p", Err: &providers.Error{Kind: providers.ServerError}},
		"choose a smaller model, or a smaller":  {Provider: "p", Err: &providers.Error{Kind: providers.OutOfMemory}},
		"check its credit, its plan and":        {Provider: "p", Err: &providers.Error{Kind: providers.Billing}},
		"raise Limits.StepTimeout":              {Provider: "p", Err: &providers.Error{Kind: providers.Timeout}},
		"lower the Window of Ada":               {Provider: "p", Err: &providers.Error{Kind: providers.ContextOverflow}},
		"a web page answers at the address of":  {Provider: "p", Model: "m", Err: &providers.Error{Kind: providers.WrongAddress}},
		"accepts no more calls for 6h0m0s":      {Provider: "p", Err: &providers.Error{Kind: providers.RateLimit}, RetryAfter: 6 * time.Hour},
		"repeats itself without end":            {Provider: "p", Model: "m", Err: &providers.Error{Kind: providers.Loop}},
		"set OnRefusal to continue":             {Provider: "p", Model: "m", Err: &providers.Error{Kind: providers.Refused}},
		"set a lower rate with a middleware":    {Provider: "p", Err: &providers.Error{Kind: providers.RateLimit}},
		"change the topic or the wording":       {Provider: "p", Err: &providers.Error{Kind: providers.ContentFiltered}},
		"set a valid one in Options.Providers":  {Provider: "p", Err: &providers.Error{Kind: providers.Authentication}},
		"check that it has a model \"m\" and":   {Provider: "p", Model: "m", Err: &providers.Error{Kind: providers.InvalidRequest}},
	} {
		require.Contains(t, step.Hint(transcript.Key{Actor: "Ada", Phase: "argue"}, &f), want)
	}
}
