// Package price computes the cost of model calls.
//
//	prices := price.Prices{ // per million tokens
//		"gpt-x":      {Input: 2, Cached: 0.5, Output: 8},
//		"gpt-x-mini": {Input: 0.4, Cached: 0.1, Output: 1.6},
//		"llama":      {}, // free, which differs from unknown
//	}
//	if p, known := prices.Lookup(turn.Attempts[0].Model); known {
//		fmt.Println(p.Cost(turn.Usage))
//	}
//
// Anthropic charges 1.25 times the input price for writing to its cache, and twice the input price if the entry is kept for
// an hour. (Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching)
//
// The package contains no prices, because prices change and depend on your contract. Enter the prices that you pay.
package price

import (
	"strings"

	"github.com/elenchus-go/debate/transcript"
)

// Price is the price of a model per million tokens. The currency is your choice, but must be the same for all prices.
type Price struct {
	Input   float64 `json:"input"`             // input tokens
	Cached  float64 `json:"cached,omitempty"`  // input tokens that the service read from its cache; defaults to Input
	Written float64 `json:"written,omitempty"` // input tokens that the service wrote to its cache; defaults to Input
	Output  float64 `json:"output"`            // output tokens, including reasoning
}

// Cost returns the cost of u.
func (p Price) Cost(u transcript.Usage) float64 {
	if p.Cached == 0 {
		p.Cached = p.Input
	}
	if p.Written == 0 {
		p.Written = p.Input
	}
	fresh := max(0, u.Input-u.Cached-u.Written)
	return (p.Input*float64(fresh) + p.Cached*float64(u.Cached) + p.Written*float64(u.Written) + p.Output*float64(u.Output)) / 1e6
}

// Prices maps the names of models to their prices.
type Prices map[string]Price

// Lookup returns the price of a model and reports whether it is known. If the exact name has no price, Lookup removes
// suffixes that begin with '-', ':' or '@' and uses the longest remaining name that has one. So the price of "gpt-x"
// applies to "gpt-x-2026-01-31", and to "gpt-x-mini" if that has no price, but not to "gpt-x.1".
func (p Prices) Lookup(model string) (Price, bool) {
	for {
		if price, ok := p[model]; ok {
			return price, true
		}
		i := strings.LastIndexAny(model, "-:@")
		if i < 0 {
			return Price{}, false
		}
		model = model[:i]
	}
}
