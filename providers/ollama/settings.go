package ollama

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Settings. Sources: https://docs.ollama.com/modelfile#valid-parameters-and-values and
// https://docs.ollama.com/capabilities/thinking

var names = wire.Names{
	Temperature: "temperature", TopP: "top_p", Seed: "seed", Stop: "stop",
	Penalty: "repeat_penalty", Raised: 1.3, // the server's own is 1.1
}

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
// whether the model reasons, reads images and calls tools.
func (p *Provider) Unsupported(r providers.Request) map[string]string {
	model, found := cmp.Or(r.Model, p.model), map[string]string{}
	if reason := prompt.Refused(r, model, p.refuses); reason != "" {
		found["attachments"] = reason
	}
	if reason := prompt.NotCombined(r); reason != "" {
		found["schema"] = reason
	}
	known := p.described(model)
	if len(r.Tools) > 0 && known.idle {
		found["tools"] = "model " + model + " calls no tools, use one with tools, such as qwen3"
	}
	switch {
	case r.Reasoning == "":
	case reasoning.Budget(r.Reasoning) > 0:
		found["reasoning"] = fmt.Sprintf("%s tokens: the server has no budgets for reasoning, use low, medium or high", r.Reasoning)
	case r.Reasoning == reasoning.None && hasLevels(model):
		found["reasoning"] = fmt.Sprintf("model %s always reasons, use low", model)
	case r.Reasoning != reasoning.None && known.plain:
		found["reasoning"] = fmt.Sprintf("model %s does not reason, remove it or use none", model)
	}
	return found
}

// refuses returns why a model cannot read an attachment and what to do, or the empty string.
// Source: https://docs.ollama.com/capabilities/vision
func (p *Provider) refuses(model string, a *providers.Attachment) string {
	switch {
	case a.MediaType == prompt.PDF:
		return "the server reads no PDF, give its text as the background of the debate, or its pages as images"
	case a.URL != "":
		return "the server fetches no addresses, give its data instead of its URL"
	case p.described(model).blind:
		return "model " + model + " reads text only, use a model with vision, such as qwen3-vl"
	}
	return ""
}
