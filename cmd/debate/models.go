package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/acp"
	"github.com/elenchus-go/debate/providers/anthropic"
	"github.com/elenchus-go/debate/providers/googleai"
	"github.com/elenchus-go/debate/providers/mistral"
	"github.com/elenchus-go/debate/providers/ollama"
	"github.com/elenchus-go/debate/providers/openai"
)

// providerKind is a service with models.
type providerKind struct {
	name        string
	envVar      string                                                                      // environment variable with the key or the host; if it is set, the kind can be the default
	envRequired bool                                                                        // the service needs envVar
	addressVar  string                                                                      // environment variable with the address of the service
	model       string                                                                      // default model
	open        func(m providerConfig, env func(string) string) (providers.Provider, error) // m.Model is not empty
}

// defaultNumCtx is the context window of Ollama's models in tokens, if the configuration names none. A debate plans for it, or
// for the model's own maximum if that is smaller.
const defaultNumCtx = 16_384

// providerKinds lists the services. The first one whose envVar is set is the default.
var providerKinds = []providerKind{
	{"openai", "OPENAI_API_KEY", true, "OPENAI_BASE_URL", "gpt-4.1-mini", func(m providerConfig, env func(string) string) (providers.Provider, error) {
		return openai.New(openai.Config{Key: env("OPENAI_API_KEY"), BaseURL: env("OPENAI_BASE_URL"), Model: m.Model})
	}},
	{"anthropic", "ANTHROPIC_API_KEY", true, "ANTHROPIC_BASE_URL", "claude-sonnet-4-5", func(m providerConfig, env func(string) string) (providers.Provider, error) {
		return anthropic.New(anthropic.Config{Key: env("ANTHROPIC_API_KEY"), BaseURL: env("ANTHROPIC_BASE_URL"), Model: m.Model})
	}},
	{"mistral", "MISTRAL_API_KEY", true, "MISTRAL_BASE_URL", "mistral-medium-latest", func(m providerConfig, env func(string) string) (providers.Provider, error) {
		return mistral.New(mistral.Config{Key: env("MISTRAL_API_KEY"), BaseURL: env("MISTRAL_BASE_URL"), Model: m.Model})
	}},
	{"google", "GEMINI_API_KEY", true, "GEMINI_BASE_URL", "gemini-2.5-flash", func(m providerConfig, env func(string) string) (providers.Provider, error) {
		return googleai.New(googleai.Config{Key: env("GEMINI_API_KEY"), BaseURL: env("GEMINI_BASE_URL"), Model: m.Model})
	}},
	{"openrouter", "OPENROUTER_API_KEY", true, "OPENROUTER_BASE_URL", "openai/gpt-4.1-mini", func(m providerConfig, env func(string) string) (providers.Provider, error) {
		return openai.New(openai.Config{Key: env("OPENROUTER_API_KEY"), BaseURL: cmp.Or(env("OPENROUTER_BASE_URL"), "https://openrouter.ai/api/v1"), Model: m.Model})
	}},
	{ollamaKind, "OLLAMA_HOST", false, "OLLAMA_HOST", "llama3.2", func(m providerConfig, env func(string) string) (providers.Provider, error) {
		return ollama.New(ollama.Config{BaseURL: ollamaURL(env("OLLAMA_HOST")), Model: m.Model, NumCtx: cmp.Or(m.NumCtx, defaultNumCtx)})
	}},
}

// assignProviders sets the provider of all participants, judges and substitutes that name none, so that a stored debate
// records its providers. It uses the only provider of the file or, if the file has none, the default kind or other.
func (p *program) assignProviders(s configFile, c *debate.Config, other string) {
	var name string
	switch len(s.providers) {
	case 0:
		name = cmp.Or(p.defaultKind(), other)
	case 1:
		name = sortedKeys(s.providers)[0]
	}
	for _, list := range [][]debate.Participant{c.Participants, c.Judges, c.Substitutes} {
		for i := range list {
			if !list[i].Human {
				list[i].Provider = cmp.Or(list[i].Provider, name)
			}
		}
	}
}

// nameModels sets the model of all actors that name none, so that a stored debate keeps its models if the environment or
// the configuration file changes.
func nameModels(c *debate.Config, models map[string]string) {
	for _, list := range [][]debate.Participant{c.Participants, c.Judges, c.Substitutes} {
		for i := range list {
			if !list[i].Human {
				list[i].Model = cmp.Or(list[i].Model, models[list[i].Provider])
			}
		}
	}
}

