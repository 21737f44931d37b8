// Package anthropic provides Anthropic's models.
//
//	claude, err := anthropic.New(anthropic.Config{Key: key, Model: "claude-sonnet-4-5"})
//
// The package sends the schema of a structured reply in output_config. So the reply remains text: it streams, and if it
// is cut, the part that arrived is kept. If a model does not support output_config, only the prompt describes the reply.
// A request without a token limit is sent with a limit of 2048, because the service requires one.
//
// # Prompt caching
//
// Each prompt has cache breakpoints, and the service caches the prompt up to them: one at the end of the system prompt,
// one at the end of the history, and one 20 messages earlier. With them, a prompt that has up to 39 more messages than
// the previous one still finds a cache entry. The last message, which requests the reply, is not cached. A cache entry
// expires five minutes after its last use, or after an hour with [Config.LongCache]. Writing a token to the cache costs 1.25
// times its price, or twice with LongCache, and reading it 0.1 times. A prompt below the model's minimum length, which is between 512 and 4,096 tokens, is not cached and costs the
// normal price. (Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching)
//
// If 87 % of a prompt repeats the previous one, its input costs at most 0.87 * 0.1 + 0.13 * 1.25, about a quarter of
// the price. Caching saves money if at least 22 % repeats: 0.22 * 0.1 + 0.78 * 1.25 = 1. If you call a model once, or
// less often than every five minutes, caching costs up to a quarter more. Set [Config.NoCache] for such a model.
//
// The service places a schema before the prompt, so replies with different schemas, or without one, do not share cache
// entries. Usage counts the tokens that were written to the cache. Set price.Price.Written, so that costs have the surcharge.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Config configures a provider. The package reads no setting from the environment, except the proxy settings that
// net/http reads.
type Config struct {
	// Key is the API key. Key or KeyFunc is required, unless BaseURL is set: another server may need no key, or one in
	// Header.
	Key string `json:"-"`
	// KeyFunc returns the API key of each request. Set it instead of Key if the key can change. It must be safe for
	// concurrent use and return promptly when its context ends. If it returns an error, the call fails with an error of
	// kind authentication, or of the kind of the *providers.Error that it returns.
	KeyFunc func(context.Context) (string, error) `json:"-"`
	// Model is the default model, used if a request names none. Required.
	Model string
	// BaseURL is the base URL, without /messages. Defaults to https://api.anthropic.com/v1.
	BaseURL string
	// Header holds further headers of each request, such as "Anthropic-Beta", or those of a gateway. They replace headers of the same
	// name. Errors show no value that may be a key.
	Header http.Header `json:"-"`
	// HTTPClient sends the requests. Defaults to a client with default settings.
	HTTPClient *http.Client `json:"-"`
	// Timeout limits the time in which the service sends nothing. A whole call takes at most ten times as long.
	// Defaults to 120 s. A negative value disables both limits.
	Timeout time.Duration
	// Extra is merged into the body of each request as a JSON Merge Patch (RFC 7396): objects are merged, nil removes a
	// field, and anything else replaces it. Examples are "top_k" and "metadata".
	Extra map[string]any
	// ErrorKind returns the kind of an error, or "" if the provider's own rules decide. Set it for a server whose errors
	// they misunderstand. status is the HTTP status. It is 0 for an error within a stream without one, and if no connection was
	// made or it broke off; body then is the text of the error. It must be safe for concurrent use.
	ErrorKind func(status int, body []byte) providers.ErrorKind `json:"-"`
	// NoSchema sends no schemas, so that only the prompt describes a structured reply.
	NoSchema bool
	// NoCache sends no cache breakpoints. Set it if prompts do not repeat within five minutes, because writing to the
	// cache costs a quarter more.
	NoCache bool
	// LongCache keeps cache entries for an hour instead of five minutes. Writing to the cache then costs twice the price. Set
	// it if more than five minutes pass between the turns of a model, for example because people take part.
	LongCache bool
}

// String returns a description without the key.
func (c Config) String() string { return fmt.Sprintf("anthropic.Config{Model: %q}", c.Model) }

// Format writes the result of String for every verb, so that no verb prints the key.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

const (
	defaultBaseURL = "https://api.anthropic.com/v1"
	apiVersion     = "2023-06-01"
)

// Provider calls the models of one service. It is safe for concurrent use.
type Provider struct {
	client *wire.Client
	base   string
	model  string
	mark   *cacheMark // of cache breakpoints
}

// New returns a provider for the models that c describes.
func New(c Config) (*Provider, error) {
	base, err := c.baseURL()
	if err != nil {
		return nil, fmt.Errorf("create anthropic provider: %w", err)
	}
	start := wire.Support{Schemas: wire.SchemasPlain, NoCache: c.NoCache}
	if c.NoSchema {
		start.Schemas = wire.SchemasNone
	}
	client, err := wire.New(wire.Config{
		HTTP: c.HTTPClient, Key: c.Key, KeyFunc: c.KeyFunc, SetHeader: setHeader, Header: c.Header, Timeout: c.Timeout, ErrorKind: c.ErrorKind, Extra: c.Extra, Start: start,
	})
	if err != nil {
		return nil, fmt.Errorf("create anthropic provider: %w", err)
	}
	mark := shortMark
	if c.LongCache {
		mark = longMark
	}
	return &Provider{client, base, c.Model, mark}, nil
}

func setHeader(h http.Header, key string) {
	if key != "" {
		h.Set("X-Api-Key", key)
	}
	h.Set("Anthropic-Version", apiVersion)
}

// baseURL validates c and returns the base of all URLs.
func (c Config) baseURL() (string, error) {
	switch {
	case c.Key == "" && c.KeyFunc == nil && c.BaseURL == "":
		return "", errors.New("Config.Key is empty: set the API key, or Config.KeyFunc")
	case c.Model == "":
		return "", errors.New("Config.Model is empty: name a model, such as claude-sonnet-4-5")
	case c.NoCache && c.LongCache:
		return "", errors.New("Config.NoCache and Config.LongCache are both set: set only one of them")
	case c.BaseURL == "":
		return defaultBaseURL, nil
	}
	if _, err := wire.ParseBaseURL(c.BaseURL, defaultBaseURL); err != nil {
		return "", err
	}
	return strings.TrimRight(c.BaseURL, "/"), nil
}

// DefaultModel returns the model of requests that name none.
func (p *Provider) DefaultModel() string { return p.model }

// Check asks the service whether the model exists and the key is valid. If model is empty, Check uses the default model.
func (p *Provider) Check(ctx context.Context, model string) error {
	if model == "" {
		model = p.model
	}
	_, err := p.client.Query(ctx, fmt.Sprintf("check model %q", model), p.base+"/models/"+url.PathEscape(model), nil)
	return err
}
