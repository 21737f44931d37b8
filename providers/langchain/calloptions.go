package langchain

import (
	"context"
	"encoding/json"
	"math"
	"regexp"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/providers"
)

// A callOptions is what a call asks for beyond what langchaingo passes on, and the sight of its answer. It travels in the
// context of the call to the transport.
type callOptions struct {
	prompt   prompt
	params   map[setting]any // that are set; the others are not sent
	schema   json.RawMessage
	name     string // of the schema
	observer responseObserver
}

// setting is a setting by what it means, whatever a service calls it.
type setting string

// The settings that langchaingo drops for some service, or sends though nobody set them.
const (
	temperature setting = "temperature"
	topP        setting = "top_p"
	topK        setting = "top_k"
	seed        setting = "seed"
	stop        setting = "stop"
)

type callOptionsKey struct{}

// withContext is ctx with the wish.
func (w *callOptions) withContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, callOptionsKey{}, w)
}

// callOptionsFrom is the wish of a call, nil where there is none.
func callOptionsFrom(ctx context.Context) *callOptions {
	w, _ := ctx.Value(callOptionsKey{}).(*callOptions)
	return w
}

// unsetInt is no seed, and no number of candidates, that anybody asks for.
const unsetInt = math.MinInt32

// newCallOptions is what a request with a prompt asks for, of a provider with options of its own.
func newCallOptions(options []llms.CallOption, asked prompt, r providers.Request) *callOptions {
	o := llms.CallOptions{Temperature: math.NaN(), TopP: math.NaN(), TopK: unsetInt, Seed: unsetInt}
	for _, option := range options {
		option(&o)
	}
	if r.Temperature != nil {
		o.Temperature = *r.Temperature
	}
	w := &callOptions{prompt: asked, params: map[setting]any{}, schema: r.Schema, name: schemaName(r.SchemaName)}
	for p, v := range map[setting]float64{temperature: o.Temperature, topP: o.TopP} {
		if !math.IsNaN(v) {
			w.params[p] = v
		}
	}
	for p, v := range map[setting]int{topK: o.TopK, seed: o.Seed} {
		if v != unsetInt {
			w.params[p] = v
		}
	}
	if len(o.StopWords) > 0 {
		w.params[stop] = o.StopWords
	}
	return w
}

var invalidNameChars = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// schemaName is a name that OpenAI takes, of at most 64 characters.
func schemaName(reply string) string {
	name := invalidNameChars.ReplaceAllString(reply, "_")
	if name == "" {
		return "reply"
	}
	return name[:min(len(name), 64)]
}
