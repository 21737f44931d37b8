package debate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/providers"
)

// OpenWithProvider is a handle on the same debate in another engine, whose providers are all p.
func (d *Debate) OpenWithProvider(t testing.TB, p providers.Provider) *Debate {
	t.Helper()
	e, err := NewEngine(Options{Store: d.engine.store, Providers: map[string]providers.Provider{"m": p, "j": p}})
	require.NoError(t, err)
	other, err := e.Open(t.Context(), d.ID())
	require.NoError(t, err)
	return other
}

// OpenWithCounter is a handle on the same debate in another engine, which counts by c.
func (d *Debate) OpenWithCounter(t testing.TB, c window.TokenCounter) *Debate {
	t.Helper()
	e, err := NewEngine(Options{Store: d.engine.store, Providers: d.engine.providers, TokenCounter: c})
	require.NoError(t, err)
	for _, p := range d.engine.protocols {
		e.addProtocol(p)
	}
	other, err := e.Open(t.Context(), d.ID())
	require.NoError(t, err)
	return other
}

// Prompt makes the prompt of the next step each time that it is called, and says how many messages it has.
func (d *Debate) Prompt(t testing.TB) func() int {
	t.Helper()
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	require.NoError(t, d.journal.refresh(t.Context()))
	return func() int {
		d.journal.rec.planned.seq = -1 // the step is planned anew, too
		steps := d.journal.rec.next()
		require.NotEmpty(t, steps)
		c, err := d.engine.newExecution(d.journal.rec, steps[0])
		require.NoError(t, err)
		defer executionPool.Put(c)
		return len(c.prompt.messages)
	}
}
