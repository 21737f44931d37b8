package faulttest

import (
	"context"
	"testing"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
)

// A gate is a model whose calls wait until they are let through, and are counted.
type gate struct {
	model   providers.Provider
	arrived chan struct{}
	pass    chan struct{}
}

func newGate(m providers.Provider) *gate {
	return &gate{model: m, arrived: make(chan struct{}, 100), pass: make(chan struct{}, 100)}
}

// Generate waits until a call may pass.
func (g *gate) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	g.arrived <- struct{}{}
	select {
	case <-g.pass:
	case <-ctx.Done():
		return providers.Response{}, context.Cause(ctx)
	}
	return g.model.Generate(ctx, r)
}

// openGate lets all calls through.
func (g *gate) openGate() {
	for range cap(g.pass) {
		g.pass <- struct{}{}
	}
}

// newTestEngine returns an engine on a store. It is closed when the test ends.
func newTestEngine(t *testing.T, o debate.Options) *debate.Engine {
	t.Helper()
	e := debatetest.Engine(t, o)
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

// drivers lists the ways to drive a debate. Each returns the first error.
var drivers = map[string]func(*testing.T, *debate.Debate) error{
	"Run": func(t *testing.T, d *debate.Debate) error {
		_, err := debatetest.Run(t, d)
		return err
	},
	"RunOnce": func(t *testing.T, d *debate.Debate) error {
		_, err := d.RunOnce(t.Context())
		return err
	},
	"Start": func(t *testing.T, d *debate.Debate) error { return d.Start(t.Context()) },
}
