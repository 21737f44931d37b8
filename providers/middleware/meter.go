package middleware

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// Meter counts the calls, tokens and costs of the providers that it measures. Set Prices before the first call. A Meter
// is safe for concurrent use, and must not be copied.
type Meter struct {
	// Prices are the prices of the models. The default is empty.
	Prices price.Prices

	mu     sync.Mutex
	models map[string]*CallStats
}

// Metrics holds the counts of a meter at one moment.
type Metrics struct {
	Total CallStats `json:"total"`
	// Models maps a model's name to its counts. The name is the one in the response, or the one in the request if the
	// response has none. It is empty if neither has a name.
	Models map[string]CallStats `json:"models"`
}

// CallStats counts completed calls.
type CallStats struct {
	Calls    int                         `json:"calls"`              // all calls, including canceled and failed ones
	Canceled int                         `json:"canceled,omitempty"` // calls that the caller ended; they do not count as errors
	Errors   map[providers.ErrorKind]int `json:"errors,omitempty"`   // failed calls by kind
	Usage    transcript.Usage            `json:"usage"`              // estimated if a reply has text but no reported usage
	Duration time.Duration               `json:"duration"`           // in nanoseconds, summed over all calls
	// Cost is the cost of Usage, in the currency of the prices. It is nil, and null in JSON, if the price of any used
	// tokens is unknown.
	Cost *float64 `json:"cost"`
	// Unpriced counts the calls that used tokens without a known price.
	Unpriced int `json:"unpriced,omitempty"`
}

// Measure wraps p so that the meter counts its calls. It is a [Middleware].
func (m *Meter) Measure(p providers.Provider) providers.Provider {
	return &wrapped{p, func(ctx context.Context, r providers.Request) (providers.Response, error) {
		l := observeChunks(&r)
		began := time.Now()
		resp, err := p.Generate(ctx, r)
		c := CallStats{Calls: 1, Duration: time.Since(began)}
		model := cmp.Or(resp.Model, r.Model)
		if failed := providers.AsError(err); failed != nil {
			model = cmp.Or(failed.Partial.Model, r.Model)
			if l.callerEnded(ctx) {
				c.Canceled = 1
			} else {
				c.Errors = map[providers.ErrorKind]int{failed.Kind: 1}
			}
		}
		c.Usage = usage(resp, err, r.Messages)
		m.count(model, c)
		return resp, err
	}}
}

// count adds one call.
func (m *Meter) count(model string, c CallStats) {
	money := 0.0
	if c.Usage != (transcript.Usage{}) {
		p, known := m.Prices.Lookup(model)
		if !known {
			c.Unpriced = 1
		}
		money = p.Cost(c.Usage)
	}
	c.Cost = &money
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.models == nil {
		m.models = map[string]*CallStats{}
	}
	if m.models[model] == nil {
		m.models[model] = &CallStats{Cost: new(float64)}
	}
	m.models[model].add(c)
}

// add adds the counts of g. While some prices are unknown, Cost is the sum of the known costs.
func (f *CallStats) add(g CallStats) {
	f.Calls += g.Calls
	f.Canceled += g.Canceled
	f.Usage = f.Usage.Add(g.Usage)
	f.Duration += g.Duration
	*f.Cost += *g.Cost
	f.Unpriced += g.Unpriced
	for kind, n := range g.Errors {
		if f.Errors == nil {
			f.Errors = map[providers.ErrorKind]int{}
		}
		f.Errors[kind] += n
	}
}

// Metrics returns a copy of the current counts.
func (m *Meter) Metrics() Metrics {
	s := Metrics{Total: CallStats{Cost: new(float64)}, Models: map[string]CallStats{}}
	m.mu.Lock()
	defer m.mu.Unlock()
	for model, f := range m.models {
		s.Total.add(*f)
		s.Models[model] = f.withoutPartialCost()
	}
	s.Total = s.Total.withoutPartialCost()
	return s
}

// withoutPartialCost returns a copy of f, with a nil Cost if some calls are unpriced.
func (f *CallStats) withoutPartialCost() CallStats {
	c := *f
	c.Errors = maps.Clone(f.Errors)
	money := *f.Cost
	c.Cost = &money
	if f.Unpriced > 0 {
		c.Cost = nil
	}
	return c
}
