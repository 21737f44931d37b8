// Package ollama provides the models of an Ollama server.
//
//	llama, err := ollama.New(ollama.Config{Model: "llama3.2", NumCtx: 16384})
//
// The server enforces the schema of a structured reply, including its bounds. A prompt that does not fit into the
// model's context window causes an error of kind context_overflow. By default the server would truncate it silently. An
// error says what to do if the server does not run or does not have the model.
package ollama

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Config configures a provider. The package reads no setting from the environment, except the proxy settings that
// net/http reads.
type Config struct {
	// Model is the default model, used if a request names none. Required. It must be installed on the server.
	Model string
	// BaseURL is the server's address. Defaults to http://127.0.0.1:11434.
	BaseURL string
	// Key is the API key, for servers that require one.
	Key string `json:"-"`
	// KeyFunc returns the API key of each request. Set it instead of Key if the key can change. It must be safe for
	// concurrent use and return promptly when its context ends. If it returns an error, the call fails with an error of
	// kind authentication, or of the kind of the *providers.Error that it returns.
	KeyFunc func(context.Context) (string, error) `json:"-"`
	// NumCtx is the size of the context window in tokens, input and output together. It is sent as num_ctx. Defaults to
	// the server's setting, which may be as low as 4,096. Memory grows with it: a model that needs more than the server has
	// causes an error of kind out_of_memory. The server lowers it to the model's own maximum. See [Provider.Window].
	NumCtx int
	// Header holds further headers of each request, such as those of a proxy. They replace headers of the same
	// name. Errors show no value that may be a key.
	Header http.Header `json:"-"`
	// HTTPClient sends the requests. Defaults to a client with default settings.
	HTTPClient *http.Client `json:"-"`
	// Timeout limits the time in which the service sends nothing. A whole call takes at most ten times as long.
	// Defaults to 120 s. A negative value disables both limits.
	Timeout time.Duration
	// Extra is merged into the body of each request as a JSON Merge Patch (RFC 7396): objects are merged, nil removes a
	// field, and anything else replaces it. Examples are "keep_alive", and "options", an object with settings such as
	// "top_k".
	Extra map[string]any
	// ErrorKind returns the kind of an error, or "" if the provider's own rules decide. Set it for a server whose errors
	// they misunderstand. status is the HTTP status. It is 0 for an error within a stream without one, and if no connection was
	// made or it broke off; body then is the text of the error. It must be safe for concurrent use.
	ErrorKind func(status int, body []byte) providers.ErrorKind `json:"-"`
	// NoSchema sends no schemas, so that only the prompt describes a structured reply.
	NoSchema bool
}

// String returns a description without the key.
func (c Config) String() string {
	return fmt.Sprintf("ollama.Config{Model: %q, NumCtx: %d}", c.Model, c.NumCtx)
}

// Format writes the result of String for every verb, so that no verb prints the key.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

const defaultBaseURL = "http://127.0.0.1:11434"

// Provider calls the models of one service. It is safe for concurrent use.
type Provider struct {
	client *wire.Client
	base   string
	model  string
	numCtx int
	models sync.Map // of description, by name; what Check has learned
}

// New returns a provider for the models that c describes.
func New(c Config) (*Provider, error) {
	base, err := c.baseURL()
	if err != nil {
		return nil, fmt.Errorf("create ollama provider: %w", err)
	}
	var start wire.Support
	if c.NoSchema {
		start.Schemas = wire.SchemasNone
	}
	client, err := wire.New(wire.Config{
		HTTP: c.HTTPClient, Key: c.Key, KeyFunc: c.KeyFunc, SetHeader: setKey, Header: c.Header, Timeout: c.Timeout, ErrorKind: c.ErrorKind, Extra: c.Extra, Start: start,
	})
	if err != nil {
		return nil, fmt.Errorf("create ollama provider: %w", err)
	}
	return &Provider{client: client, base: base, model: c.Model, numCtx: c.NumCtx}, nil
}

func setKey(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// baseURL validates c and returns the server's base URL.
func (c Config) baseURL() (string, error) {
	switch {
	case c.Model == "":
		return "", errors.New("Config.Model is empty: name a model, such as llama3.2")
	case c.NumCtx < 0:
		return "", fmt.Errorf("Config.NumCtx is %d, want 0 or a positive number of tokens", c.NumCtx)
	case c.BaseURL == "":
		return defaultBaseURL, nil
	}
	base := strings.TrimRight(c.BaseURL, "/")
	u, err := wire.ParseBaseURL(base, defaultBaseURL)
	switch {
	case err != nil:
		return "", err
	case strings.HasSuffix(u.Path, "/v1"), strings.HasSuffix(u.Path, "/api"):
		return "", fmt.Errorf("Config.BaseURL ends with %s: remove it, or use providers/openai for /v1", u.Path)
	}
	return base, nil
}
