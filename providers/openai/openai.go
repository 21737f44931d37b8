// Package openai provides OpenAI's models, and the models of any server that speaks the same protocol.
//
//	gpt, err := openai.New(openai.Config{Key: key, Model: "gpt-4.1-mini"})
//	deepseek, err := openai.New(openai.Config{Key: key, Model: "deepseek-chat", BaseURL: "https://api.deepseek.com/v1"})
//	local, err := openai.New(openai.Config{Model: "qwen3", BaseURL: "http://localhost:1234/v1"})
//
// Some base URLs are https://openrouter.ai/api/v1 for OpenRouter, http://localhost:8000/v1 for vLLM,
// http://localhost:1234/v1 for LM Studio and http://localhost:11434/v1 for Ollama. For Ollama, providers/ollama uses
// the server's own protocol, which reports more. For Mistral, use providers/mistral.
//
// The package calls /chat/completions. It does not support OpenAI's Responses API, nor models that require it.
package openai

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/elenchus-go/debate/providers/langchain"
)

// Config says which models a provider calls. No setting is read from the environment, but for the proxy that net/http
// finds there.
type Config struct {
	// Key is the API key. Servers at a BaseURL may do without.
	Key string `json:"-"`
	// Model is called where a request names none. Required.
	Model string
	// BaseURL is the address up to /chat/completions. Defaults to https://api.openai.com/v1.
	BaseURL string
	// HTTPClient sends the requests. Defaults to a plain one.
	HTTPClient *http.Client `json:"-"`
	// Options go with every call, such as llms.WithTopP, llms.WithSeed and llms.WithStopWords; requests win over them.
	Options []llms.CallOption `json:"-"`
	// MaxTokensField is the name of the token cap: max_completion_tokens or max_tokens. Defaults to the first for
	// api.openai.com, whose newer models know no other, and to the second for other servers, of which some ignore the
	// first and never stop. A server that refuses one gets the other.
	MaxTokensField string
	// Rename gives fields of requests other names, for servers that differ.
	Rename map[string]string
	// Extra are further fields of each request, such as reasoning_effort.
	Extra map[string]any
	// NoSchema leaves structured replies to the prompt. Else the schema is sent, as far as the server takes it.
	NoSchema bool
}

// String names the model and the address, not the key.
func (c Config) String() string {
	return fmt.Sprintf("openai.Config{Model: %q, BaseURL: %q}", c.Model, redactURL(c.BaseURL))
}

// Format writes String, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

// redactURL is an address without what may be a secret in it.
func redactURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

const (
	defaultBaseURL = "https://api.openai.com/v1"
	modernField    = "max_completion_tokens"
	legacyField    = "max_tokens"
)

// Provider calls models. It is safe for concurrent use.
type Provider struct {
	*langchain.Provider
	transport *langchain.Transport
	base      string
	model     string
	official  bool // it is OpenAI itself
}

// New is a provider for the models of c.
func New(c Config) (*Provider, error) {
	base, own, err := c.baseURL()
	if err == nil {
		err = c.check(own)
	}
	if err != nil {
		return nil, fmt.Errorf("make openai provider: %w", err)
	}
	t := &langchain.Transport{
		Header: func(h http.Header) {
			if h.Del("Authorization"); c.Key != "" {
				h.Set("Authorization", "Bearer "+c.Key)
			}
		},
		Rename: c.renamedFields(own), Extra: c.Extra, NoSchemaBounds: own, NoSchema: c.NoSchema,
	}
	model, err := openai.New(
		openai.WithToken("none"), // the transport has the key
		openai.WithModel(c.Model), openai.WithBaseURL(base), openai.WithOrganization(""), openai.WithHTTPClient(t.Client(c.HTTPClient)))
	if err != nil {
		return nil, fmt.Errorf("make openai provider: %w", err)
	}
	return &Provider{langchain.New(model, c.Options...), t, base, c.Model, own}, nil
}

// baseURL is the base of all addresses, and whether it is OpenAI's own.
func (c Config) baseURL() (base string, own bool, err error) {
	if c.BaseURL == "" {
		return defaultBaseURL, true, nil
	}
	u, err := langchain.ParseBaseURL(c.BaseURL, defaultBaseURL)
	switch {
	case err != nil:
		return "", false, err
	case strings.Contains(u.Path, "/chat/completions"):
		return "", false, fmt.Errorf("Config.BaseURL %q goes too far, leave out /chat/completions", redactURL(c.BaseURL))
	}
	return strings.TrimRight(c.BaseURL, "/"), u.Hostname() == "api.openai.com", nil
}

// check says what is missing or wrong.
func (c Config) check(own bool) error {
	switch {
	case own && c.Key == "":
		return errors.New("Config.Key is empty: set the API key")
	case c.Model == "":
		return errors.New("Config.Model is empty: name a model, such as gpt-4.1-mini")
	case c.MaxTokensField != "" && c.MaxTokensField != modernField && c.MaxTokensField != legacyField:
		return fmt.Errorf("Config.MaxTokensField is %q, want %s or %s", c.MaxTokensField, modernField, legacyField)
	}
	return nil
}

// renamedFields are the fields that have other names than langchaingo's.
func (c Config) renamedFields(own bool) map[string]string {
	names := map[string]string{}
	if c.MaxTokensField == legacyField || c.MaxTokensField == "" && !own {
		names[modernField] = legacyField
	}
	maps.Copy(names, c.Rename)
	return names
}
