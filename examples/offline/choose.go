package offline

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
	"github.com/elenchus-go/debate/providers/ollama"
	"github.com/elenchus-go/debate/providers/openai"
)

// Choose returns the first model for which the environment has a key or a host, or script if there is none. It writes
// the name of the model, or a notice, to w.
func Choose(env func(string) string, w io.Writer, script providers.Provider) (providers.Provider, error) {
	var p providers.Provider
	var err error
	var name string
	switch {
	case env("OPENAI_API_KEY") != "":
		name = cmp.Or(env("OPENAI_MODEL"), "gpt-4.1-mini")
		p, err = openai.New(openai.Config{Key: env("OPENAI_API_KEY"), BaseURL: env("OPENAI_BASE_URL"), Model: name})
	case env("ANTHROPIC_API_KEY") != "":
		name = cmp.Or(env("ANTHROPIC_MODEL"), "claude-sonnet-4-5")
		p, err = anthropic.New(anthropic.Config{Key: env("ANTHROPIC_API_KEY"), Model: name})
	case env("OLLAMA_HOST") != "":
		name = cmp.Or(env("OLLAMA_MODEL"), "llama3.2")
		p, err = ollama.New(ollama.Config{BaseURL: address(env("OLLAMA_HOST")), Model: name, NumCtx: 16_384})
	default:
		fmt.Fprintln(w, Notice+" (set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to use another model)")
		return script, nil
	}
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(w, "model:", name)
	return p, nil
}

// address returns the URL for OLLAMA_HOST, which may be a URL or a host with or without a port.
func address(host string) string {
	if strings.Contains(host, "://") {
		return host
	}
	if !strings.Contains(host, ":") {
		host += ":11434"
	}
	return "http://" + host
}
