package price_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

func TestAPriceIsFoundByTheExactNameElseByTheLongestThatItContinues(t *testing.T) {
	prices := price.Prices{"gpt-x": {Input: 1}, "gpt-x-mini": {Input: 2}, "llama3:70b": {Input: 3}, "free": {}}
	for model, want := range map[string]float64{
		"gpt-x":                 1,
		"gpt-x-2026-01-31":      1,
		"gpt-x-large":           1,
		"gpt-x-mini":            2,
		"gpt-x-mini-2026-01-31": 2,
		"gpt-x-mini@latest":     2,
		"llama3:70b-q4":         3,
		"free":                  0,
	} {
		got, ok := prices.Lookup(model)
		require.True(t, ok, model)
		require.InDelta(t, want, got.Input, 0, model)
	}
	for _, model := range []string{"", "-", "gpt", "gpt-", "gpt-x.1", "gpt-xl", "llama3", "llama3:8b", "vendor/gpt-x", "GPT-X"} {
		_, ok := prices.Lookup(model)
		require.False(t, ok, model)
	}
	_, ok := price.Prices(nil).Lookup("gpt-x")
	require.False(t, ok)
}

func TestCostIsByTheMillionTokens(t *testing.T) {
	usage := transcript.Usage{Input: 3_000_000, Cached: 1_000_000, Output: 500_000, Reasoning: 400_000}
	for name, test := range map[string]struct {
		price price.Price
		usage transcript.Usage
		want  float64
	}{
		"cheaper cached tokens":           {price.Price{Input: 2, Cached: 0.5, Output: 8}, usage, 2*2 + 0.5 + 4},
		"no price for cached tokens":      {price.Price{Input: 2, Output: 8}, usage, 3*2 + 4},
		"dearer writes":                   {price.Price{Input: 3, Cached: 0.3, Written: 3.75, Output: 15}, transcript.Usage{Input: 100_000, Written: 100_000}, 0.375},
		"writes for an hour":              {price.Price{Input: 3, Cached: 0.3, Written: 6, Output: 15}, transcript.Usage{Input: 300_000, Cached: 100_000, Written: 100_000}, 0.3 + 0.03 + 0.6},
		"no price for writes":             {price.Price{Input: 3, Cached: 0.3, Output: 15}, transcript.Usage{Input: 100_000, Written: 100_000}, 0.3},
		"free":                            {price.Price{}, usage, 0},
		"zero usage":                      {price.Price{Input: 2, Output: 8}, transcript.Usage{}, 0},
		"reasoning is part of the output": {price.Price{Output: 10}, transcript.Usage{Output: 100, Reasoning: 100}, 0.001},
	} {
		t.Run(name, func(t *testing.T) { require.InDelta(t, test.want, test.price.Cost(test.usage), 1e-9) })
	}
}

func ExamplePrices() {
	var prices price.Prices // usually read from a file
	err := json.Unmarshal([]byte(`{"gpt-x": {"input": 2, "cached": 0.5, "output": 8}}`), &prices)
	if err != nil {
		panic(err)
	}
	p, known := prices.Lookup("gpt-x-2026-01-31")
	fmt.Println(p.Cost(transcript.Usage{Input: 10_000, Cached: 8_000, Output: 1_000}), known)
	_, known = prices.Lookup("other")
	fmt.Println(known)
	// Output:
	// 0.016 true
	// false
}
