package middleware

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/elenchus-go/debate/providers"
)

// Fallbacks configure [Fallback].
type Fallbacks struct {
	// Alternatives are the models to try after the wrapped provider, in order.
	Alternatives []Alternative
	// On lists the kinds of failures after which Fallback tries the next model. Defaults to Network, RateLimit,
	// ServerError, Timeout, ContextOverflow, ContentFiltered, Authentication, Billing and OutOfMemory. It does not include
	// InvalidRequest, because that kind also reports a misspelled model name, which should not be hidden.
	On []providers.ErrorKind
	// Cooldown is the time after a failure during which Fallback tries the failed model last. The error's RetryAfter is
	// used if it is longer. A ContextOverflow or ContentFiltered starts no cooldown, because it depends on the prompt.
	// Defaults to a minute. A negative value disables cooldowns.
	Cooldown time.Duration
}

// Alternative is another model to try.
type Alternative struct {
	Provider providers.Provider // defaults to the wrapped provider
	Model    string             // replaces the model of the request; if empty, the provider's default model is used
}

// Fallback returns middleware that tries alternatives in order if a call fails. The response names the model that
// replied. It does not include the usage of the failed calls. To count that, wrap the inner providers with a [Meter].
//
// Text that was passed to OnChunk cannot be taken back. So if a model fails after its first chunk, Fallback returns the
// error. The caller's next attempt discards that text and starts with the next model, because the failed one is in its
// cooldown. A call that the caller ended, by its context or by an error of OnChunk, is not a failure.
//
// A [Timeout] inside the fallback limits each try. A Timeout outside limits all tries together.
//
// If several models fail, the error has the kind of the first failure that a retry may fix, or of the first failure if
// there is none. Its text contains all failures.
func Fallback(f Fallbacks) Middleware {
	if f.On == nil {
		f.On = []providers.ErrorKind{
			providers.Network, providers.RateLimit, providers.ServerError, providers.Timeout, providers.ContextOverflow,
			providers.ContentFiltered, providers.Authentication, providers.Billing, providers.OutOfMemory,
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
	coolingDown map[modelChoice]time.Time // the end of each cooldown
}

// modelChoice identifies a model to try.
type modelChoice struct {
	alternative int // 0 for the wrapped provider, n for alternative n
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

// provider returns the wrapped provider if n is 0, and the provider of alternative n otherwise.
func (f *fallback) provider(n int) providers.Provider {
	if n > 0 && f.Alternatives[n-1].Provider != nil {
		return f.Alternatives[n-1].Provider
	}
	return f.inner
}

// tryOrder returns the models in the order in which they are tried. Models in their cooldown come last.
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

// startCooldown starts the cooldown of a model that failed with e.
func (f *fallback) startCooldown(at modelChoice, e *providers.Error) {
	if f.Cooldown < 0 || e.Kind == providers.ContextOverflow || e.Kind == providers.ContentFiltered {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.coolingDown[at] = time.Now().Add(max(f.Cooldown, e.RetryAfter))
}

// IsPerson reports whether a person gives the replies of the wrapped provider.
func (f *fallback) IsPerson() bool { return isPerson(f.inner) }

// Unsupported returns the settings that the wrapped provider or an alternative does not support.
func (f *fallback) Unsupported(r providers.Request) map[string]string {
	all := map[string]string{}
	for n := len(f.Alternatives); n > 0; n-- {
		r := r
		r.Model = f.Alternatives[n-1].Model
		for name, reason := range unsupported(f.provider(n), r) {
			all[name] = fmt.Sprintf("alternative %d: %s", n, reason)
		}
	}
	maps.Copy(all, unsupported(f.inner, r))
	return all
}

// Window returns the smallest known window of the model and its alternatives, or 0 if that of the model is not known.
func (f *fallback) Window(model string) int {
	smallest := windowOf(f.inner, model)
	for n, a := range f.Alternatives {
		if size := windowOf(f.provider(n+1), a.Model); size > 0 {
			smallest = min(smallest, size)
		}
	}
	return smallest
}

// Check checks the model and all alternatives, so that a broken alternative is found before it is needed.
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

// joinFailures combines all failures into one error.
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
	return &providers.Error{Kind: best.Kind, Otherwise: best.Otherwise, RetryAfter: best.RetryAfter, Partial: best.Partial, Err: all}
}

// transient reports whether the same call may succeed later.
func (f failure) transient() bool {
	switch f.err.Kind {
	case providers.Network, providers.RateLimit, providers.ServerError, providers.Timeout:
		return true
	default:
		return false
	}
}
