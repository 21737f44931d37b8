package anthropic

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Reasoning. Sources: https://platform.claude.com/docs/en/build-with-claude/extended-thinking,
// https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking and
// https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html

const (
	minBudget = 1024 // tokens of reasoning
	minTopP   = 0.95 // with reasoning
)

// defaultMaxTokens is the token limit of a request that has none, without the tokens for reasoning, because the service
// requires a limit.
const defaultMaxTokens = 2048

// names lists the names of settings in a request. The service has no seed.
var names = wire.Names{Temperature: "temperature", TopP: "top_p", Stop: "stop_sequences"}

// writeSettings writes the settings of a request into its body. A model with adaptive reasoning gets a level as its
// effort, and an older model as a budget, which is less than the token limit. format is that of the reply, or nil.
func writeSettings(body wire.Object, r providers.Request, format wire.Object) {
	names.Write(body, r)
	tokens, v := reasoning.Tokens(r.Reasoning), versionOf(r.Model)
	most := cmp.Or(r.MaxTokens, defaultMaxTokens+tokens)
	body["max_tokens"] = most
	output := wire.Object{}
	switch {
	case r.Reasoning == "", r.Reasoning == reasoning.None && !v.reasons():
	case r.Reasoning == reasoning.None:
		body["thinking"] = wire.Object{"type": "disabled"}
	case !thinksByBudget(r):
		body["thinking"] = wire.Object{"type": "adaptive"}
		output["effort"] = r.Reasoning
	default:
		if reasoning.Budget(r.Reasoning) == 0 && tokens >= most { // the window left less room for the reply
			tokens = most / 2
		}
		if tokens >= minBudget {
			body["thinking"] = wire.Object{"type": "enabled", "budget_tokens": tokens}
		}
	}
	if format != nil {
		output["format"] = format
	}
	if len(output) > 0 {
		body["output_config"] = output
	}
}

// thinksByBudget reports whether a request has reasoning with a budget.
func thinksByBudget(r providers.Request) bool {
	return r.Reasoning != "" && r.Reasoning != reasoning.None && (reasoning.Budget(r.Reasoning) > 0 || !versionOf(r.Model).adaptive())
}

// Unsupported returns the settings that the service or the model does not support.
func (p *Provider) Unsupported(r providers.Request) map[string]string {
	model, found := cmp.Or(r.Model, p.model), map[string]string{}
	if r.Seed != nil {
		found["seed"] = "the service has no seed, remove it"
	}
	if slices.ContainsFunc(r.Stop, func(s string) bool { return strings.TrimSpace(s) == "" }) {
		found["stop"] = "the service refuses blank texts, remove them"
	}
	if reason := prompt.Refused(r, model, refuses); reason != "" {
		found["attachments"] = reason
	}
	v, budget := versionOf(model), reasoning.Budget(r.Reasoning)
	thinks := r.Reasoning != "" && r.Reasoning != reasoning.None
	switch {
	case thinks && !v.reasons():
		found["reasoning"] = fmt.Sprintf("model %s does not reason, remove it or use none", model)
	case budget > 0 && !v.budgets():
		found["reasoning"] = fmt.Sprintf("%d tokens: model %s has no budgets, use low, medium or high", budget, model)
	case budget > 0 && budget < minBudget:
		found["reasoning"] = fmt.Sprintf("%d tokens are too few, use at least %d", budget, minBudget)
	case r.Reasoning == reasoning.None && (strings.Contains(model, "mythos") || strings.Contains(model, "fable")):
		found["reasoning"] = fmt.Sprintf("model %s always reasons, use low", model)
	}
	switch {
	case thinks && r.Temperature != nil && *r.Temperature != 1:
		found["temperature"] = fmt.Sprintf("%v is not possible with reasoning, remove it", *r.Temperature)
	case r.TopP > 0 && r.Temperature != nil && v >= version(4, 1):
		found["temperature"] = fmt.Sprintf("model %s accepts temperature or top_p, remove one", model)
	}
	if thinks && r.TopP > 0 && r.TopP < minTopP {
		found["top_p"] = fmt.Sprintf("%v is too small with reasoning, use %v to 1", r.TopP, minTopP)
	}
	return found
}

// modelVersion is the version of a model. It is 0 if the name does not tell.
type modelVersion int

func version(major, minor int) modelVersion { return modelVersion(100*major + minor) }

// inName finds the version in names such as claude-3-7-sonnet-20250219, claude-sonnet-4-5 and claude-opus-4-20250514.
var inName = regexp.MustCompile(`claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?:\D|$)`)

// versionOf returns the version of a model.
func versionOf(model string) modelVersion {
	m := inName.FindStringSubmatch(model)
	if m == nil {
		return 0
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return version(major, minor)
}

func (v modelVersion) reasons() bool  { return v == 0 || v >= version(3, 7) }
func (v modelVersion) adaptive() bool { return v == 0 || v >= version(4, 6) }
func (v modelVersion) budgets() bool  { return v <= version(4, 6) }

// refuses returns why a model cannot read an attachment and what to do, or the empty string.
func refuses(model string, _ *providers.Attachment) string {
	if v := versionOf(model); v > 0 && v < version(3, 0) {
		return "model " + model + " reads text only, use one of version 3 or later"
	}
	return ""
}
