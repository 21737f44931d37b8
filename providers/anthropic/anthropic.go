// Package anthropic provides Anthropic's models.
//
//	claude, err := anthropic.New(anthropic.Config{Key: key, Model: "claude-sonnet-4-5"})
//
// The schema of a structured reply is sent in output_config. So the reply remains text: it streams, and a reply that is
// cut keeps what has arrived. A model that does not support output_config follows the prompt instead. A request without
// a token limit is sent with a limit of 2048, because the service requires one.
//
// # Prompt caching
//
// Each prompt has cache breakpoints, and the service caches the prompt up to them: one at the end of the system prompt,
// one at the end of the history, and one 20 messages earlier, so that even a prompt with 39 more messages finds a
// cached one. The last message, which asks for the reply, is not cached. A cache entry lives for five minutes after its
// last use. Writing a token to the cache costs 1.25 times its price, and reading it 0.1 times. A prompt below the
// model's minimum length, which is between 512 and 4,096 tokens, is not cached and costs the normal price.
// (Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching)
//
// If 87 % of a prompt repeat the previous one, its input costs at most 0.87 * 0.1 + 0.13 * 1.25, about a quarter of the
// price. Caching pays from 22 % on: 0.22 * 0.1 + 0.78 * 1.25 = 1. A model that is called once, or less often than every
// five minutes, costs up to a quarter more; for such a model set [Config.NoCache].
//
// A schema is placed before the prompt, so replies with different schemas, or without one, do not share cache entries.
// Usage counts tokens that were written to the cache as ordinary input, so a cost that package price computes omits the
// extra quarter of their price.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"

	"github.com/elenchus-go/debate/providers/langchain"
)

// Config says which models a provider calls. No setting is read from the environment, but for the proxy that net/http
// finds there.
type Config struct {
	// Key is the API key. Required.
	Key string `json:"-"`
	// Model is called where a request names none. Required.
	Model string
	// BaseURL is the address up to /messages. Defaults to https://api.anthropic.com/v1.
	BaseURL string
	// HTTPClient sends the requests. Defaults to a plain one.
	HTTPClient *http.Client `json:"-"`
	// Options go with every call, such as llms.WithTopP, llms.WithTopK and llms.WithStopWords; requests win over them.
	// There is no seed.
	Options []llms.CallOption `json:"-"`
	// Extra are further fields of each request.
	Extra map[string]any
	// NoSchema leaves structured replies to the prompt.
	NoSchema bool
	// NoCache leaves prompts without marks for the service's cache. Set it where no prompt repeats one of the last five
	// minutes: writing to the cache costs a quarter more.
	NoCache bool
}

// String names the model, not the key.
func (c Config) String() string { return fmt.Sprintf("anthropic.Config{Model: %q}", c.Model) }

// Format writes String, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

const (
	defaultBaseURL = "https://api.anthropic.com/v1"
	apiVersion     = "2023-06-01"
)

// Provider calls models. It is safe for concurrent use.
type Provider struct {
	*langchain.Provider
	transport *langchain.Transport
	base      string
	model     string
}

// New is a provider for the models of c.
func New(c Config) (*Provider, error) {
	base, err := c.baseURL()
	if err != nil {
		return nil, fmt.Errorf("make anthropic provider: %w", err)
	}
	t := &langchain.Transport{
		Header: func(h http.Header) {
			h.Set("X-Api-Key", c.Key)
			h.Set("Anthropic-Version", apiVersion)
		},
		Extra: c.Extra, NoSchemaBounds: true, NoSchema: c.NoSchema, NoCache: c.NoCache,
	}
	model, err := anthropic.New(
		anthropic.WithToken("none"), // the transport has the key
		anthropic.WithModel(c.Model), anthropic.WithBaseURL(base), anthropic.WithHTTPClient(t.Client(c.HTTPClient)))
	if err != nil {
		return nil, fmt.Errorf("make anthropic provider: %w", err)
	}
	return &Provider{langchain.New(model, c.Options...), t, base, c.Model}, nil
}

// baseURL is the base of all addresses, unless something is missing or wrong.
func (c Config) baseURL() (string, error) {
	switch {
	case c.Key == "":
		return "", errors.New("Config.Key is empty: set the API key")
	case c.Model == "":
		return "", errors.New("Config.Model is empty: name a model, such as claude-sonnet-4-5")
	case c.BaseURL == "":
		return defaultBaseURL, nil
	}
	if _, err := langchain.ParseBaseURL(c.BaseURL, defaultBaseURL); err != nil {
		return "", err
	}
	return strings.TrimRight(c.BaseURL, "/"), nil
}

// Check asks for the model, whether it exists and the key is good. The empty model is the provider's own.
func (p *Provider) Check(ctx context.Context, model string) error {
	if model == "" {
		model = p.model
	}
	_, err := p.transport.Query(ctx, fmt.Sprintf("check model %q", model), http.MethodGet, p.base+"/models/"+url.PathEscape(model), nil)
	return err
}
