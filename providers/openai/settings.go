package openai

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// The Responses API has neither seeds nor stop texts.
var (
	chatNames = wire.Names{
		Temperature: "temperature", TopP: "top_p", Seed: "seed", Stop: "stop",
		Penalty: "frequency_penalty", Raised: 0.5,
	}
	responsesNames = wire.Names{Temperature: "temperature", TopP: "top_p"}
)

// effort returns the effort of reasoning that a request sets. Models that never reason accept no effort, not even none.
func effort(r providers.Request) string {
	if r.Reasoning == reasoning.None && neverReasons.MatchString(r.Model) {
		return ""
	}
	return r.Reasoning
}

// Names of OpenAI's own models.
// Sources: https://platform.openai.com/docs/api-reference/chat/create (reasoning_effort, stop) and
// https://platform.openai.com/docs/guides/reasoning
var (
	neverReasons  = regexp.MustCompile(`^(ft:)?(gpt-3|gpt-4|chatgpt-4o|gpt-5-chat)`)
	alwaysReasons = regexp.MustCompile(`^(ft:)?(o1|o3|o4|gpt-5)(-|$)`) // the models before gpt-5.1
	hasNoStop     = regexp.MustCompile(`^(ft:)?(o3|o4-mini)(-|$)`)
)

// maxStops limits the number of stop texts, as OpenAI does.
const maxStops = 4

// separates reports whether the server is taken to be unable to combine tools with a schema. OpenAI's servers can. Groq and
// llama.cpp refuse it, and servers that enforce the schema from the first token suppress calls.
// Sources: https://console.groq.com/docs/structured-outputs and https://github.com/ollama/ollama/issues/8095
func (p *Provider) separates() bool { return !p.official && !p.azure }

// Unsupported returns the settings that the API, the server or the model does not support. It knows OpenAI's own models.
// Of other servers it knows only that they have levels of reasoning, but no budgets.
func (p *Provider) Unsupported(r providers.Request) map[string]string {
	model, found := cmp.Or(r.Model, p.model), map[string]string{}
	if reasoning.Budget(r.Reasoning) > 0 {
		found["reasoning"] = fmt.Sprintf("%s tokens: the API has no budgets for reasoning, use low, medium or high", r.Reasoning)
		if !p.official {
			found["reasoning"] += ", or set the field of your server in Config.Extra"
		}
	}
	if p.responses {
		const instead = "the Responses API has none, remove it or set Config.API to chat"
		if r.Seed != nil {
			found["seed"] = instead
		}
		if len(r.Stop) > 0 {
			found["stop"] = instead
		}
	}
	refuses := p.refuses
	if !p.responses {
		refuses = p.chatRefuses
	}
	if reason := prompt.Refused(r, model, refuses); reason != "" {
		found["attachments"] = reason
	}
	if reason := prompt.NotCombined(r); reason != "" && p.separates() {
		found["schema"] = reason
	}
	if !p.official {
		return found
	}
	switch on := r.Reasoning != "" && r.Reasoning != reasoning.None; {
	case on && neverReasons.MatchString(model):
		found["reasoning"] = fmt.Sprintf("model %s does not reason, remove it or use none", model)
	case r.Reasoning != "" && r.Reasoning != reasoning.High && strings.HasPrefix(model, "gpt-5-pro"):
		found["reasoning"] = fmt.Sprintf("model %s has only high", model)
	case r.Reasoning == reasoning.None && alwaysReasons.MatchString(model) && !neverReasons.MatchString(model):
		found["reasoning"] = fmt.Sprintf("model %s always reasons, use low", model)
	}
	switch {
	case p.responses:
	case len(r.Stop) > 0 && hasNoStop.MatchString(model):
		found["stop"] = fmt.Sprintf("model %s supports no stop texts, remove them", model)
	case len(r.Stop) > maxStops:
		found["stop"] = fmt.Sprintf("%d texts are too many, use at most %d", len(r.Stop), maxStops)
	}
	return found
}

var invalidNameChars = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// schemaName converts the name of a schema to one that OpenAI accepts, with at most 64 characters.
func schemaName(reply string) string {
	name := invalidNameChars.ReplaceAllString(reply, "_")
	return cmp.Or(name[:min(len(name), 64)], "reply")
}