// configuredModels returns those models of providers that the configuration file or the environment names. The others are
// defaults, and no reason to change a debate.
func (p *program) configuredModels(s configFile, models map[string]string) map[string]string {
	named := map[string]string{}
	for name, model := range models {
		kind := cmp.Or(s.providers[name].Kind, name)
		if s.providers[name].Model != "" || p.env(strings.ToUpper(kind)+"_MODEL") != "" {
			named[name] = model
		}
	}
	return named
}

// modelChanges describes each actor of a stored debate whose model differs from the one that the environment and the
// configuration file name now. used has the models that the actors have used.
func modelChanges(s configFile, c debate.Config, models, used map[string]string) (changes []string) {
	configured := s.actorModels()
	for _, list := range [][]debate.Participant{c.Participants, c.Judges, c.Substitutes} {
		for _, a := range list {
			now := cmp.Or(configured[a.Name], models[a.Provider])
			switch {
			case a.Disabled || a.Human || now == "":
			case a.Model != "" && a.Model != now:
				changes = append(changes, fmt.Sprintf("%s uses %s, as stored with the debate, and not %s, which is configured now.", a.Name, a.Model, now))
			case a.Model == "" && used[a.Name] != "" && !strings.HasPrefix(used[a.Name], now):
				changes = append(changes, fmt.Sprintf("%s has used %s so far, and uses %s now.", a.Name, used[a.Name], now))
			}
		}
	}
	return changes
}

// Names of kinds: Ollama, the offline demo model, and the model of the client of debate mcp.
const (
	clientKind  = "client"
	ollamaKind  = "ollama"
	offlineKind = "offline"
)

// openProviders returns the providers of the file, and providers for the kinds among the names of the used providers. It
// also returns the default model of each provider.
func (p *program) openProviders(s configFile, used []string) (opened map[string]providers.Provider, models map[string]string, err error) {
	all := map[string]providerConfig{}
	maps.Copy(all, s.providers)
	for _, k := range p.allKinds() {
		if _, given := all[k.name]; given || !slices.Contains(used, k.name) {
			continue
		}
		all[k.name] = providerConfig{Kind: k.name}
		if k.name == offlineKind {
			p.say(offline.Notice + " (set OPENAI_API_KEY, ANTHROPIC_API_KEY, MISTRAL_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY or OLLAMA_HOST to use another model)")
			installed := installedAgents()
			if len(installed) > 0 {
				p.say("These agents are installed, and need no key: --model " + strings.Join(installed, ", --model "))
			}
		}
	}
	opened, models = map[string]providers.Provider{}, map[string]string{}
	for _, name := range sortedKeys(all) {
		open, err := p.findKind(name, all[name])
		if err != nil {
			return nil, nil, err
		}
		m := all[name]
		if m.NumCtx != 0 && m.Kind != ollamaKind {
			return nil, nil, exitErrorf(exitInput, "connect provider %s: num_ctx is a setting of kind %s, remove it", name, ollamaKind)
		}
		if open.envRequired && !p.isConfigured(open) {
			if len(all) == 1 || slices.Contains(used, name) {
				return nil, nil, exitErrorf(exitKey, "connect provider %s: no API key for %s, set %s", name, open.name, open.envVar)
			}
			continue // no debate uses it
		}
		if !strings.HasPrefix(m.Kind, agentKind) && len(m.Command)+len(m.Mode)+len(m.Env) > 0 {
			return nil, nil, exitErrorf(exitInput, "connect provider %s: command, mode and env are settings of kind %s, remove them",
				name, agentKind)
		}
		m.Model = cmp.Or(m.Model, p.env(strings.ToUpper(open.name)+"_MODEL"), open.model)
		models[name] = m.Model
		opened[name], err = open.open(m, p.env)
		if err != nil {
			return nil, nil, exitErrorf(exitInput, "connect provider %s: %w", name, err)
		}
	}
	return opened, models, nil
}

// hasOtherAddress reports whether a kind of provider has another address than that of its service.
func (p *program) hasOtherAddress(kind string) bool {
	for _, k := range providerKinds {
		if k.name == kind {
			return p.env(k.addressVar) != ""
		}
	}
	return false
}

// setAddresses makes p.env return the addresses of --base-url.
func (p *program) setAddresses() error {
	given := map[string]string{}
	for _, text := range p.baseURLs {
		name, address, _ := strings.Cut(text, "=")
		at := slices.IndexFunc(providerKinds, func(k providerKind) bool { return k.name == name })
		if at < 0 || address == "" {
			var names []string
			for _, k := range providerKinds {
				names = append(names, k.name)
			}
			return exitErrorf(exitInput,
				"read arguments: --base-url %s=..., want KIND=URL with one of the kinds %s", name, strings.Join(names, ", "))
		}
		given[providerKinds[at].addressVar] = address
	}
	env := p.env
	p.env = func(name string) string { return cmp.Or(given[name], env(name)) }
	return nil
}

