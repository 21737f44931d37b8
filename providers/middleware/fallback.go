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
	// To are tried in this order after the wrapped provider.
	To []Alternative
	// On are the kinds of failures after which the next one is tried. Defaults to Network, RateLimit, API, Timeout,
	// ContextOverflow and Authentication. Validation is not among them: it also says that a model is misspelled, which
	// should not go unnoticed.
	On []providers.Kind
	// Rest is how long one that failed is passed over while others are left, or its RetryAfter where that is longer.
	// After a ContextOverflow, which is the prompt's fault, it is not. Defaults to a minute; below 0 none rests.
	Rest time.Duration
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
		f.On = []providers.Kind{
			providers.Network, providers.RateLimit, providers.API, providers.Timeout, providers.ContextOverflow, providers.Authentication,
		}
	}
	if f.Rest == 0 {
		f.Rest = time.Minute
	}
	return func(p providers.Provider) providers.Provider {
		return &fallback{Fallbacks: f, inner: p, resting: map[place]time.Time{}}
	}
}

type fallback struct {
	Fallbacks
	inner providers.Provider

	mu      sync.Mutex
	resting map[place]time.Time // until when
}

// place names a model: the alternative's number, 0 for the wrapped provider, and its name.
type place struct {
	n     int
	model string
}

func (f *fallback) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	l := listen(&r)
	var failures []failure
	for _, at := range f.order(r.Model) {
		r.Model = at.model
		resp, err := f.provider(at.n).Generate(ctx, r)
		if err == nil {
			resp.Model = cmp.Or(resp.Model, at.model)
			return resp, nil
		}
		if l.ended(ctx) {
			return providers.Response{}, err
		}
		failed := *providers.AsError(err)
		failed.Partial.Model = cmp.Or(failed.Partial.Model, at.model)
		next := slices.Contains(f.On, failed.Kind)
		if next {
			f.rest(at, &failed)
		}
		if l.heard {
			return providers.Response{}, &failed
		}
		failures = append(failures, failure{at.model, &failed})
		if !next {
			break
		}
	}
	return providers.Response{}, sum(failures)
}

// provider is the wrapped one for 0, else that of an alternative.
func (f *fallback) provider(n int) providers.Provider {
	if n > 0 && f.To[n-1].Provider != nil {
		return f.To[n-1].Provider
	}
	return f.inner
}

// order is that in which the models are tried: those that rest come last.
func (f *fallback) order(model string) []place {
	awake, resting := make([]place, 0, 1+len(f.To)), []place(nil)
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := range 1 + len(f.To) {
		at := place{n, model}
		if n > 0 {
			at.model = f.To[n-1].Model
		}
		if time.Now().Before(f.resting[at]) {
			resting = append(resting, at)
		} else {
			awake = append(awake, at)
		}
	}
	return append(awake, resting...)
}

// rest notes that a model failed.
func (f *fallback) rest(at place, e *providers.Error) {
	if f.Rest < 0 || e.Kind == providers.ContextOverflow {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resting[at] = time.Now().Add(max(f.Rest, e.RetryAfter))
}

// Check asks about the model and all alternatives: one that cannot answer should be known before it is needed.
func (f *fallback) Check(ctx context.Context, model string) error {
	err := check(ctx, f.inner, model)
	for n := 1; err == nil && n <= len(f.To); n++ {
		if err = check(ctx, f.provider(n), f.To[n-1].Model); err != nil {
			err = fmt.Errorf("check alternative %d: %w", n, err)
		}
	}
	return err
}

type failure struct {
	model string
	err   *providers.Error
}

// sum is one error for all failures.
func sum(failures []failure) error {
	best := failures[0].err
	if len(failures) == 1 {
		return best
	}
	if i := slices.IndexFunc(failures, failure.passing); i >= 0 {
		best = failures[i].err
	}
	all := fmt.Errorf("%q: %w", failures[0].model, failures[0].err)
	for _, f := range failures[1:] {
		all = fmt.Errorf("%w; %q: %w", all, f.model, f.err)
	}
	all = fmt.Errorf("call %d models: %w", len(failures), all)
	return &providers.Error{Kind: best.Kind, RetryAfter: best.RetryAfter, Partial: best.Partial, Err: all}
}

// passing says whether the same call may succeed later.
func (f failure) passing() bool {
	switch f.err.Kind {
	case providers.Network, providers.RateLimit, providers.API, providers.Timeout:
		return true
	default:
		return false
	}
}
