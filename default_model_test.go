package debate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
	"github.com/elenchus-go/debate/providers/googleai"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/providers/mistral"
	"github.com/elenchus-go/debate/providers/ollama"
	"github.com/elenchus-go/debate/providers/openai"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
)

// preset is a provider with a default model.
type preset struct {
	scripted.Provider

	model string
}

func (p *preset) DefaultModel() string { return p.model }

// A limit of cost needs the price of each model. It knows that of a provider's default model, which the debate stores.
func TestALimitOfCostKnowsTheDefaultModel(t *testing.T) {
	prices := price.Prices{"small-1": {Input: 1, Output: 2}}
	for name, tt := range map[string]struct {
		provider providers.Provider
		edit     func(*debate.Config)
		model    string // that is stored
		problem  string
	}{
		"with a price": {provider: &preset{model: "small-1"}, model: "small-1"},
		"a gate": {
			provider: &preset{model: "small-1"}, model: "small-1",
			edit: func(c *debate.Config) { c.Limits.Cost, c.AskAboveCost = 0, 1 },
		},
		"wrapped":         {provider: middleware.Wrap(&preset{model: "small-1"}, middleware.Concurrency(1)), model: "small-1"},
		"without a price": {provider: &preset{model: "large-1"}, problem: `participants[0].model: "large-1" has no price`},
		"not known":       {provider: &preset{}, problem: "participants[0].model: the default model of the provider has no price"},
		"it does not say": {provider: &scripted.Provider{}, problem: "the default model of the provider has no price"},
		"wrapped, and blind": {
			provider: middleware.Wrap(&scripted.Provider{}, middleware.Concurrency(1)),
			problem:  "the default model of the provider has no price",
		},
		"no limit": {provider: &preset{model: "large-1"}, edit: func(c *debate.Config) { c.Limits.Cost = 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			c := debatetest.ShortPanel(1)
			c.Topic, c.Prices, c.Limits.Cost = "Ban cars?", prices, 10
			if tt.edit != nil {
				tt.edit(&c)
			}
			d, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"m": tt.provider}})
			if tt.problem != "" {
				require.ErrorContains(t, err, tt.problem)
				return
			}
			require.NoError(t, err)
			stored := storedConfig(t, d)
			for _, p := range append(stored.Participants, stored.Judges...) {
				require.Equal(t, tt.model, p.Model)
			}
			require.Equal(t, tt.model, stored.Summarizer.Model)
		})
	}
}

func TestProvidersTellTheirDefaultModels(t *testing.T) {
	made := func(p providers.Provider, err error) providers.Provider {
		require.NoError(t, err)
		return p
	}
	for name, p := range map[string]providers.Provider{
		"openai":    made(openai.New(openai.Config{Key: "k", Model: "m"})),
		"anthropic": made(anthropic.New(anthropic.Config{Key: "k", Model: "m"})),
		"google":    made(googleai.New(googleai.Config{Key: "k", Model: "m"})),
		"mistral":   made(mistral.New(mistral.Config{Key: "k", Model: "m"})),
		"ollama":    made(ollama.New(ollama.Config{Model: "m"})),
	} {
		known, ok := p.(providers.Defaulted)
		require.True(t, ok, name)
		require.Equal(t, "m", known.DefaultModel(), name)
	}
}
