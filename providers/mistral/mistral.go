// Package mistral provides Mistral's models.
//
//	model, err := mistral.New(mistral.Config{Key: key, Model: "mistral-small-latest"})
//
// The package uses providers/openai, because Mistral's API is compatible with OpenAI's.
package mistral

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/openai"
)

// Config configures a provider. The package reads no setting from the environment, except the proxy settings that
// net/http reads.
type Config struct {
	// Key is the API key. Key or KeyFunc is required.
	Key string `json:"-"`
	// KeyFunc returns the API key of each request. Set it instead of Key if the key can change. It must be safe for
	// concurrent use and return promptly when its context ends. If it returns an error, the call fails with an error of
	// kind authentication, or of the kind of the *providers.Error that it returns.
	KeyFunc func(context.Context) (string, error) `json:"-"`
	// Model is the default model, used if a request names none. Required.
	Model string
	// BaseURL is the base URL, without /chat/completions. Defaults to https://api.mistral.ai/v1.
	BaseURL string
	// Header holds further headers of each request, such as those of a gateway. They replace headers of the same
	// name. Errors show no value that may be a key.
	Header http.Header `json:"-"`
	// HTTPClient sends the requests. Defaults to a client with default settings.
	HTTPClient *http.Client `json:"-"`
	// Timeout limits the time in which the service sends nothing. A whole call takes at most ten times as long.
	// Defaults to 120 s. A negative value disables both limits.
	Timeout time.Duration
	// Extra is merged into the body of each request as a JSON Merge Patch (RFC 7396): objects are merged, nil removes a
	// field, and anything else replaces it. An example is "safe_prompt".
	Extra map[string]any
	// ErrorKind returns the kind of an error, or "" if the provider's own rules decide. Set it for a server whose errors
	// they misunderstand. status is the HTTP status. It is 0 for an error within a stream without one, and if no connection was
	// made or it broke off; body then is the text of the error. It must be safe for concurrent use.
	ErrorKind func(status int, body []byte) providers.ErrorKind `json:"-"`
}

// String returns a description without the key.
func (c Config) String() string { return fmt.Sprintf("mistral.Config{Model: %q}", c.Model) }

// Format writes the result of String for every verb, so that no verb prints the key.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

const defaultBaseURL = "https://api.mistral.ai/v1"

// Provider calls Mistral's models. It is safe for concurrent use.
type Provider struct{ compatible *openai.Provider }

// Generate requests one reply from the model.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return p.compatible.Generate(ctx, r)
}

// DefaultModel returns the model of requests that name none.
func (p *Provider) DefaultModel() string { return p.compatible.DefaultModel() }

// Check requests the service's list of models. It returns an error if the key is refused, or if the list does not contain
// the model. If model is empty, Check uses the default model.
func (p *Provider) Check(ctx context.Context, model string) error {
	return p.compatible.Check(ctx, model)
}

// Unsupported returns the settings that the service does not support.
// Source: https://docs.mistral.ai/capabilities/reasoning/
func (p *Provider) Unsupported(r providers.Request) map[string]string {
	found := map[string]string{}
	if r.Reasoning != "" && r.Reasoning != reasoning.None && r.Reasoning != reasoning.High {
		found["reasoning"] = fmt.Sprintf("%q: the service has only none and high", r.Reasoning)
	}
	if r.Seed != nil && *r.Seed < 0 {
		found["seed"] = fmt.Sprintf("%d is negative, use 0 or more", *r.Seed)
	}
	r.Reasoning, r.Seed = "", nil
	maps.Copy(found, p.compatible.Unsupported(r))
	return found
}

// New returns a provider for the models that c describes.
func New(c Config) (*Provider, error) {
	switch {
	case c.Key == "" && c.KeyFunc == nil:
		return nil, errors.New("create mistral provider: Config.Key is empty: set the API key, or Config.KeyFunc")
	case c.Model == "":
		return nil, errors.New("create mistral provider: Config.Model is empty: name a model, such as mistral-small-latest")
	case c.BaseURL == "":
		c.BaseURL = defaultBaseURL
	}
	extra := map[string]any{"stream_options": nil} // the service refuses it, and always reports usage
	maps.Copy(extra, c.Extra)
	p, err := openai.New(openai.Config{
		Key: c.Key, KeyFunc: c.KeyFunc, Model: c.Model, BaseURL: c.BaseURL, HTTPClient: c.HTTPClient, Header: c.Header, Timeout: c.Timeout, Extra: extra, ErrorKind: c.ErrorKind,
		MaxTokensField: "max_tokens", DocumentURL: true, StrictRounds: true, Rename: map[string]string{"seed": "random_seed"},
	})
	if err != nil {
		return nil, fmt.Errorf("create mistral provider: %w", err)
	}
	return &Provider{p}, nil
}
