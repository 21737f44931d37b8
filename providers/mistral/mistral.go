// Package mistral provides Mistral's models.
//
//	model, err := mistral.New(mistral.Config{Key: key, Model: "mistral-small-latest"})
//
// It uses providers/openai, because Mistral's servers speak the protocol of OpenAI. It does not use langchaingo's own
// client for Mistral, which has three defects: it ignores contexts, so that neither a deadline nor a cancellation ends
// a call; it drops stop words, top_p and JSON modes; and it repeats refused requests with an empty body, which hides
// rate limits.
package mistral

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/providers/openai"
)

// Config says which models a provider calls. No setting is read from the environment, but for the proxy that net/http
// finds there.
type Config struct {
	// Key is the API key. Required.
	Key string `json:"-"`
	// Model is called where a request names none. Required.
	Model string
	// BaseURL is the address up to /chat/completions. Defaults to https://api.mistral.ai/v1.
	BaseURL string
	// HTTPClient sends the requests. Defaults to a plain one.
	HTTPClient *http.Client `json:"-"`
	// Options go with every call, such as llms.WithTopP, llms.WithSeed and llms.WithStopWords; requests win over them.
	Options []llms.CallOption `json:"-"`
	// Extra are further fields of each request, such as safe_prompt.
	Extra map[string]any
}

// String names the model, not the key.
func (c Config) String() string { return fmt.Sprintf("mistral.Config{Model: %q}", c.Model) }

// Format writes String, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

const defaultBaseURL = "https://api.mistral.ai/v1"

// New is a provider for the models of c.
func New(c Config) (*openai.Provider, error) {
	switch {
	case c.Key == "":
		return nil, errors.New("make mistral provider: Config.Key is empty: set the API key")
	case c.Model == "":
		return nil, errors.New("make mistral provider: Config.Model is empty: name a model, such as mistral-small-latest")
	case c.BaseURL == "":
		c.BaseURL = defaultBaseURL
	}
	p, err := openai.New(openai.Config{
		Key: c.Key, Model: c.Model, BaseURL: c.BaseURL, HTTPClient: c.HTTPClient, Options: c.Options, Extra: c.Extra,
		MaxTokensField: "max_tokens", Rename: map[string]string{"seed": "random_seed"},
	})
	if err != nil {
		return nil, fmt.Errorf("make mistral provider: %w", err)
	}
	return p, nil
}
