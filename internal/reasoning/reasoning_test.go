package reasoning_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/reasoning"
)

func TestSettings(t *testing.T) {
	for setting, want := range map[string]struct {
		tokens, budget int
		wrong          bool
	}{
		"":        {},
		"none":    {},
		"low":     {tokens: 2048},
		"medium":  {tokens: 8192},
		"high":    {tokens: 16384},
		"1":       {1, 1, false},
		"2048":    {2048, 2048, false},
		"1000000": {1_000_000, 1_000_000, false},
		"1000001": {wrong: true},
		"0":       {wrong: true},
		"-1":      {wrong: true},
		"+5":      {wrong: true},
		"02048":   {wrong: true},
		"2e3":     {wrong: true},
		"High":    {wrong: true},
		" low":    {wrong: true},
		"minimal": {wrong: true},
	} {
		require.Equal(t, want.wrong, reasoning.Check(setting) != "", setting)
		require.Equal(t, want.tokens, reasoning.Tokens(setting), setting)
		require.Equal(t, want.budget, reasoning.Budget(setting), setting)
	}
	require.Equal(t, `"much" is not valid, use "none", "low", "medium", "high", or a budget of 1 to 1000000 tokens, such as "2048"`, reasoning.Check("much"))
}
