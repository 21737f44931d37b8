// Package googleai provides Google's Gemini models.
//
//	gemini, err := googleai.New(googleai.Config{Key: key, Model: "gemini-2.5-flash"})
//
// It is a separate module because Google's client requires 39 other modules. To avoid them, use providers/openai with
// the BaseURL https://generativelanguage.googleapis.com/v1beta/openai.
//
// A request without a token limit is sent with a limit of 2048, because langchaingo sends one. Each model that a
// provider calls holds a connection that cannot be closed, so create one provider and keep it.
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

// Config says which models a provider calls. No setting is read from the environment, but for the proxy that net/http
// finds there.
type Config struct {
	// Key is the API key. Required.
	Key string `json:"-"`
	// Model is called where a request names none. Required.
	Model string
	// BaseURL is the service's address. Defaults to https://generativelanguage.googleapis.com.
	BaseURL string
	// HTTPClient sends the requests. Defaults to a plain one.
	HTTPClient *http.Client `json:"-"`
	// Options go with every call, such as llms.WithTopP, llms.WithSeed and llms.WithStopWords; requests win over them.
	Options []llms.CallOption `json:"-"`
	// Extra are further fields of each request.
	Extra map[string]any
	// NoSchema leaves structured replies to the prompt.
	NoSchema bool
}

// String names the model, not the key.
func (c Config) String() string { return fmt.Sprintf("googleai.Config{Model: %q}", c.Model) }

// Format writes String, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

const defaultBaseURL = "https://generativelanguage.googleapis.com"

// Provider calls models. It is safe for concurrent use.
type Provider struct {
	config    Config
	client    *http.Client
	transport *langchain.Transport

	mu     sync.Mutex
	models map[string]*langchain.Provider // a client each: langchaingo's is not safe for several models at a time
}

// New is a provider for the models of c.
func New(c Config) (*Provider, error) {
	switch {
	case c.Key == "":
		return nil, errors.New("make googleai provider: Config.Key is empty: set the API key")
	case c.Model == "":
		return nil, errors.New("make googleai provider: Config.Model is empty: name a model, such as gemini-2.5-flash")
	case c.BaseURL == "":
		c.BaseURL = defaultBaseURL
	}
	if _, err := langchain.ParseBaseURL(c.BaseURL, defaultBaseURL); err != nil {
		return nil, fmt.Errorf("make googleai provider: %w", err)
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	key := c.Key
	c.Key = "" // the transport has it
	t := &langchain.Transport{
		Header: func(h http.Header) { h.Set("X-Goog-Api-Key", key) },
		Extra:  c.Extra, NoSchemaBounds: true, NoSchema: c.NoSchema,
	}
	p := &Provider{config: c, client: t.Client(c.HTTPClient), transport: t, models: map[string]*langchain.Provider{}}
	if _, err := p.modelProvider(context.Background(), c.Model); err != nil {
		return nil, fmt.Errorf("make googleai provider: %w", err)
	}
	return p, nil
}

// modelProvider is the provider modelProvider one model.
func (p *Provider) modelProvider(ctx context.Context, model string) (*langchain.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.models[model]; ok {
		return known, nil
	}
	m, err := googleai.New(
		context.WithoutCancel(ctx),  // it outlives the call
		googleai.WithAPIKey("none"), // the transport has the key
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

// Generate asks the model for one reply.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if r.Model == "" {
		r.Model = p.config.Model
	}
	model, err := p.modelProvider(ctx, r.Model)
	if err != nil {
		return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("make client of model %s: %w", r.Model, err)}
	}
	r.Model = "" // the client's own
	return model.Generate(ctx, r)
}

// Check asks for the model, whether it exists and the key is good. The empty model is the provider's own.
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
