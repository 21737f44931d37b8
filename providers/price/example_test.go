package price_test

import (
	"fmt"

	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// A price applies to a model and to its dated versions.
func Example() {
	prices := price.Prices{"gpt-x": {Input: 2, Cached: 0.5, Output: 8}} // per million tokens
	p, known := prices.Lookup("gpt-x-2026-01-31")
	fmt.Println(known, p.Cost(transcript.Usage{Input: 3000, Cached: 1000, Output: 500}))
	_, known = prices.Lookup("other")
	fmt.Println(known)
	// Output:
	// true 0.0085
	// false
}
