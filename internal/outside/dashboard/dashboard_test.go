// Package dashboard shows with Prometheus itself that each query of debateotel's dashboard for Grafana finds data.
package dashboard

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	prometheusclient "github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/teststorage"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// query is an expression of a panel.
type query struct{ panel, expr string }

// queries returns the expressions of the dashboard, with values for Grafana's variables.
func queries(t *testing.T) (list []query) {
	raw, err := os.ReadFile("../../../integrations/debateotel/grafana.json")
	require.NoError(t, err)
	var d struct {
		Panels []struct {
			Title, Type string
			Targets     []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(raw, &d))
	values := strings.NewReplacer("$__rate_interval", "5m", "$provider", ".*")
	for _, p := range d.Panels {
		if p.Type != "row" {
			require.NotEmpty(t, p.Targets, p.Title)
		}
		for _, target := range p.Targets {
			list = append(list, query{p.Title, values.Replace(target.Expr)})
		}
	}
	return list
}

// exported runs debates and returns their metrics as Prometheus gets them.
func exported(t *testing.T) []*dto.MetricFamily {
	registry := prometheusclient.NewRegistry()
	exporter, err := prometheus.New(prometheus.WithRegisterer(registry))
	require.NoError(t, err)
	runDebates(t, sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter)))
	families, err := registry.Gather()
	require.NoError(t, err)
	return families
}

func TestEachQueryFindsData(t *testing.T) {
	families := exported(t)
	const minutes = 5
	db := teststorage.New(t)
	for minute := range int64(minutes) { // the values grow from 0, as in a process that has just begun
		appender := db.Appender(t.Context())
		for _, f := range families {
			add(t, appender, f, minute*60_000, float64(minute)/(minutes-1))
		}
		require.NoError(t, appender.Commit())
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: time.Minute})
	for _, q := range queries(t) {
		t.Run(q.panel, func(t *testing.T) {
			found := evaluate(t, engine, db, q.expr, time.UnixMilli((minutes-1)*60_000))
			require.NotEmpty(t, found, "no data: %s", q.expr)
			for _, s := range found {
				require.Greater(t, s.F, 0.0, "%s", q.expr)
				s.Metric.Range(func(l labels.Label) { require.NotEmpty(t, l.Value, l.Name) })
			}
		})
	}
}

// The page for operators names metrics and labels that exist.
func TestOperatorsReadNamesThatExist(t *testing.T) {
	known := map[string]bool{}
	for _, f := range exported(t) {
		known[f.GetName()] = true
		known[f.GetName()+"_count"] = true
		known[f.GetName()+"_sum"] = true
		known[f.GetName()+"_bucket"] = true
		for _, m := range f.Metric {
			for _, l := range m.Label {
				known[l.GetName()] = true
			}
		}
	}
	page, err := os.ReadFile("../../../docs/production.md")
	require.NoError(t, err)
	names := regexp.MustCompile(`\b(gen_ai|debate|error)_[a-z_]+`).FindAllString(string(page), -1)
	require.NotEmpty(t, names)
	for _, name := range names {
		require.True(t, known[name], "%s is no metric and no label", name)
	}
}

func evaluate(t *testing.T, engine *promql.Engine, db storage.Queryable, expr string, at time.Time) promql.Vector {
	q, err := engine.NewInstantQuery(context.Background(), db, nil, expr, at)
	require.NoError(t, err, expr)
	defer q.Close()
	r := q.Exec(t.Context())
	require.NoError(t, r.Err, expr)
	v, err := r.Vector()
	require.NoError(t, err, expr)
	return append(promql.Vector(nil), v...)
}

// add stores the share of each value of a family of metrics.
func add(t *testing.T, to storage.Appender, f *dto.MetricFamily, at int64, share float64) {
	store := func(name string, m *dto.Metric, value float64, extra ...string) {
		pairs := append([]string{labels.MetricName, name}, extra...)
		for _, l := range m.Label {
			pairs = append(pairs, l.GetName(), l.GetValue())
		}
		_, err := to.Append(0, labels.FromStrings(pairs...), at, share*value)
		require.NoError(t, err)
	}
	for _, m := range f.Metric {
		switch f.GetType() {
		case dto.MetricType_COUNTER:
			store(f.GetName(), m, m.Counter.GetValue())
		case dto.MetricType_HISTOGRAM:
			store(f.GetName()+"_count", m, float64(m.Histogram.GetSampleCount()))
			store(f.GetName()+"_sum", m, m.Histogram.GetSampleSum())
			for _, b := range m.Histogram.Bucket {
				store(f.GetName()+"_bucket", m, float64(b.GetCumulativeCount()), "le", trim(b.GetUpperBound()))
			}
			store(f.GetName()+"_bucket", m, float64(m.Histogram.GetSampleCount()), "le", "+Inf")
		}
	}
}

// trim returns a number as Prometheus writes it.
func trim(v float64) string { raw, _ := json.Marshal(v); return string(raw) }
