// Package ollama provides the models of an Ollama server.
//
//	llama, err := ollama.New(ollama.Config{Model: "llama3.2", NumCtx: 16384})
//
// The server enforces the schema of a structured reply, including its bounds. A prompt that does not fit into the
// model's context window causes an error of kind context_overflow. By default the server would truncate it silently.
package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/ollama"

	"github.com/elenchus-go/debate/providers/langchain"
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
	// the server's setting, which may be as low as 4,096.
	NumCtx int
	// HTTPClient sends the requests. Defaults to a client with default settings.
	HTTPClient *http.Client `json:"-"`
	// Options are applied to every call. Examples are llms.WithTopP, llms.WithSeed and llms.WithStopWords.
	// The fields of a request override them.
	Options []llms.CallOption `json:"-"`
	// Extra holds further fields for each request, such as keep_alive, or think, which switches the reasoning of a model
	// on or off.
	Extra map[string]any
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
	*langchain.Provider
	transport *langchain.Transport
	base      string
	model     string
}

// New returns a provider for the models that c describes.
func New(c Config) (*Provider, error) {
	base, err := c.baseURL()
	if err != nil {
		return nil, fmt.Errorf("create ollama provider: %w", err)
	}
	key, err := langchain.Key(c.Key, c.KeyFunc)
	if err != nil {
		return nil, fmt.Errorf("create ollama provider: %w", err)
	}
	t := &langchain.Transport{Key: key, NoSchema: c.NoSchema, Extra: map[string]any{"truncate": false, "shift": false}}
	maps.Copy(t.Extra, c.Extra)
	if key != nil {
		t.Header = func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }
	}
	options := []ollama.Option{ollama.WithModel(c.Model), ollama.WithServerURL(base), ollama.WithHTTPClient(t.Client(c.HTTPClient))}
	if c.NumCtx > 0 {
		options = append(options, ollama.WithRunnerNumCtx(c.NumCtx))
	}
	model, err := ollama.New(options...)
	if err != nil {
		return nil, fmt.Errorf("create ollama provider: %w", err)
	}
	return &Provider{langchain.New(model, c.Options...), t, base, c.Model}, nil
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
	u, err := langchain.ParseBaseURL(base, defaultBaseURL)
	switch {
	case err != nil:
		return "", err
	case strings.HasSuffix(u.Path, "/v1"), strings.HasSuffix(u.Path, "/api"):
		return "", fmt.Errorf("Config.BaseURL ends with %s: remove it, or use providers/openai for /v1", u.Path)
	}
	return base, nil
}

// Check asks the server whether it has the model. If model is empty, Check uses the default model.
func (p *Provider) Check(ctx context.Context, model string) error {
	if model == "" {
		model = p.model
	}
	body, _ := json.Marshal(map[string]string{"model": model}) // strings always encode
	_, err := p.transport.Query(ctx, fmt.Sprintf("check model %q", model), http.MethodPost, p.base+"/api/show", body)
	return err
}
