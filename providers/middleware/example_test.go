package middleware_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
)

func Example() {
	var model providers.Provider = scripted.Text("Because.") // or a real provider
	model = middleware.Wrap(model,
		middleware.Concurrency(4),
		middleware.RateLimit(middleware.PerMinute{Requests: 60, Tokens: 90_000}),
		middleware.Timeout(middleware.Timeouts{Call: 2 * time.Minute, Chunk: 20 * time.Second}),
	)
	res, err := model.Generate(context.Background(), providers.Request{
		Messages: []providers.Message{{Role: providers.User, Text: "Why?"}},
	})
	fmt.Println(res.Text, err)
	// Output: Because. <nil>
}

func ExampleMeter() {
	meter := &middleware.Meter{Prices: price.Prices{"gpt-x": {Input: 2, Cached: 0.5, Output: 8}}} // per million tokens
	model := meter.Measure(scripted.Text("Because.", "Because."))
	for _, name := range []string{"gpt-x-2026-01-31", "other"} {
		_, err := model.Generate(context.Background(), providers.Request{
			Model: name, Messages: []providers.Message{{Role: providers.User, Text: "Why?"}},
		})
		if err != nil {
			panic(err)
		}
	}
	for name, f := range meter.Metrics().Models {
		f.Duration = 0 // varies
		text, err := json.Marshal(f)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(os.Stdout, "%s %s\n", name, text)
	}
	// Unordered output:
	// gpt-x-2026-01-31 {"calls":1,"usage":{"input":1,"output":2,"estimated":true},"duration":0,"cost":0.000018}
	// other {"calls":1,"usage":{"input":1,"output":2,"estimated":true},"duration":0,"cost":null,"unpriced":1}
}

// Two debates, or a thousand, share one budget. A call that does not fit is refused before it reaches the model.
func ExampleBudget() {
	budget := &middleware.Budget{Tokens: 500}
	fast, slow := budget.Limit(scripted.Text("Because.")), budget.Limit(scripted.Text("Perhaps."))
	for most, model := range map[int]providers.Provider{400: fast, 600: slow} {
		_, err := model.Generate(context.Background(), providers.Request{
			MaxTokens: most, Messages: []providers.Message{{Role: providers.User, Text: "Why?"}},
		})
		if failed := providers.AsError(err); failed != nil {
			fmt.Println("refused:", failed.Kind)
		}
	}
	fmt.Println(budget.Used().Output, "tokens of output")
	// Output:
	// refused: billing
	// 2 tokens of output
}
