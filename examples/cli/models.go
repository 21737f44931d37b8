package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/internal/offline"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/providers/mistral"
	"github.com/elenchus-go/debate/providers/ollama"
	"github.com/elenchus-go/debate/providers/openai"
)

// providerKind is a service that has models.
type providerKind struct {
	name        string
	envVar      string // of the environment; where it is set, the kind is the default
	envRequired bool   // without it there is no access
	model       string
	open        func(name string, env func(string) string) (providers.Provider, error)
}

// providerKinds are in the order in which they are the default.
var providerKinds = []providerKind{
	{"openai", "OPENAI_API_KEY", true, "gpt-4.1-mini", func(name string, env func(string) string) (providers.Provider, error) {
		return openai.New(openai.Config{Key: env("OPENAI_API_KEY"), BaseURL: env("OPENAI_BASE_URL"), Model: name})
	}},
	{"anthropic", "ANTHROPIC_API_KEY", true, "claude-sonnet-4-5", func(name string, env func(string) string) (providers.Provider, error) {
		return anthropic.New(anthropic.Config{Key: env("ANTHROPIC_API_KEY"), Model: name})
	}},
	{"mistral", "MISTRAL_API_KEY", true, "mistral-medium-latest", func(name string, env func(string) string) (providers.Provider, error) {
		return mistral.New(mistral.Config{Key: env("MISTRAL_API_KEY"), Model: name})
	}},
	{"google", "GEMINI_API_KEY", true, "gemini-2.5-flash", func(name string, env func(string) string) (providers.Provider, error) {
		const compatible = "https://generativelanguage.googleapis.com/v1beta/openai"
		return openai.New(openai.Config{Key: env("GEMINI_API_KEY"), BaseURL: compatible, Model: name})
	}},
	{"ollama", "OLLAMA_HOST", false, "llama3.2", func(name string, env func(string) string) (providers.Provider, error) {
		return ollama.New(ollama.Config{BaseURL: ollamaURL(env("OLLAMA_HOST")), Model: name, NumCtx: 16_384})
	}},
}

// assignProviders has everybody who speaks name a provider, so that a stored debate tells whose words it holds: the only one of the
// file; where that has none the first kind that the environment gives access to, or another.
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
			list[i].Provider = cmp.Or(list[i].Provider, name)
		}
	}
}

// offlineKind is the kind that needs no model.
const offlineKind = "offline"

// openProviders makes the providers of the file, and those kinds that a debate names without it.
func (p *program) openProviders(s configFile, c debate.Config) (map[string]providers.Provider, error) {
	all := map[string]providerConfig{}
	maps.Copy(all, s.providers)
	for _, k := range p.allKinds() {
		if _, given := all[k.name]; given || !slices.Contains(usedProviders(c), k.name) {
			continue
		}
		if all[k.name] = (providerConfig{Kind: k.name}); k.name == offlineKind {
			fmt.Fprintf(p.stderr, "%s; set OPENAI_API_KEY, ANTHROPIC_API_KEY, MISTRAL_API_KEY, GEMINI_API_KEY or OLLAMA_HOST\n", offline.Notice)
		}
	}
	if len(all) == 0 {
		return nil, exitErrorf(exitConfiguration, "connect providers: none of %q is at hand, name the configuration that has them by --config", usedProviders(c))
	}
	made := map[string]providers.Provider{}
	for _, name := range sortedKeys(all) {
		open, err := p.findKind(name, all[name])
		if err != nil {
			return nil, err
		}
		if open.envRequired && p.env(open.envVar) == "" {
			if len(all) == 1 || slices.Contains(usedProviders(c), name) {
				return nil, exitErrorf(exitConfiguration, "connect provider %s: set %s to a key of %s", name, open.envVar, open.name)
			}
			continue // nobody asks it
		}
		provider, err := open.open(cmp.Or(all[name].Model, p.env(strings.ToUpper(open.name)+"_MODEL"), open.model), p.env)
		if err != nil {
			return nil, exitErrorf(exitConfiguration, "connect provider %s: %w", name, err)
		}
		made[name] = middleware.Wrap(provider, middleware.Timeout(middleware.Timeouts{})) // a call that hangs is made again
	}
	return made, nil
}

// defaultKind is the kind of whom the environment has a key or a host; empty: it has none.
func (p *program) defaultKind() string {
	for _, k := range providerKinds {
		if p.env(k.envVar) != "" {
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
	return providerKind{}, exitErrorf(exitConfiguration, "connect provider %s: kind %q is unknown, use one of %s", name, m.Kind, strings.Join(names, ", "))
}

// allKinds are all. The script takes its time where somebody watches.
func (p *program) allKinds() []providerKind {
	return append(slices.Clip(providerKinds), providerKind{name: offlineKind, open: func(string, func(string) string) (providers.Provider, error) {
		return offline.Model(p.isLive()), nil
	}})
}

// usedProviders are the providers that anybody in a debate names; what its retriever asks is no model.
func usedProviders(c debate.Config) []string {
	names := map[string]bool{}
	for _, list := range [][]debate.Participant{c.Participants, c.Judges, c.Substitutes, {c.PersonaAssigner, c.Summarizer, c.Embedder}} {
		for _, a := range list {
			if a.Provider != "" && !a.Disabled {
				names[a.Provider] = true
			}
		}
	}
	return sortedKeys(names)
}

// ollamaURL makes a URL of the host that OLLAMA_HOST may be, with or without a port.
func ollamaURL(host string) string {
	if host == "" || strings.Contains(host, "://") {
		return host
	}
	if !strings.Contains(host, ":") {
		host += ":11434"
	}
	return "http://" + host
}
