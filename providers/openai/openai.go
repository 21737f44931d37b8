// Package openai provides OpenAI's models, and the models of any server with an OpenAI-compatible API.
//
//	gpt, err := openai.New(openai.Config{Key: key, Model: "gpt-4.1-mini"})
//	deepseek, err := openai.New(openai.Config{Key: key, Model: "deepseek-chat", BaseURL: "https://api.deepseek.com/v1"})
//	local, err := openai.New(openai.Config{Model: "qwen3", BaseURL: "http://localhost:1234/v1"})
//
// Some base URLs are https://openrouter.ai/api/v1 for OpenRouter, http://localhost:8000/v1 for vLLM,
// http://localhost:1234/v1 for LM Studio and http://localhost:11434/v1 for Ollama. For Ollama, use
// providers/ollama, because the endpoint /v1 cuts long prompts without an error. The first chat completion of Ollama has
// a warning that says so; its Responses API does not show which server it is. For Mistral, use providers/mistral.
//
// Azure's addresses work: https://NAME.openai.azure.com/openai/v1 with the name of a deployment as the model, and
// https://NAME.openai.azure.com/openai/deployments/DEPLOYMENT?api-version=VERSION. Leave Key empty and set [Config].Header to
// http.Header{"Api-Key": {key}}. For tokens of Entra ID, set KeyFunc.
//
// For api.openai.com, the package calls the Responses API, and chat completions if a model lacks it. For other servers, it
// calls chat completions. [Config].API chooses.
//
// In the Responses API, the service is asked to store no replies. Reasoning that only the service can read is part of the
// response; put it into the assistant's message of a later request, and the service reads it again, as debates do. By
// default, models before gpt-5.6 use only the reasoning of the current turn. If the service cannot read it, because the
// key or the model has changed, the provider omits it for an hour, with a warning. The service summarizes its reasoning if
// Config.Extra has {"reasoning": {"summary": "auto"}}, which may need a verified organization. Seeds and stop texts need
// chat completions.
package openai

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/elenchus-go/debate/providers"
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
	// BaseURL is the base URL, without /chat/completions or /responses. Its query may have an api-version, and nothing else.
	// Defaults to https://api.openai.com/v1.
	BaseURL string
	// API is "responses" for the Responses API, or "chat" for chat completions. Defaults to "responses" for
	// api.openai.com, and to "chat" for other servers. If the server or the model lacks the Responses API, the provider
	// calls chat completions for an hour, with a warning in the first response. The Responses API accepts no token limit
	// below 16; the provider then sends 16.
	API string
	// Header holds further headers of each request, such as "OpenAI-Project", "HTTP-Referer", or "Api-Key" for Azure. They replace headers of the same
	// name. Errors show no value that may be a key.
	Header http.Header `json:"-"`
	// HTTPClient sends the requests. Defaults to a client with default settings.
	HTTPClient *http.Client `json:"-"`
	// Timeout limits the time in which the service sends nothing. A whole call takes at most ten times as long.
	// Defaults to 120 s. A negative value disables both limits.
	Timeout time.Duration
	// MaxTokensField is the name of the field that limits the output tokens of chat completions. It is
	// max_completion_tokens or max_tokens. Defaults to max_completion_tokens for api.openai.com, because its newer
	// models accept nothing else. Defaults to max_tokens for other servers, because some ignore max_completion_tokens
	// and then never stop. If a server refuses one field, the provider sends the other.
	MaxTokensField string
	// Rename maps names of request fields to the names that the server uses.
	Rename map[string]string
	// Extra is merged into the body of each request as a JSON Merge Patch (RFC 7396): objects are merged, nil removes a
	// field, and anything else replaces it. Examples are "service_tier" and "prompt_cache_key". The names are those of
	// the API that the provider calls: "verbosity" of chat completions is {"text": {"verbosity": "low"}} in the
	// Responses API.
	Extra map[string]any
	// ErrorKind returns the kind of an error, or "" if the provider's own rules decide. Set it for a server whose errors
	// they misunderstand. status is the HTTP status. It is 0 for an error within a stream without one, and if no connection was
	// made or it broke off; body then is the text of the error. It must be safe for concurrent use.
	ErrorKind func(status int, body []byte) providers.ErrorKind `json:"-"`
	// DocumentURL sends PDF attachments of chat completions as parts of type document_url, as Mistral's API has them, in
	// place of parts of type file.
	DocumentURL bool
	// StrictRounds sends rounds of tool calls as Mistral's API requires them: the ID of a call has nine letters and digits,
	// and text that follows a result is part of the result.
	StrictRounds bool
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
	officialHost   = "api.openai.com"
	defaultBaseURL = "https://" + officialHost + "/v1"
	responsesAPI   = "responses"
	chatAPI        = "chat"
	modernField    = "max_completion_tokens"
	legacyField    = "max_tokens"
)

