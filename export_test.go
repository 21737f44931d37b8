package debate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/providers"
)

// OpenWithProvider returns a handle on the same debate in another engine, in which every provider is p.
func (d *Debate) OpenWithProvider(t testing.TB, p providers.Provider) *Debate {
	t.Helper()
	e, err := NewEngine(Options{Store: d.engine.store, Providers: map[string]providers.Provider{"m": p, "j": p}})
	require.NoError(t, err)
	other, err := e.Open(t.Context(), d.ID())
	require.NoError(t, err)
	return other
}

// OpenWithCounter returns a handle on the same debate in another engine, which counts tokens with c.
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

// Prompt returns a function that builds the prompt of the next step and returns its number of messages.
func (d *Debate) Prompt(t testing.TB) func() int {
	t.Helper()
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	require.NoError(t, d.journal.refresh(t.Context()))
	return func() int {
		d.journal.rec.planned.seq = -1 // plan the step again, too
		steps := d.journal.rec.next()
		require.NotEmpty(t, steps)
		c, err := d.engine.newExecution(d.journal.rec, steps[0])
		require.NoError(t, err)
		defer c.release()
		return len(c.prompt.messages)
	}
}
