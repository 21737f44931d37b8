package debateotel

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
)

// collect returns the data of the metrics by name.
func collect(t *testing.T, r *recorder) map[string]metricdata.Aggregation {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, r.reader.Collect(t.Context(), &all))
	found := map[string]metricdata.Aggregation{}
	for _, s := range all.ScopeMetrics {
		require.Equal(t, schemaURL, s.Scope.SchemaURL)
		for _, m := range s.Metrics {
			found[m.Name] = m.Data
		}
	}
	return found
}

// The metrics of a debate in which one call failed.
func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := newRecorder(Options{}), &model{cfg: enginetest.PresetConfigs()["skeptic"]}
		m.act = func(_ context.Context, s debate.Step) error {
			if s.Key.Actor == "A" && s.Key.Round == 1 && s.Number == 1 {
				return &providers.Error{Kind: providers.ServerError}
			}
			return nil
		}
		_, d := start(t, r, m, nil)
		debatetest.Finish(t, d)
		var b strings.Builder
		found := collect(t, r)
		for _, name := range slices.Sorted(maps.Keys(found)) {
			for _, line := range points(found[name]) {
				fmt.Fprintln(&b, name, line)
			}
		}
		golden.Require(t, "testdata/metrics.txt", b.String())
	})
}

// points returns the number of values or the sum of each data point, with its attributes.
func points(data metricdata.Aggregation) (list []string) {
	attributes := func(s attribute.Set) string { return s.Encoded(attribute.DefaultEncoder()) }
	switch data := data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			list = append(list, fmt.Sprintf("%d values %s", p.Count, attributes(p.Attributes)))
		}
	case metricdata.Histogram[int64]:
		for _, p := range data.DataPoints {
			list = append(list, fmt.Sprintf("%d values, sum %d %s", p.Count, p.Sum, attributes(p.Attributes)))
		}
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			list = append(list, fmt.Sprintf("sum %d %s", p.Value, attributes(p.Attributes)))
		}
	}
	slices.Sort(list)
	return list
}

// Tokens that no service has reported are not counted.
func TestEstimatedTokensAreNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(Options{})
		cfg := pair()
		_, d := start(t, r, &model{cfg: cfg}, func(o *debate.Options) {
			o.Providers["m"] = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
				return scripted.Reply{Text: enginetest.PresetReply(cfg, r)}
			}}
		})
		debatetest.Finish(t, d)
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
		require.Contains(t, collect(t, r), metricInference)
		require.NotContains(t, collect(t, r), metricInputTokens)
		require.Equal(t, "true", find(r.trees(t), operationChat)[0].attr(keyEstimated))
	})
}

// The metric of costs is the cost in the debate's usage, failed calls and calls for documents included.
func TestCostsAndOutcomes(t *testing.T) {
	refuse := func(_ context.Context, s debate.Step) error {
		if s.Key.Actor == "B" {
			return &providers.Error{Kind: providers.Authentication}
		}
		return nil
	}
	for name, c := range map[string]struct {
		act  func(context.Context, debate.Step) error
		want []string
	}{
		"completed": {nil, []string{"sum 1 debate.outcome=round_limit"}},
		"error":     {refuse, []string{"sum 1 debate.outcome=error,error.type=authentication"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, m := newRecorder(Options{}), &model{cfg: enginetest.PresetConfigs()["skeptic"], act: c.act}
				m.cfg.Prices = price.Prices{"default-2026": {Input: 3, Output: 4}}
				_, d := start(t, r, m, nil)
				for _, err := range d.Run(t.Context()) {
					if err != nil {
						break
					}
				}
				found := collect(t, r)
				require.Equal(t, c.want, points(found[metricOutcomes]))
				status, err := d.Status(t.Context())
				require.NoError(t, err)
				spent := status.Usage.Cost
				require.Positive(t, spent)
				sum := 0.0
				for _, p := range found[metricCost].(metricdata.Sum[float64]).DataPoints {
					sum += p.Value
				}
				require.InDelta(t, spent, sum, 1e-12)
			})
		})
	}
}
