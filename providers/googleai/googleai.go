// Package googleai provides Google's Gemini models.
//
//	gemini, err := googleai.New(googleai.Config{Key: key, Model: "gemini-2.5-flash"})
//
// The package calls the Gemini API with an API key. For Vertex AI, use providers/clouds/vertex.
package googleai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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
	// BaseURL is the service's URL. Defaults to https://generativelanguage.googleapis.com.
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
	// field, and anything else replaces it. Examples are "safetySettings", and "generationConfig", an object with
	// settings such as "topK".
	Extra map[string]any
	// ErrorKind returns the kind of an error, or "" if the provider's own rules decide. Set it for a server whose errors
	// they misunderstand. status is the HTTP status. It is 0 for an error within a stream without one, and if no connection was
	// made or it broke off; body then is the text of the error. It must be safe for concurrent use.
	ErrorKind func(status int, body []byte) providers.ErrorKind `json:"-"`
	// NoSchema sends no schemas, so that only the prompt describes a structured reply.
	NoSchema bool
}

// String returns a description without the key.
func (c Config) String() string { return fmt.Sprintf("googleai.Config{Model: %q}", c.Model) }

// Format writes the result of String for every verb, so that no verb prints the key.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

const defaultBaseURL = "https://generativelanguage.googleapis.com"

// Provider calls the models of one service. It is safe for concurrent use.
type Provider struct {
	client *wire.Client
	base   string
	model  string
}

// New returns a provider for the models that c describes.
func New(c Config) (*Provider, error) {
	base, err := c.baseURL()
	if err != nil {
		return nil, fmt.Errorf("create googleai provider: %w", err)
	}
	start := wire.Support{Schemas: wire.SchemasPlain}
	if c.NoSchema {
		start.Schemas = wire.SchemasNone
	}
	client, err := wire.New(wire.Config{
		HTTP: c.HTTPClient, Key: c.Key, KeyFunc: c.KeyFunc, SetHeader: setKey, Header: c.Header, Timeout: c.Timeout, ErrorKind: c.ErrorKind, Extra: c.Extra, Start: start,
	})
	if err != nil {
		return nil, fmt.Errorf("create googleai provider: %w", err)
	}
	return &Provider{client, base, c.Model}, nil
}

func setKey(h http.Header, key string) {
	if key != "" {
		h.Set("X-Goog-Api-Key", key)
	}
}

// baseURL validates c and returns the base of all URLs.
func (c Config) baseURL() (string, error) {
	switch {
	case c.Key == "" && c.KeyFunc == nil && c.BaseURL == "":
		return "", errors.New("Config.Key is empty: set the API key, or Config.KeyFunc")
	case c.Model == "":
		return "", errors.New("Config.Model is empty: name a model, such as gemini-2.5-flash")
	case c.BaseURL == "":
		return defaultBaseURL, nil
	}
	if _, err := wire.ParseBaseURL(c.BaseURL, defaultBaseURL); err != nil {
		return "", err
	}
	return strings.TrimRight(c.BaseURL, "/"), nil
}

// modelURL returns the URL of a model. A name without a slash is that of a public model.
func (p *Provider) modelURL(model string) string {
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	return p.base + "/v1beta/" + model
}

// DefaultModel returns the model of requests that name none.
func (p *Provider) DefaultModel() string { return p.model }

// Check asks the service whether the model exists and the key is valid. If model is empty, Check uses the default model.
func (p *Provider) Check(ctx context.Context, model string) error {
	if model == "" {
		model = p.model
	}
	_, err := p.client.Query(ctx, fmt.Sprintf("check model %q", model), p.modelURL(model), nil)
	return err
}
