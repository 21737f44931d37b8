package langchain

import (
	"context"
	"encoding/json"
	"math"
	"regexp"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/providers"
)

// A callOptions holds the options of a call that langchaingo does not pass on, and observes the response. The context of
// the call carries it to the transport.
type callOptions struct {
	prompt   prompt
	params   map[setting]any // the settings that are set; the others are not sent
	schema   json.RawMessage
	name     string // the name of the schema
	observer responseObserver
}

// setting identifies a setting independently of the service.
type setting string

// The settings that langchaingo drops for some services, or sends although they are not set.
const (
	temperature setting = "temperature"
	topP        setting = "top_p"
	topK        setting = "top_k"
	seed        setting = "seed"
	stop        setting = "stop"
)

type callOptionsKey struct{}

// withContext returns a context that carries w.
func (w *callOptions) withContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, callOptionsKey{}, w)
}

// callOptionsFrom returns the options that ctx carries, or nil if there are none.
func callOptionsFrom(ctx context.Context) *callOptions {
	w, _ := ctx.Value(callOptionsKey{}).(*callOptions)
	return w
}

// unsetInt marks an integer option that is not set. Nobody uses it as a value.
const unsetInt = math.MinInt32

// newCallOptions returns the options of a request. They override the provider's options.
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

// schemaName converts the name of a schema to one that OpenAI accepts, with at most 64 characters.
func schemaName(reply string) string {
	name := invalidNameChars.ReplaceAllString(reply, "_")
	if name == "" {
		return "reply"
	}
	return name[:min(len(name), 64)]
}
