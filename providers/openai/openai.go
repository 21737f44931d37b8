// Package openai provides OpenAI's models, and the models of any server with an OpenAI-compatible API.
//
//	gpt, err := openai.New(openai.Config{Key: key, Model: "gpt-4.1-mini"})
//	deepseek, err := openai.New(openai.Config{Key: key, Model: "deepseek-chat", BaseURL: "https://api.deepseek.com/v1"})
//	local, err := openai.New(openai.Config{Model: "qwen3", BaseURL: "http://localhost:1234/v1"})
//
// Some base URLs are https://openrouter.ai/api/v1 for OpenRouter, http://localhost:8000/v1 for vLLM,
// http://localhost:1234/v1 for LM Studio and http://localhost:11434/v1 for Ollama. For Ollama, providers/ollama uses
// the server's native API, which reports more. For Mistral, use providers/mistral.
//
// The package calls /chat/completions. It does not support OpenAI's Responses API, nor models that require it.
package openai

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/elenchus-go/debate/providers/internal/fault"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Config configures a provider. The package reads no setting from the environment, except the proxy settings that
// net/http reads.
type Config struct {
	// Key is the API key. Key or KeyFunc is required for api.openai.com; other servers may not need a key.
	Key string `json:"-"`
	// KeyFunc returns the API key of each request. Set it instead of Key if the key can change. It must be safe for
	// concurrent use and return promptly when its context ends. If it returns an error, the call fails with an error of
	// kind authentication, or of the kind of the *providers.Error that it returns.
	KeyFunc func(context.Context) (string, error) `json:"-"`
	// Model is the default model, used if a request names none. Required.
	Model string
	// BaseURL is the base URL, without /chat/completions. Defaults to https://api.openai.com/v1.
	BaseURL string
	// HTTPClient sends the requests. Defaults to a client with default settings.
	HTTPClient *http.Client `json:"-"`
	// Timeout limits the time in which the service sends nothing. A whole call takes at most ten times as long.
	// Defaults to 120 s. A negative value disables both limits.
	Timeout time.Duration
	// MaxTokensField is the name of the request field that limits the output tokens. It is max_completion_tokens or
	// max_tokens. Defaults to max_completion_tokens for api.openai.com, because its newer models accept nothing else.
	// Defaults to max_tokens for other servers, because some ignore max_completion_tokens and then never stop. If a
	// server refuses one field, the provider sends the other.
	MaxTokensField string
	// Rename maps names of request fields to the names that the server uses.
	Rename map[string]string
	// Extra is merged into the body of each request as a JSON Merge Patch (RFC 7396): objects are merged, nil removes a
	// field, and anything else replaces it. Examples are "presence_penalty" and "service_tier".
	Extra map[string]any
	// NoSchema sends no schemas, so that only the prompt describes a structured reply. By default the provider sends as
	// much of a schema as the server accepts.
	NoSchema bool
}

// String returns a description without the key and without the credentials in an address.
func (c Config) String() string {
	return fmt.Sprintf("openai.Config{Model: %q, BaseURL: %q}", c.Model, fault.RedactURL(c.BaseURL))
}

// Format writes the result of String for every verb, so that no verb prints the key.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

const (
	defaultBaseURL = "https://api.openai.com/v1"
	modernField    = "max_completion_tokens"
	legacyField    = "max_tokens"
)

// Provider calls the models of one service. It is safe for concurrent use.
type Provider struct {
	client   *wire.Client
	base     string
	model    string
	official bool // the server is api.openai.com
}

// New returns a provider for the models that c describes.
func New(c Config) (*Provider, error) {
	base, own, err := c.baseURL()
	if err == nil {
		err = c.check(own)
	}
	if err != nil {
		return nil, fmt.Errorf("create openai provider: %w", err)
	}
	client, err := wire.New(wire.Config{
		HTTP: c.HTTPClient, Key: c.Key, KeyFunc: c.KeyFunc, Header: setKey, Timeout: c.Timeout,
		Extra: c.Extra, Rename: c.renamedFields(own), Start: c.support(own),
	})
	if err != nil {
		return nil, fmt.Errorf("create openai provider: %w", err)
	}
	return &Provider{client, base, c.Model, own}, nil
}

func setKey(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// baseURL validates c.BaseURL and returns the base of all URLs. It also reports whether the server is OpenAI's own.
func (c Config) baseURL() (base string, own bool, err error) {
	if c.BaseURL == "" {
		return defaultBaseURL, true, nil
	}
	u, err := wire.ParseBaseURL(c.BaseURL, defaultBaseURL)
	switch {
	case err != nil:
		return "", false, err
	case strings.Contains(u.Path, "/chat/completions"):
		return "", false, fmt.Errorf("Config.BaseURL is %q, want it without /chat/completions", fault.RedactURL(c.BaseURL))
	}
	return strings.TrimRight(c.BaseURL, "/"), u.Hostname() == "api.openai.com", nil
}

// check validates the fields other than BaseURL and Extra.
func (c Config) check(own bool) error {
	switch {
	case own && c.Key == "" && c.KeyFunc == nil:
		return errors.New("Config.Key is empty: set the API key, or Config.KeyFunc")
	case c.Model == "":
		return errors.New("Config.Model is empty: name a model, such as gpt-4.1-mini")
	case c.MaxTokensField != "" && c.MaxTokensField != modernField && c.MaxTokensField != legacyField:
		return fmt.Errorf("Config.MaxTokensField is %q, want %s or %s", c.MaxTokensField, modernField, legacyField)
	}
	return nil
}

// support returns what the server is assumed to support. OpenAI refuses schemas with bounds.
func (c Config) support(own bool) wire.Support {
	switch {
	case c.NoSchema:
		return wire.Support{Schemas: wire.SchemasNone}
	case own:
		return wire.Support{Schemas: wire.SchemasPlain}
	}
	return wire.Support{}
}

// renamedFields returns the names of request fields that differ from OpenAI's.
func (c Config) renamedFields(own bool) map[string]string {
	names := map[string]string{}
	if c.MaxTokensField == legacyField || c.MaxTokensField == "" && !own {
		names[modernField] = legacyField
	}
	maps.Copy(names, c.Rename)
	return names
}
