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

// Meter counts the calls of all providers that it measures. Set its prices before the first one. It is safe for
// concurrent use, and must not be copied.
type Meter struct {
	// Prices are those of the models. There are none by default.
	Prices price.Prices

	mu     sync.Mutex
	models map[string]*CallStats
}

// Metrics is what a meter has counted until now.
type Metrics struct {
	Total CallStats `json:"total"`
	// Models are by the name that the response gave, else that of the request; empty where neither has one.
	Models map[string]CallStats `json:"models"`
}

// CallStats count calls that have ended.
type CallStats struct {
	Calls    int                         `json:"calls"`
	Canceled int                         `json:"canceled,omitempty"` // of Calls, those that the caller ended: they are no errors
	Errors   map[providers.ErrorKind]int `json:"errors,omitempty"`   // of Calls, those that failed, by kind
	Usage    transcript.Usage            `json:"usage"`              // estimated where text came without a report
	Duration time.Duration               `json:"duration"`           // in nanoseconds; of calls at the same time the sum
	// Cost is what the usage costs. It is nil, and null in JSON, where the price of a part is not known: a cost that
	// leaves something out is not one.
	Cost *float64 `json:"cost"`
	// Unpriced is how many calls used tokens whose price is not known.
	Unpriced int `json:"unpriced,omitempty"`
}

// Measure is a [Middleware] that counts the calls of p.
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

// add counts what another one has; its Money includes what is known while some is not.
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

// Metrics is what has been counted until now. It shares nothing with the meter.
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

// withoutPartialCost is a copy without a cost that is not whole.
func (f *CallStats) withoutPartialCost() CallStats {
	c := *f
	c.Errors = maps.Clone(f.Errors)
	money := *f.Cost
	if c.Cost = &money; f.Unpriced > 0 {
		c.Cost = nil
	}
	return c
}
