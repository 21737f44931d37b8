package dashboard

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debateotel"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// runDebates runs a debate with documents, which one call delays by an error, and one that stops in an error.
func runDebates(t *testing.T, meters metric.MeterProvider) {
	failed := false
	observe := debateotel.New(debateotel.Options{MeterProvider: meters}).Observer()
	cfg := enginetest.PresetConfigs()["skeptic"]
	cfg.Prices = price.Prices{"known": {Input: 1, Output: 2}}
	for i := range cfg.Participants {
		cfg.Participants[i].Model = "known"
	}
	run(t, observe, cfg, func(r providers.Request) error {
		if !failed && r.Model == "known" {
			failed = true
			return &providers.Error{Kind: providers.ServerError, RetryAfter: 1}
		}
		return nil
	})
	run(t, observe, cfg, func(providers.Request) error {
		return &providers.Error{Kind: providers.Authentication, Err: errors.New("wrong key")}
	})
}

func run(t *testing.T, observe debate.Observer, cfg debate.Config, fail func(providers.Request) error) {
	ask := func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if err := fail(r); err != nil {
			return providers.Response{}, err
		}
		resp, err := (&scripted.Provider{Func: func(r providers.Request) scripted.Reply {
			return scripted.Reply{Text: enginetest.PresetReply(cfg, r), Chunks: 2}
		}}).Generate(ctx, r)
		resp.Usage = transcript.Usage{Input: 100, Cached: 40, Written: 10, Output: 20, Reasoning: 5}
		return resp, err
	}
	d, err := debate.New(t.Context(), cfg, debate.Options{Providers: map[string]providers.Provider{"m": function(ask)}, Observer: observe})
	require.NoError(t, err)
	for _, err := range d.Run(t.Context()) {
		if err != nil {
			break
		}
	}
}

// function is a provider that is a function.
type function func(context.Context, providers.Request) (providers.Response, error)

func (f function) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return f(ctx, r)
}
