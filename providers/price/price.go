// Package price computes what the calls of models cost.
//
//	prices := price.Prices{ // for a million tokens
//		"gpt-x":      {Input: 2, Cached: 0.5, Output: 8},
//		"gpt-x-mini": {Input: 0.4, Cached: 0.1, Output: 1.6},
//		"llama":      {}, // free, which is not the same as unknown
//	}
//	if p, known := prices.Lookup(turn.Attempts[0].Model); known {
//		fmt.Println(p.Cost(turn.Usage))
//	}
//
// The package contains no prices, because prices change and depend on your contract. List those that you pay.
package price

import (
	"strings"

	"github.com/elenchus-go/debate/transcript"
)

// Price is what a model costs for each million tokens, in whatever currency all prices are in.
type Price struct {
	Input  float64 `json:"input"`            // of prompts
	Cached float64 `json:"cached,omitempty"` // of prompts, those that the service read from its cache. Defaults to Input
	Output float64 `json:"output"`           // of replies, reasoning included
}

// Cost is what the usage costs. What a service takes for writing to its cache is not in a usage, nor in the cost.
func (p Price) Cost(u transcript.Usage) float64 {
	if p.Cached == 0 {
		p.Cached = p.Input
	}
	fresh := max(0, u.Input-u.Cached)
	return (p.Input*float64(fresh) + p.Cached*float64(u.Cached) + p.Output*float64(u.Output)) / 1e6
}

// Prices are known by the names of models.
type Prices map[string]Price

// Lookup is the price of a model, and whether it is known: that of the exact name, else of the longest name that it
// continues with '-', ':' or '@'. So "gpt-x" has the price for "gpt-x-2026-01-31", but also for "gpt-x-mini" where that
// has none of its own; it has none for "gpt-x.1".
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
