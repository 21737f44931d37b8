package debate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

// In is a handle on the same debate in another engine, whose providers are all p.
func (d *Debate) In(t testing.TB, p providers.Provider) *Debate {
	t.Helper()
	e, err := NewEngine(Options{Store: d.engine.store, Providers: map[string]providers.Provider{"m": p, "j": p}})
	require.NoError(t, err)
	other, err := e.Open(t.Context(), d.id)
	require.NoError(t, err)
	return other
}
