// Package ollama provides the models of an Ollama server.
//
//	llama, err := ollama.New(ollama.Config{Model: "llama3.2", NumCtx: 16384})
//
// The server enforces the schema of a structured reply, including its bounds. A prompt that does not fit into the
// model's context window is an error of kind context_overflow; without this package the server would cut the prompt
// silently.
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

// Config says which models a provider calls. No setting is read from the environment, but for the proxy that net/http
// finds there.
type Config struct {
	// Model is called where a request names none. Required. The server must have it.
	Model string
	// BaseURL is the server's address. Defaults to http://127.0.0.1:11434.
	BaseURL string
	// Key is the API key, for servers that ask for one.
	Key string `json:"-"`
	// NumCtx is how many tokens the model reads and writes in one call, the server's num_ctx. Defaults to what the
	// server chooses, which may be no more than 4,096.
	NumCtx int
	// HTTPClient sends the requests. Defaults to a plain one.
	HTTPClient *http.Client `json:"-"`
	// Options go with every call, such as llms.WithTopP, llms.WithSeed and llms.WithStopWords; requests win over them.
	Options []llms.CallOption `json:"-"`
	// Extra are further fields of each request, such as keep_alive, or think, with which models that reason can be told
	// not to.
	Extra map[string]any
	// NoSchema leaves structured replies to the prompt.
	NoSchema bool
}

// String names the model, not the key.
func (c Config) String() string {
	return fmt.Sprintf("ollama.Config{Model: %q, NumCtx: %d}", c.Model, c.NumCtx)
}

// Format writes String, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

const defaultBaseURL = "http://127.0.0.1:11434"

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
		return nil, fmt.Errorf("make ollama provider: %w", err)
	}
	t := &langchain.Transport{NoSchema: c.NoSchema, Extra: map[string]any{"truncate": false, "shift": false}}
	maps.Copy(t.Extra, c.Extra)
	if c.Key != "" {
		t.Header = func(h http.Header) { h.Set("Authorization", "Bearer "+c.Key) }
	}
	options := []ollama.Option{ollama.WithModel(c.Model), ollama.WithServerURL(base), ollama.WithHTTPClient(t.Client(c.HTTPClient))}
	if c.NumCtx > 0 {
		options = append(options, ollama.WithRunnerNumCtx(c.NumCtx))
	}
	model, err := ollama.New(options...)
	if err != nil {
		return nil, fmt.Errorf("make ollama provider: %w", err)
	}
	return &Provider{langchain.New(model, c.Options...), t, base, c.Model}, nil
}

// baseURL is the server's baseURL, unless something is missing or wrong.
func (c Config) baseURL() (string, error) {
	switch {
	case c.Model == "":
		return "", errors.New("Config.Model is empty: name a model, such as llama3.2")
	case c.NumCtx < 0:
		return "", fmt.Errorf("Config.NumCtx is %d, want a number of tokens", c.NumCtx)
	case c.BaseURL == "":
		return defaultBaseURL, nil
	}
	base := strings.TrimRight(c.BaseURL, "/")
	u, err := langchain.ParseBaseURL(base, defaultBaseURL)
	switch {
	case err != nil:
		return "", err
	case strings.HasSuffix(u.Path, "/v1"), strings.HasSuffix(u.Path, "/api"):
		return "", fmt.Errorf("Config.BaseURL ends with %s, leave that out; /v1 is for providers/openai", u.Path)
	}
	return base, nil
}

// Check asks the server whether it has the model. The empty model is the provider's own.
func (p *Provider) Check(ctx context.Context, model string) error {
	if model == "" {
		model = p.model
	}
	body, _ := json.Marshal(map[string]string{"model": model}) // strings always encode
	_, err := p.transport.Query(ctx, fmt.Sprintf("check model %q", model), http.MethodPost, p.base+"/api/show", body)
	return err
}
