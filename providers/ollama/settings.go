package ollama

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Settings. Sources: https://docs.ollama.com/modelfile#valid-parameters-and-values and
// https://docs.ollama.com/capabilities/thinking

var names = wire.Names{Temperature: "temperature", TopP: "top_p", Seed: "seed", Stop: "stop"}

// writeSettings writes the settings of a request into its options, and its reasoning into its body. Only gpt-oss has
// levels of reasoning; other models reason or do not.
func writeSettings(body, options wire.Object, r providers.Request) {
	names.Write(options, r)
	if r.MaxTokens > 0 {
		options["num_predict"] = r.MaxTokens
	}
	switch {
	case r.Reasoning == "":
	case hasLevels(r.Model):
		body["think"] = r.Reasoning
	default:
		body["think"] = r.Reasoning != reasoning.None
	}
}

// hasLevels reports whether a model has levels of reasoning.
func hasLevels(model string) bool {
	return strings.HasPrefix(model[strings.LastIndexByte(model, '/')+1:], "gpt-oss")
}

// Unsupported returns the settings that the server or the model does not support. After [Provider.Check], it knows
// whether the model reasons.
func (p *Provider) Unsupported(r providers.Request) map[string]string {
	model, found := cmp.Or(r.Model, p.model), map[string]string{}
	plain := p.described(model).plain
	switch {
	case r.Reasoning == "":
	case reasoning.Budget(r.Reasoning) > 0:
		found["reasoning"] = fmt.Sprintf("%s tokens: the server has no budgets for reasoning, use low, medium or high", r.Reasoning)
	case r.Reasoning == reasoning.None && hasLevels(model):
		found["reasoning"] = fmt.Sprintf("model %s always reasons, use low", model)
	case r.Reasoning != reasoning.None && plain:
		found["reasoning"] = fmt.Sprintf("model %s does not reason, remove it or use none", model)
	}
	return found
}
