package googleai

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Settings. Sources: https://ai.google.dev/api/generate-content#generationconfig and
// https://ai.google.dev/gemini-api/docs/thinking

// maxStops limits the number of stop texts, as the service does.
const maxStops = 5

var names = wire.Names{
	Temperature: "temperature", TopP: "topP", Seed: "seed", Stop: "stopSequences",
	Penalty: "frequencyPenalty", Raised: 0.5,
}

// writeSettings writes the settings of a request. A model of version 2 gets a level as a budget.
func writeSettings(settings wire.Object, r providers.Request) {
	names.Write(settings, r)
	if r.MaxTokens > 0 {
		settings["maxOutputTokens"] = r.MaxTokens
	}
	m := modelOf(r.Model)
	switch {
	case r.Reasoning == "", r.Reasoning == reasoning.None && !m.reasons():
	case r.Reasoning == reasoning.None:
		settings["thinkingConfig"] = wire.Object{"thinkingBudget": 0}
	case reasoning.Budget(r.Reasoning) == 0 && m.levels():
		settings["thinkingConfig"] = wire.Object{"thinkingLevel": r.Reasoning, "includeThoughts": true}
	default:
		settings["thinkingConfig"] = wire.Object{"thinkingBudget": reasoning.Tokens(r.Reasoning), "includeThoughts": true}
	}
}

// Unsupported returns the settings that the service or the model does not support.
func (p *Provider) Unsupported(r providers.Request) map[string]string {
	model, found := cmp.Or(r.Model, p.model), map[string]string{}
	if r.Seed != nil && (*r.Seed < math.MinInt32 || *r.Seed > math.MaxInt32) {
		found["seed"] = fmt.Sprintf("%d is out of range, use %d to %d", *r.Seed, math.MinInt32, math.MaxInt32)
	}
	if len(r.Stop) > maxStops {
		found["stop"] = fmt.Sprintf("%d texts are too many, use at most %d", len(r.Stop), maxStops)
	}
	if reason := prompt.Refused(r, model, refuses); reason != "" {
		found["attachments"] = reason
	}
	m, budget := modelOf(model), reasoning.Budget(r.Reasoning)
	if reason := prompt.NotCombined(r); reason != "" && !m.combines() {
		found["schema"] = reason
	}
	least, most := m.budgets()
	switch none := r.Reasoning == reasoning.None; {
	case r.Reasoning == "" || none && !m.reasons():
	case !m.reasons():
		found["reasoning"] = fmt.Sprintf("model %s does not reason, remove it or use none", model)
	case none && m.always():
		found["reasoning"] = fmt.Sprintf("model %s always reasons, use low", model)
	case r.Reasoning == reasoning.Medium && strings.HasPrefix(m.name, "gemini-3-pro"):
		found["reasoning"] = fmt.Sprintf("model %s has only low and high", model)
	case budget > 0 && (budget < least || budget > most):
		found["reasoning"] = fmt.Sprintf("%d tokens are out of range for model %s, use %d to %d", budget, model, least, most)
	}
	return found
}

// model describes a model by its name.
type model struct {
	name    string
	version int // such as 205 for 2.5; 0 if the name does not tell
}

var inName = regexp.MustCompile(`^gemini-(\d{1,2})(?:\.(\d{1,2}))?(?:-|$)`)

func modelOf(name string) model {
	name = name[strings.LastIndexByte(name, '/')+1:]
	m := inName.FindStringSubmatch(name)
	if m == nil {
		return model{name: name}
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return model{name, 100*major + minor}
}

func (m model) reasons() bool { return m.version == 0 || m.version >= 205 }

// levels reports whether the model has levels of reasoning. Older ones have budgets. Those with levels require signatures.
func (m model) levels() bool { return m.version == 0 || m.version >= 300 }

// combines reports whether the model can have tools and a schema in one call.
// Source: https://ai.google.dev/gemini-api/docs/structured-output
func (m model) combines() bool { return m.version >= 300 }

// always reports whether the model always reasons.
func (m model) always() bool { return m.version >= 300 || strings.HasPrefix(m.name, "gemini-2.5-pro") }

// budgets returns the smallest and the largest budget of the model.
func (m model) budgets() (least, most int) {
	switch {
	case strings.HasPrefix(m.name, "gemini-2.5-pro"):
		return 128, 32768
	case strings.HasPrefix(m.name, "gemini-2.5-flash-lite"):
		return 512, 24576
	case strings.HasPrefix(m.name, "gemini-2.5-flash"):
		return 1, 24576
	}
	return 1, math.MaxInt
}

// refuses returns why a model cannot read an attachment and what to do, or the empty string.
func refuses(model string, a *providers.Attachment) string {
	m := modelOf(model)
	switch {
	case a.MediaType == "image/gif":
		return "the service reads no GIF, convert it to PNG"
	case a.URL != "" && m.version > 0 && m.version <= 200:
		return "model " + model + " fetches no addresses, give its data instead of its URL"
	case a.MediaType != prompt.PDF && a.MediaType != "image/png" && a.MediaType != "image/jpeg" && a.MediaType != "image/webp":
		return "the service reads PDF, PNG, JPEG and WebP"
	}
	return ""
}