// Provider calls the models of one service. It is safe for concurrent use.
type Provider struct {
	client    *wire.Client
	base      string
	query     string // of all URLs
	model     string
	service   string // identifies opaque reasoning
	official  bool   // the server is api.openai.com
	azure     bool   // the server is one of Azure, whose models have names of the user
	responses bool   // call the Responses API
	// documentURL and strictRounds are those of Config.
	documentURL, strictRounds bool
	ollama                    *sync.Once // gives the warning about Ollama; a pointer, so that a Provider can be copied
}

// New returns a provider for the models that c describes.
func New(c Config) (*Provider, error) {
	var query string
	c.BaseURL, query = cutVersion(c.BaseURL)
	base, host, err := c.baseURL()
	own := host == officialHost
	if err == nil {
		err = c.check(own)
	}
	if err != nil {
		return nil, fmt.Errorf("create openai provider: %w", err)
	}
	client, err := wire.New(wire.Config{
		HTTP: c.HTTPClient, Key: c.Key, KeyFunc: c.KeyFunc, SetHeader: setKey, Header: c.Header, Timeout: c.Timeout,
		ErrorKind: c.ErrorKind, Extra: c.Extra, Rename: c.renamedFields(own), Start: c.support(own),
	})
	if err != nil {
		return nil, fmt.Errorf("create openai provider: %w", err)
	}
	p := &Provider{client: client, base: base, query: query, azure: strings.HasSuffix(host, ".azure.com"), model: c.Model, service: host, official: own, responses: c.API == responsesAPI || c.API == "" && own, ollama: new(sync.Once), documentURL: c.DocumentURL, strictRounds: c.StrictRounds}
	if own {
		p.service = "openai"
	}
	return p, nil
}

func setKey(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// cutVersion returns an address without the api-version of Azure, and that version as a query. It leaves other queries to
// baseURL, which refuses them.
func cutVersion(address string) (base, query string) {
	base, raw, _ := strings.Cut(address, "?")
	values, err := url.ParseQuery(raw)
	if err != nil || len(values) != 1 || !versionPattern.MatchString(values.Get("api-version")) {
		return address, ""
	}
	return base, "?" + raw
}

// versionPattern matches versions such as 2024-10-21 and 2025-04-01-preview.
var versionPattern = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-preview)?$|^(preview|latest|v1)$`)

// baseURL validates c.BaseURL and returns the base of all URLs and the name of the server.
func (c Config) baseURL() (base, host string, err error) {
	if c.BaseURL == "" {
		return defaultBaseURL, officialHost, nil
	}
	u, err := wire.ParseBaseURL(c.BaseURL, defaultBaseURL)
	switch {
	case err != nil:
		return "", "", err
	case strings.Contains(u.Path, "/chat/completions"), strings.HasSuffix(u.Path, "/responses"):
		return "", "", fmt.Errorf("Config.BaseURL is %q, want it without /chat/completions or /responses", fault.RedactURL(c.BaseURL))
	}
	return strings.TrimRight(c.BaseURL, "/"), u.Hostname(), nil
}

// check validates the fields other than BaseURL and Extra.
func (c Config) check(own bool) error {
	switch {
	case own && c.Key == "" && c.KeyFunc == nil:
		return errors.New("Config.Key is empty: set the API key, or Config.KeyFunc")
	case c.Model == "":
		return errors.New("Config.Model is empty: name a model, such as gpt-4.1-mini")
	case c.API != "" && c.API != responsesAPI && c.API != chatAPI:
		return fmt.Errorf("Config.API is %q, want %s or %s", c.API, responsesAPI, chatAPI)
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
