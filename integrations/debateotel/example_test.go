package debateotel_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debateotel"
	"github.com/elenchus-go/debate/providers"
)

// The spans of a debate of one round. In place of the recorder, give the provider of spans an exporter: stdouttrace prints them as JSON,
// and one of the exporters for OTLP sends them to a program such as Jaeger.
func Example() {
	ctx := context.Background()
	recorder := tracetest.NewSpanRecorder()
	spans := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)) // or sdktrace.WithBatcher(exporter)
	defer func() { _ = spans.Shutdown(ctx) }()

	telemetry := debateotel.New(debateotel.Options{TracerProvider: spans}) // with Texts, the topic, prompts and replies, too
	d, err := debate.New(ctx, debate.Config{
		Topic:        "Should tea be free?",
		Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
		Limits:       debate.Limits{MaxRounds: 1},
	}, debate.Options{
		Providers: map[string]providers.Provider{"demo": offline.Model(false)}, // a model stands here
		Observer:  telemetry.Observer(),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range d.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
	}
	for _, span := range slices.Backward(recorder.Ended()) { // a span ends after those within it
		fmt.Println(span.Name())
	}
	// Output:
	// invoke_workflow panel/1
	// debate.phase verdict
	// invoke_agent Judge
	// chat
	// debate.round 1
	// debate.phase assess
	// invoke_agent Judge
	// chat
	// debate.phase respond
	// invoke_agent Bo
	// chat
	// invoke_agent Ada
	// chat
}
