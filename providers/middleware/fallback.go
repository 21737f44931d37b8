package middleware

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/elenchus-go/debate/providers"
)

// Fallbacks are what is tried where a call fails.
type Fallbacks struct {
	// Alternatives are tried in this order after the wrapped provider.
	Alternatives []Alternative
	// On are the kinds of failures after which the next one is tried. Defaults to Network, RateLimit, API, Timeout,
	// ContextOverflow and Authentication. Validation is not among them: it also says that a model is misspelled, which
	// should not go unnoticed.
	On []providers.ErrorKind
	// Cooldown is how long one that failed is passed over while others are left, or its RetryAfter where that is longer.
	// After a ContextOverflow, which is the prompt's fault, it is not. Defaults to a minute; below 0 none rests.
	Cooldown time.Duration
}

// Alternative is another model.
type Alternative struct {
	Provider providers.Provider // Defaults to the wrapped one
	Model    string             // takes the place of the request's; empty: the provider's own
}

// Fallback tries alternatives in order where a call fails. The response names the model that answered. What the failed
// ones used is not in it: put a [Meter] inside to count that.
//
// Text that OnChunk has had cannot be taken back. So where one fails after its first chunk its error is returned, and
// the caller's next attempt, which voids the text, begins with the next one because the failed one rests. A call that
// the caller ended, by its context or by OnChunk, is not a failure.
//
// A [Timeout] inside bounds each try; one outside bounds all of them together.
//
// Where several failed, the error is that of the first one which may succeed later, else of the first one; its text has
// the others.
func Fallback(f Fallbacks) Middleware {
	if f.On == nil {
		f.On = []providers.ErrorKind{
			providers.Network, providers.RateLimit, providers.ServerError, providers.Timeout, providers.ContextOverflow, providers.Authentication,
		}
	}
	if f.Cooldown == 0 {
		f.Cooldown = time.Minute
	}
	return func(p providers.Provider) providers.Provider {
		return &fallback{Fallbacks: f, inner: p, coolingDown: map[modelChoice]time.Time{}}
	}
}

type fallback struct {
	Fallbacks
	inner providers.Provider

	mu          sync.Mutex
	coolingDown map[modelChoice]time.Time // until when
}

// modelChoice names a model: the alternative's number, 0 for the wrapped provider, and its name.
type modelChoice struct {
	alternative int
	model       string
}

func (f *fallback) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	l := observeChunks(&r)
	var failures []failure
	for _, at := range f.tryOrder(r.Model) {
		r.Model = at.model
		resp, err := f.provider(at.alternative).Generate(ctx, r)
		if err == nil {
			resp.Model = cmp.Or(resp.Model, at.model)
			return resp, nil
		}
		if l.callerEnded(ctx) {
			return providers.Response{}, err
		}
		failed := *providers.AsError(err)
		failed.Partial.Model = cmp.Or(failed.Partial.Model, at.model)
		next := slices.Contains(f.On, failed.Kind)
		if next {
			f.startCooldown(at, &failed)
		}
		if l.receivedChunk {
			return providers.Response{}, &failed
		}
		failures = append(failures, failure{at.model, &failed})
		if !next {
			break
		}
	}
	return providers.Response{}, joinFailures(failures)
}

// provider is the wrapped one for 0, else that of an alternative.
func (f *fallback) provider(n int) providers.Provider {
	if n > 0 && f.Alternatives[n-1].Provider != nil {
		return f.Alternatives[n-1].Provider
	}
	return f.inner
}

// tryOrder is that in which the models are tried: those that rest come last.
func (f *fallback) tryOrder(model string) []modelChoice {
	awake, resting := make([]modelChoice, 0, 1+len(f.Alternatives)), []modelChoice(nil)
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := range 1 + len(f.Alternatives) {
		at := modelChoice{n, model}
		if n > 0 {
			at.model = f.Alternatives[n-1].Model
		}
		if time.Now().Before(f.coolingDown[at]) {
			resting = append(resting, at)
		} else {
			awake = append(awake, at)
		}
	}
	return append(awake, resting...)
}

// startCooldown notes that a model failed.
func (f *fallback) startCooldown(at modelChoice, e *providers.Error) {
	if f.Cooldown < 0 || e.Kind == providers.ContextOverflow {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.coolingDown[at] = time.Now().Add(max(f.Cooldown, e.RetryAfter))
}

// Check asks about the model and all alternatives: one that cannot answer should be known before it is needed.
func (f *fallback) Check(ctx context.Context, model string) error {
	err := check(ctx, f.inner, model)
	for n := 1; err == nil && n <= len(f.Alternatives); n++ {
		if err = check(ctx, f.provider(n), f.Alternatives[n-1].Model); err != nil {
			err = fmt.Errorf("check alternative %d: %w", n, err)
		}
	}
	return err
}

type failure struct {
	model string
	err   *providers.Error
}

// joinFailures is one error for all failures.
func joinFailures(failures []failure) error {
	best := failures[0].err
	if len(failures) == 1 {
		return best
	}
	if i := slices.IndexFunc(failures, failure.transient); i >= 0 {
		best = failures[i].err
	}
	all := fmt.Errorf("%q: %w", failures[0].model, failures[0].err)
	for _, f := range failures[1:] {
		all = fmt.Errorf("%w; %q: %w", all, f.model, f.err)
	}
	all = fmt.Errorf("call %d models: %w", len(failures), all)
	return &providers.Error{Kind: best.Kind, RetryAfter: best.RetryAfter, Partial: best.Partial, Err: all}
}

// transient says whether the same call may succeed later.
func (f failure) transient() bool {
	switch f.err.Kind {
	case providers.Network, providers.RateLimit, providers.ServerError, providers.Timeout:
		return true
	default:
		return false
	}
}
