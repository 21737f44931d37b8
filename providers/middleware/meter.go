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
	models map[string]*Figures
}

// Snapshot is what a meter has counted until now.
type Snapshot struct {
	Total Figures `json:"total"`
	// Models are by the name that the response gave, else that of the request; empty where neither has one.
	Models map[string]Figures `json:"models"`
}

// Figures count calls that have ended.
type Figures struct {
	Calls  int                    `json:"calls"`
	Ended  int                    `json:"ended,omitempty"`  // of Calls, those that the caller ended: they are no errors
	Errors map[providers.Kind]int `json:"errors,omitempty"` // of Calls, those that failed, by kind
	Usage  transcript.Usage       `json:"usage"`            // estimated where text came without a report
	Time   time.Duration          `json:"time"`             // in nanoseconds; of calls at the same time the sum
	// Money is what the usage costs. It is nil, and null in JSON, where the price of a part is not known: a cost that
	// leaves something out is not one.
	Money *float64 `json:"money"`
	// Unpriced is how many calls used tokens whose price is not known.
	Unpriced int `json:"unpriced,omitempty"`
}

// Measure is a [Middleware] that counts the calls of p.
func (m *Meter) Measure(p providers.Provider) providers.Provider {
	return &wrapped{p, func(ctx context.Context, r providers.Request) (providers.Response, error) {
		l := listen(&r)
		began := time.Now()
		resp, err := p.Generate(ctx, r)
		c := Figures{Calls: 1, Time: time.Since(began)}
		model := cmp.Or(resp.Model, r.Model)
		if failed := providers.AsError(err); failed != nil {
			model = cmp.Or(failed.Partial.Model, r.Model)
			if l.ended(ctx) {
				c.Ended = 1
			} else {
				c.Errors = map[providers.Kind]int{failed.Kind: 1}
			}
		}
		c.Usage = usage(resp, err, r.Messages)
		m.count(model, c)
		return resp, err
	}}
}

// count adds one call.
func (m *Meter) count(model string, c Figures) {
	money := 0.0
	if c.Usage != (transcript.Usage{}) {
		p, known := m.Prices.Of(model)
		if !known {
			c.Unpriced = 1
		}
		money = p.Cost(c.Usage)
	}
	c.Money = &money
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.models == nil {
		m.models = map[string]*Figures{}
	}
	if m.models[model] == nil {
		m.models[model] = &Figures{Money: new(float64)}
	}
	m.models[model].add(c)
}

// add counts what another one has; its Money includes what is known while some is not.
func (f *Figures) add(g Figures) {
	f.Calls += g.Calls
	f.Ended += g.Ended
	f.Usage = f.Usage.Add(g.Usage)
	f.Time += g.Time
	*f.Money += *g.Money
	f.Unpriced += g.Unpriced
	for kind, n := range g.Errors {
		if f.Errors == nil {
			f.Errors = map[providers.Kind]int{}
		}
		f.Errors[kind] += n
	}
}

// Snapshot is what has been counted until now. It shares nothing with the meter.
func (m *Meter) Snapshot() Snapshot {
	s := Snapshot{Total: Figures{Money: new(float64)}, Models: map[string]Figures{}}
	m.mu.Lock()
	defer m.mu.Unlock()
	for model, f := range m.models {
		s.Total.add(*f)
		s.Models[model] = f.shown()
	}
	s.Total = s.Total.shown()
	return s
}

// shown is a copy without a cost that is not whole.
func (f *Figures) shown() Figures {
	c := *f
	c.Errors = maps.Clone(f.Errors)
	money := *f.Money
	if c.Money = &money; f.Unpriced > 0 {
		c.Money = nil
	}
	return c
}
