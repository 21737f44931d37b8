// Package googleai provides Google's Gemini models.
//
//	gemini, err := googleai.New(googleai.Config{Key: key, Model: "gemini-2.5-flash"})
//
// The package is a separate module because Google's client requires 39 other modules. To avoid them, use
// providers/openai with the BaseURL https://generativelanguage.googleapis.com/v1beta/openai.
//
// If a request has no token limit, langchaingo sends a limit of 2048. For each model, a provider holds a connection that
// cannot be closed, so create one provider and keep it.
package googleai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/googleai"
	"google.golang.org/api/option"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
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
	// BaseURL is the service's URL. Defaults to https://generativelanguage.googleapis.com.
	BaseURL string
	// HTTPClient sends the requests. Defaults to a client with default settings.
	HTTPClient *http.Client `json:"-"`
	// Options are applied to every call. Examples are llms.WithTopP, llms.WithSeed and llms.WithStopWords.
	// The fields of a request override them.
	Options []llms.CallOption `json:"-"`
	// Extra holds further fields for each request.
	Extra map[string]any
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
	config    Config
	client    *http.Client
	transport *langchain.Transport

	mu     sync.Mutex
	models map[string]*langchain.Provider // one client per model: langchaingo's client supports only one model at a time
}

// New returns a provider for the models that c describes.
func New(c Config) (*Provider, error) {
	switch {
	case c.Key == "" && c.KeyFunc == nil:
		return nil, errors.New("create googleai provider: Config.Key is empty: set the API key, or Config.KeyFunc")
	case c.Model == "":
		return nil, errors.New("create googleai provider: Config.Model is empty: name a model, such as gemini-2.5-flash")
	case c.BaseURL == "":
		c.BaseURL = defaultBaseURL
	}
	if _, err := langchain.ParseBaseURL(c.BaseURL, defaultBaseURL); err != nil {
		return nil, fmt.Errorf("create googleai provider: %w", err)
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	key, err := langchain.Key(c.Key, c.KeyFunc)
	if err != nil {
		return nil, fmt.Errorf("create googleai provider: %w", err)
	}
	c.Key, c.KeyFunc = "", nil // the transport sets the key
	t := &langchain.Transport{
		Key:    key,
		Header: func(h http.Header, key string) { h.Set("X-Goog-Api-Key", key) },
		Extra:  c.Extra, NoSchemaBounds: true, NoSchema: c.NoSchema,
	}
	p := &Provider{config: c, client: t.Client(c.HTTPClient), transport: t, models: map[string]*langchain.Provider{}}
	if _, err := p.modelProvider(context.Background(), c.Model); err != nil {
		return nil, fmt.Errorf("create googleai provider: %w", err)
	}
	return p, nil
}

// modelProvider returns the provider of one model. It creates the provider on the first call.
func (p *Provider) modelProvider(ctx context.Context, model string) (*langchain.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.models[model]; ok {
		return known, nil
	}
	m, err := googleai.New(
		context.WithoutCancel(ctx),  // the client outlives the call
		googleai.WithAPIKey("none"), // the transport sets the key
		googleai.WithDefaultModel(model), googleai.WithHTTPClient(p.client),
		func(o *googleai.Options) {
			o.ClientOptions = append(o.ClientOptions, option.WithEndpoint(p.config.BaseURL))
		})
	if err != nil {
		return nil, err
	}
	p.models[model] = langchain.New(m, p.config.Options...)
	return p.models[model], nil
}

// Generate requests one reply from the model.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if r.Model == "" {
		r.Model = p.config.Model
	}
	model, err := p.modelProvider(ctx, r.Model)
	if err != nil {
		return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("create client of model %s: %w", r.Model, err)}
	}
	r.Model = "" // the client has only this model
	return model.Generate(ctx, r)
}

// Check asks the service whether the model exists and the key is valid. If model is empty, Check uses the default model.
func (p *Provider) Check(ctx context.Context, model string) error {
	if model == "" {
		model = p.config.Model
	}
	name := model
	if !strings.Contains(name, "/") {
		name = "models/" + name
	}
	_, err := p.transport.Query(ctx, fmt.Sprintf("check model %q", model), http.MethodGet, p.config.BaseURL+"/v1beta/"+name, nil)
	return err
}
