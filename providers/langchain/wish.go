package langchain

import (
	"context"
	"encoding/json"
	"math"
	"regexp"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/providers"
)

// A wish is what a call asks for beyond what langchaingo passes on, and the sight of its answer. It travels in the
// context of the call to the transport.
type wish struct {
	prompt prompt
	params map[param]any // that are set; the others are not sent
	schema json.RawMessage
	name   string // of the schema
	sight  sight
}

// param is a setting by what it means, whatever a service calls it.
type param string

// The settings that langchaingo drops for some service, or sends though nobody set them.
const (
	temperature param = "temperature"
	topP        param = "top_p"
	topK        param = "top_k"
	seed        param = "seed"
	stop        param = "stop"
)

type wishKey struct{}

// in is ctx with the wish.
func (w *wish) in(ctx context.Context) context.Context { return context.WithValue(ctx, wishKey{}, w) }

// wishIn is the wish of a call, nil where there is none.
func wishIn(ctx context.Context) *wish {
	w, _ := ctx.Value(wishKey{}).(*wish)
	return w
}

// unset is no seed, and no number of candidates, that anybody asks for.
const unset = math.MinInt32

// wishOf is what a request with a prompt asks for, of a provider with options of its own.
func wishOf(options []llms.CallOption, asked prompt, r providers.Request) *wish {
	o := llms.CallOptions{Temperature: math.NaN(), TopP: math.NaN(), TopK: unset, Seed: unset}
	for _, option := range options {
		option(&o)
	}
	if r.Temperature != nil {
		o.Temperature = *r.Temperature
	}
	w := &wish{prompt: asked, params: map[param]any{}, schema: r.Schema, name: schemaName(r.Reply)}
	for p, v := range map[param]float64{temperature: o.Temperature, topP: o.TopP} {
		if !math.IsNaN(v) {
			w.params[p] = v
		}
	}
	for p, v := range map[param]int{topK: o.TopK, seed: o.Seed} {
		if v != unset {
			w.params[p] = v
		}
	}
	if len(o.StopWords) > 0 {
		w.params[stop] = o.StopWords
	}
	return w
}

var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// schemaName is a name that OpenAI takes, of at most 64 characters.
func schemaName(reply string) string {
	name := notInNames.ReplaceAllString(reply, "_")
	if name == "" {
		return "reply"
	}
	return name[:min(len(name), 64)]
}
