package langchain

import (
	"maps"
	"reflect"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/adapter"
)

// dropped lists the settings that models of langchaingo 0.1.14 drop, by the last element of their package's path.
var dropped = map[string][]string{
	"openai":    {"top_p"},
	"anthropic": {"seed"},
	"bedrock":   {"seed"},
	"googleai":  {"seed"},
	"vertex":    {"seed"},
	"mistral":   {"stop", "top_p"},
	"cohere":    {"seed", "stop", "top_p"},
}

// Unsupported returns the settings that langchaingo has no option for, and those that it is known to drop for the model.
func (p *Provider) Unsupported(r providers.Request) map[string]string {
	found := map[string]string{}
	if r.Reasoning != "" {
		found["reasoning"] = "langchaingo has no such setting for all models, pass the option of the model to langchain.New"
	}
	maps.Copy(found, (&adapter.Provider{}).Unsupported(providers.Request{Messages: r.Messages, Tools: r.Tools})) // attachments and tools
	set := map[string]bool{"seed": r.Seed != nil, "stop": len(r.Stop) > 0, "top_p": r.TopP > 0}
	path := packageOf(p.model)
	for _, name := range dropped[path[strings.LastIndexByte(path, '/')+1:]] {
		if set[name] && strings.HasPrefix(path, "github.com/tmc/langchaingo/llms/") {
			found[name] = "langchaingo drops it for this model, remove it"
		}
	}
	return found
}

// packageOf returns the path of the package of a model's type.
func packageOf(m llms.Model) string {
	t := reflect.TypeOf(m)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}
