package middleware

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// Budget limits what the calls of all providers use together that it wraps, such as those of many debates. Set its fields
// before the first call. A Budget is safe for concurrent use, and must not be copied.
//
// While a call is in progress, the budget reserves its worst case: the estimated prompt, with a quarter added, and a reply of
// MaxTokens. If a service reports more tokens for a prompt than that, later calls of the model reserve accordingly. A call
// that would fit without the reservations of others waits for them. A call that does not fit returns an error of
// kind [providers.Billing] and does not reach the provider. A debate then stops with an error and can be continued with a
// larger budget. A request without MaxTokens reserves nothing for its reply.
type Budget struct {
	Prices price.Prices // required for Cost; a call of a model without a price is refused then
	Cost   float64      // the limit in the currency of Prices; 0 means no limit
	Tokens int          // the limit of input and output tokens together; 0 means no limit

	mu       sync.Mutex
	used     transcript.Usage
	reserved transcript.Usage
	factors  map[string]float64 // by model: the largest ratio of reported to estimated tokens of a prompt
	settled  chan struct{}      // closed when a call has ended; nil if no call waits
}

// Limit wraps p so that its calls use the budget. It is a [Middleware].
func (b *Budget) Limit(p providers.Provider) providers.Provider {
	return &wrapped{p, func(ctx context.Context, r providers.Request) (providers.Response, error) {
		prompt := estimate(r.Messages) + window.Estimate(string(r.Schema))
		most, err := b.reserve(ctx, &r, prompt)
		if err != nil {
			return providers.Response{}, err
		}
		spent := most // if the provider panics
		defer func() { b.settle(most, spent) }()
		resp, err := p.Generate(ctx, r)
		spent = usage(resp, err, r.Messages)
		answered := resp.Model
		if failed := providers.AsError(err); failed != nil {
			answered = failed.Partial.Model
		}
		known, ok := b.Prices.Lookup(cmp.Or(answered, r.Model))
		if !ok {
			known, _ = b.Prices.Lookup(r.Model)
		}
		spent.Cost = known.Cost(spent)
		if !spent.Estimated {
			b.learn(r.Model, prompt, spent.Input)
		}
		return resp, err
	}}
}

// Used returns what all calls have used that are over, with their cost.
func (b *Budget) Used() transcript.Usage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// reserve waits until the worst case of a call fits, and reserves it.
func (b *Budget) reserve(ctx context.Context, r *providers.Request, prompt int) (most transcript.Usage, err error) {
	known, ok := b.Prices.Lookup(r.Model)
	if !ok && b.Cost > 0 {
		return most, &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("limit budget: %q has no price, add it to Budget.Prices", r.Model)}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		most = transcript.Usage{Input: int(float64(prompt)*max(b.factors[r.Model], 1.25)) + 1, Output: r.MaxTokens}
		cached := most
		cached.Written = most.Input // the service may write the whole prompt to its cache
		most.Cost = max(known.Cost(most), known.Cost(cached))
		if problem := b.lacks(b.used.Add(most)); problem != "" {
			return most, &providers.Error{Kind: providers.Billing, Err: fmt.Errorf("limit budget: %s; raise the limit of Budget, or lower the token limits of replies", problem)}
		}
		if b.lacks(b.used.Add(b.reserved).Add(most)) == "" {
			b.reserved = b.reserved.Add(most)
			return most, nil
		}
		if b.settled == nil {
			b.settled = make(chan struct{})
		}
		settled := b.settled
		b.mu.Unlock()
		select {
		case <-settled:
		case <-ctx.Done():
		}
		b.mu.Lock()
		if ctx.Err() != nil {
			return most, providers.ContextError(ctx, providers.Response{})
		}
	}
}

// lacks returns which limit a usage exceeds, or the empty string.
func (b *Budget) lacks(u transcript.Usage) string {
	if n := u.Input + u.Output; b.Tokens > 0 && n > b.Tokens {
		return fmt.Sprintf("%d of %d tokens are used, and the call can use %d", b.used.Input+b.used.Output, b.Tokens, n-b.used.Input-b.used.Output)
	}
	if b.Cost > 0 && u.Cost > b.Cost {
		return fmt.Sprintf("%.4f of %v are spent, and the call can cost %.4f", b.used.Cost, b.Cost, u.Cost-b.used.Cost)
	}
	return ""
}

// settle replaces a reservation with what the call has used.
func (b *Budget) settle(reserved, spent transcript.Usage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = b.used.Add(spent)
	b.reserved.Input -= reserved.Input
	b.reserved.Output -= reserved.Output
	b.reserved.Cost -= reserved.Cost
	if b.reserved.Input+b.reserved.Output == 0 {
		b.reserved.Cost = 0 // without what rounding leaves
	}
	if b.settled != nil {
		close(b.settled)
		b.settled = nil
	}
}

// learn records how many tokens a service has counted in a prompt.
func (b *Budget) learn(model string, estimated, counted int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ratio := float64(counted) / float64(max(estimated, 1)); ratio > b.factors[model] {
		if b.factors == nil {
			b.factors = map[string]float64{}
		}
		b.factors[model] = ratio
	}
}