// isConfigured reports whether the environment has the key or the host of a kind. Other servers with OpenAI's protocol may
// need no key.
func (p *program) isConfigured(k providerKind) bool {
	return p.env(k.envVar) != "" || k.name == "openai" && p.env(k.addressVar) != ""
}

// defaultKind returns the first kind for which the environment has a key or a host, or an empty string.
func (p *program) defaultKind() string {
	for _, k := range providerKinds {
		if p.isConfigured(k) {
			return k.name
		}
	}
	return ""
}

func (p *program) findKind(name string, m providerConfig) (providerKind, error) {
	var names []string
	for _, k := range p.allKinds() {
		if k.name == m.Kind {
			return k, nil
		}
		names = append(names, k.name)
	}
	return providerKind{}, exitErrorf(exitInput,
		"connect provider %s: kind %q is unknown, use one of %s", name, m.Kind, strings.Join(names, ", "))
}

// allKinds returns all kinds, including the offline demo model, which is slow on a terminal, and the client's model in debate mcp.
func (p *program) allKinds() []providerKind {
	kinds := append(slices.Concat(providerKinds, p.agentKinds()),
		providerKind{name: offlineKind, open: func(providerConfig, func(string) string) (providers.Provider, error) {
			return offline.Model(p.isLive()), nil
		}})
	if p.sampler == nil {
		return kinds
	}
	return append(kinds, providerKind{name: clientKind, open: func(providerConfig, func(string) string) (providers.Provider, error) {
		return p.sampler, nil
	}})
}

// agentKinds returns the kinds of agents: those that the command knows, and those of the configuration file.
func (p *program) agentKinds() (kinds []providerKind) {
	for _, name := range sortedKeys(agents) {
		kinds = append(kinds, providerKind{name: name, open: func(m providerConfig, env func(string) string) (providers.Provider, error) {
			return p.openAgent(agents[name](), m, env)
		}})
	}
	return append(kinds, providerKind{name: agentKind, open: func(m providerConfig, env func(string) string) (providers.Provider, error) {
		return p.openAgent(acp.Config{}, m, env)
	}})
}

// configuredKinds returns the kinds for which the environment has a key or a host, or else the offline demo model.
func (p *program) configuredKinds() (names []string) {
	for _, k := range providerKinds {
		if p.isConfigured(k) {
			names = append(names, k.name)
		}
	}
	if len(names) == 0 {
		return []string{offlineKind}
	}
	return names
}

// usedProviders returns the names of the providers that a debate uses. It ignores the retriever, which calls no model.
func usedProviders(c debate.Config) []string {
	names := map[string]bool{}
	for _, list := range [][]debate.Participant{c.Participants, c.Judges, c.Substitutes, {c.PersonaAssigner, c.Summarizer, c.Embedder}} {
		for _, a := range list {
			if a.Provider != "" && !a.Disabled && !a.Human {
				names[a.Provider] = true
			}
		}
	}
	return sortedKeys(names)
}

// ollamaURL returns the URL for OLLAMA_HOST, which may be a URL or a host with or without a port.
func ollamaURL(host string) string {
	if host == "" || strings.Contains(host, "://") {
		return host
	}
	if !strings.Contains(host, ":") {
		host += ":11434"
	}
	return "http://" + host
}

// hint returns what can be done about a failure. It names variables of the environment where the library names options.
func hint(f *debate.Failure) string {
	keys := "the environment; see debate help environment"
	address := keys
	for _, k := range providerKinds {
		if k.name == f.Provider && k.addressVar != "" {
			address = k.addressVar
		}
		if k.name == f.Provider && k.envRequired { // Ollama has no key
			keys = k.envVar
		}
	}
	agent := agentHint(f.Provider)
	switch f.Kind {
	case providers.Authentication:
		if agent != "" {
			return agent
		}
		return fmt.Sprintf("provider %s rejects its key: set a valid one in %s", f.Provider, keys)
	case providers.WrongAddress:
		return fmt.Sprintf("a web page answers at the address of provider %s: set the address of its API in %s", f.Provider, address)
	case providers.Billing:
		return fmt.Sprintf("provider %s does not serve this account: check its credit, its plan and the region, or set another key in %s", f.Provider, keys)
	default:
		return f.Hint()
	}
}
