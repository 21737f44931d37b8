// Otel runs a debate and prints its spans as JSON.
//
//	go run . "Ban cars?" > spans.json
//	go run . -texts "Ban cars?" > spans.json
//
// To see the spans in a program such as Jaeger, use an exporter for OTLP instead of stdouttrace.
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a model.
// If none is set, the example uses an offline demo model.
package main

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debateotel"
	"github.com/elenchus-go/debate/providers"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) (err error) {
	texts := p.Flags.Bool("texts", false, "record the topic, prompts and replies too")
	topic, err := p.Topic("Should cities ban cars from their centers?")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(false))
	if err != nil {
		return err
	}
	exporter, err := stdouttrace.New(stdouttrace.WithWriter(p.Stdout), stdouttrace.WithPrettyPrint())
	if err != nil {
		return err
	}
	spans := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
	defer func() { err = errors.Join(err, spans.Shutdown(context.WithoutCancel(ctx))) }()

	telemetry := debateotel.New(debateotel.Options{TracerProvider: spans, Texts: *texts})
	d, err := debate.New(ctx, debate.Config{
		Topic:        topic,
		Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
		Limits:       debate.Limits{MaxRounds: 1},
	}, debate.Options{
		Providers: map[string]providers.Provider{"model": model},
		Observer:  telemetry.Observer(),
	})
	if err != nil {
		return err
	}
	for _, err := range d.Run(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}
