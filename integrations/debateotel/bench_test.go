package debateotel

import (
	"context"
	"fmt"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// unjudged is a panel without judges.
type unjudged struct{ panel.Protocol }

func (unjudged) Name() string { return "unjudged/1" }

func (unjudged) Check(*protocol.Record) []protocol.Problem { return nil }

func (u unjudged) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage == transcript.Speech {
		return u.Protocol.Phases(r)
	}
	return nil
}

func (unjudged) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

// BenchmarkStep measures a debate of 20 steps, without an observer and with one, and reports the time of a step.
func BenchmarkStep(b *testing.B) {
	exported := sdktrace.NewTracerProvider(sdktrace.WithBatcher(tracetest.NewNoopExporter()))
	metered := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	for _, c := range []struct {
		name string
		of   func() debate.Observer
	}{
		{"no observer", func() debate.Observer { return debate.Observer{} }},
		{"no-op providers", func() debate.Observer { return New(Options{TracerProvider: noop.NewTracerProvider()}).Observer() }},
		{"SDK", func() debate.Observer {
			return New(Options{TracerProvider: exported, MeterProvider: metered}).Observer()
		}},
		{"SDK with texts", func() debate.Observer {
			return New(Options{TracerProvider: exported, MeterProvider: metered, Texts: true}).Observer()
		}},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkSteps(b, c.of()) })
	}
	if err := exported.Shutdown(context.Background()); err != nil {
		b.Fatal(err)
	}
}

func benchmarkSteps(b *testing.B, o debate.Observer) {
	const rounds, words = 10, 200
	speech := ""
	for i := range words {
		speech += fmt.Sprint("word", i, " ")
	}
	e, err := debate.NewEngine(debate.Options{
		Observer:  o,
		Providers: map[string]providers.Provider{"m": &scripted.Provider{DiscardCalls: true, Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: speech, Chunks: 20} }}},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	steps := 0
	for b.Loop() {
		d, err := e.Create(b.Context(), debate.Config{
			Topic: "Ban cars?", Protocol: unjudged{}, Limits: debate.Limits{MaxRounds: rounds},
			Participants: []debate.Participant{{Name: "Ada", Provider: "m"}, {Name: "Bo", Provider: "m"}},
		})
		if err != nil {
			b.Fatal(err)
		}
		for ev, err := range d.Run(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
			if _, ok := ev.(debate.TurnDone); ok {
				steps++
			}
		}
		if err := e.Delete(b.Context(), d.ID()); err != nil {
			b.Fatal(err)
		}
	}
	if steps != 2*rounds*b.N {
		b.Fatalf("%d steps in %d debates", steps, b.N)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
}
