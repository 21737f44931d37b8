package step

import (
	"fmt"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Hint returns advice on how to fix the failure of a step, in terms of the library's API.
func Hint(key transcript.Key, f *Failure) string {
	if f.Err.Kind == providers.Panic {
		return "code that the debate calls panicked: see Failure.Stack, correct the code, then Retry"
	}
	if f.Err.Kind == providers.Declined {
		return fmt.Sprintf("%s gives no reply: Retry asks again, or Edit the debate", key.Actor)
	}
	if f.Provider == "" { // no model was called
		return fmt.Sprintf("step %s of %s cannot run: add what the message names to Options, or Edit the debate, then Retry", key.Phase, key.Actor)
	}
	switch f.Err.Kind {
	case providers.Authentication:
		return fmt.Sprintf("provider %s rejects its key: set a valid one in Options.Providers, then Retry", f.Provider)
	case providers.Billing:
		return fmt.Sprintf("provider %s does not serve this account: check its credit, its plan and the region, or set another key in Options.Providers, then Retry", f.Provider)
	case providers.ContentFiltered:
		return fmt.Sprintf("provider %s filters what model %q should read or wrote: change the topic or the wording, or choose another model, then Retry", f.Provider, f.Model)
	case providers.InvalidRequest:
		return fmt.Sprintf("provider %s rejects the request: check that it has a model %q and that the parameters fit the model, Edit the debate, then Retry", f.Provider, f.Model)
	case providers.WrongAddress:
		return fmt.Sprintf("a web page answers at the address of provider %s: set the address of its API in Options.Providers, then Retry", f.Provider)
	case providers.ContextOverflow:
		return fmt.Sprintf("the prompt is too long for model %q: lower the Window of %s, or choose a model with a larger context window", f.Model, key.Actor)
	case providers.RateLimit:
		if f.RetryAfter > 0 {
			return fmt.Sprintf("provider %s accepts no more calls for %v: Retry after that, set another key in Options.Providers, "+
				"or choose a model of another provider", f.Provider, f.RetryAfter.Round(time.Minute))
		}
		return fmt.Sprintf("provider %s limits the rate of calls: Retry later, raise its limits, or set a lower rate with a middleware", f.Provider)
	case providers.Timeout:
		return fmt.Sprintf("model %q is too slow for the timeouts: raise Limits.StepTimeout, or choose a faster model", f.Model)
	case providers.Network:
		if f.Unreachable {
			return fmt.Sprintf("provider %s cannot be reached: start it, or check its address and the network, then Retry; all participants continue", f.Provider)
		}
		return fmt.Sprintf("provider %s cannot be reached, or the connection broke: check its address and the network, then Retry", f.Provider)
	case providers.InvalidResponse:
		if f.OnlyReasoning {
			return fmt.Sprintf("model %q reasons and writes no reply: %s, then Retry", f.Model, lessReasoning(key.Actor))
		}
		return fmt.Sprintf("model %q gives no usable reply: choose a model that follows a format, or raise its token limit", f.Model)
	case providers.Loop:
		return fmt.Sprintf("model %q repeats itself without end: choose another model, or another temperature for %s, then Retry", f.Model, key.Actor)
	case providers.Refused:
		return fmt.Sprintf("model %q declines to speak for %s: choose another model, put the topic in other words, or set OnRefusal to continue, then Retry", f.Model, key.Actor)
	case providers.OutOfMemory:
		return fmt.Sprintf("provider %s has too little memory for model %q: choose a smaller model, or a smaller context window (NumCtx of package providers/ollama), or free memory on the server, then Retry", f.Provider, f.Model)
	case providers.ServerError, providers.Panic, providers.Declined:
	}
	return fmt.Sprintf("provider %s failed: see its message; Retry may help", f.Provider)
}
