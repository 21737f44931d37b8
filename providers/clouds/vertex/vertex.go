// Package vertex provides Google's Gemini models and Anthropic's models on Vertex AI.
//
//	source, err := google.DefaultTokenSource(ctx, vertex.Scope) // of golang.org/x/oauth2/google
//	models, err := vertex.New(vertex.Config{Project: "my-project", Location: "global", TokenSource: source, Model: "gemini-2.5-flash"})
//
// A model whose name begins with claude is one of Anthropic. Its requests are those of package anthropic, and the requests
// of all other models are those of package googleai. This package gives them Vertex AI's addresses and signs in. So
// one provider has the models of both, and prompt caching, reasoning, schemas and tools are as in those packages.
//
// The package is a module of its own. It requires golang.org/x/oauth2 for the interface of token sources. The package google
// in that module finds the credentials of a program.
package vertex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
	"github.com/elenchus-go/debate/providers/googleai"
	"github.com/elenchus-go/debate/providers/internal/cloud"
)

// Scope is the OAuth scope that a token for Vertex AI needs.
const Scope = "https://www.googleapis.com/auth/cloud-platform"

// Config configures a provider. The package reads no setting from the environment, except the proxy settings that
// net/http reads.
type Config struct {
	// Project is the ID of the project. Required.
	Project string
	// Location is global, a region such as europe-west4, or the multi-region us or eu. Required.
	Location string
	// TokenSource returns the token of each request. Required. Tokens are reused until they expire.
	TokenSource oauth2.TokenSource `json:"-"`
	// Model is the default model, used if a request names none. It is a name such as gemini-2.5-flash or
	// claude-sonnet-4-5@20250929, or that of a tuned model, such as projects/P/locations/L/endpoints/1. Required.
	Model string
	// BaseURL is the service's URL. Defaults to the URL of Location, such as https://aiplatform.googleapis.com.
	BaseURL string
	// Header holds further headers of each request, such as "X-Goog-User-Project". They replace headers of the same name.
	// Errors show no value that may be a key.
	Header http.Header `json:"-"`
	// HTTPClient sends the requests to models. Defaults to a client with default settings.
	HTTPClient *http.Client `json:"-"`
	// Timeout limits the time in which the service sends nothing. A whole call takes at most ten times as long.
	// Defaults to 120 s. A negative value disables both limits.
	Timeout time.Duration
	// Extra is merged into the body of each request as a JSON Merge Patch (RFC 7396): objects are merged, nil removes a
	// field, and anything else replaces it. Gemini and Claude have different fields, so set it only for one of them.
	Extra map[string]any
	// ErrorKind returns the kind of an error, or "" if the provider's own rules decide. Set it for a server whose errors
	// they misunderstand. status is the HTTP status. It is 0 for an error within a stream without one, and if no connection was
	// made or it broke off; body then is the text of the error. It must be safe for concurrent use.
	ErrorKind func(status int, body []byte) providers.ErrorKind `json:"-"`
	// NoSchema sends no schemas, so that only the prompt describes a structured reply.
	NoSchema bool
	// NoCache sends no cache breakpoints to Claude. Set it if prompts do not repeat within five minutes, because writing to
	// the cache costs a quarter more.
	NoCache bool
	// LongCache keeps cache entries for an hour instead of five minutes. Writing to the cache then costs twice the price. Set
	// it if more than five minutes pass between the turns of a model, for example because people take part.
	LongCache bool
}

// String returns a description without keys.
func (c Config) String() string {
	return fmt.Sprintf("vertex.Config{Model: %q, Project: %q, Location: %q}", c.Model, c.Project, c.Location)
}

// Format writes the result of String for every verb, so that no verb prints a key.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

// version is Vertex AI's version of Anthropic's API.
// Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude
const version = "vertex-2023-10-16"

// Provider calls the models of one project and location. It is safe for concurrent use.
type Provider struct {
	claude cloud.Claude
	gemini *googleai.Provider
	model  string
}

// New returns a provider for the models that c describes.
func New(c Config) (*Provider, error) {
	p, err := c.open()
	if err != nil {
		return nil, fmt.Errorf("create vertex provider: %w", err)
	}
	return p, nil
}

func (c Config) open() (*Provider, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	base := strings.TrimRight(cmp.Or(c.BaseURL, address(c.Location)), "/")
	place := "/v1/projects/" + c.Project + "/locations/" + c.Location + "/publishers/"
	token := tokenFunc(oauth2.ReuseTokenSource(nil, c.TokenSource))
	extra := map[string]any{"anthropic_version": version}
	maps.Copy(extra, c.Extra)
	claude, err := anthropic.New(anthropic.Config{
		KeyFunc: token, Model: c.Model, BaseURL: base, Header: c.Header, Timeout: c.Timeout, Extra: extra, ErrorKind: c.ErrorKind,
		NoSchema: c.NoSchema, NoCache: c.NoCache, LongCache: c.LongCache,
		HTTPClient: cloud.Client(c.HTTPClient, func(next http.RoundTripper) http.RoundTripper {
			return &claudeTransport{next, place + "anthropic/models/"}
		}),
	})
	if err != nil {
		return nil, err
	}
	gemini, err := googleai.New(googleai.Config{
		KeyFunc: token, Model: c.Model, BaseURL: base, Header: c.Header, Timeout: c.Timeout, Extra: c.Extra, ErrorKind: c.ErrorKind,
		NoSchema:   c.NoSchema,
		HTTPClient: cloud.Client(c.HTTPClient, func(next http.RoundTripper) http.RoundTripper { return &geminiTransport{next, place + "google/"} }),
	})
	if err != nil {
		return nil, err
	}
	return &Provider{cloud.Claude{Provider: claude}, gemini, c.Model}, nil
}

// address returns the URL of a location.
// Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/learn/locations
func address(location string) string {
	switch location {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + location + "-aiplatform.googleapis.com"
}

// check validates the fields that the other packages do not know.
func (c Config) check() error {
	const plain = "abcdefghijklmnopqrstuvwxyz0123456789-"
	switch {
	case c.Project == "":
		return errors.New("Config.Project is empty: name a project")
	case strings.Trim(c.Project, plain+".:") != "": // projects of a domain are named example.com:project
		return fmt.Errorf("Config.Project is %q, want the ID of a project", c.Project)
	case c.Location == "":
		return errors.New("Config.Location is empty: use global, or a region such as europe-west4")
	case strings.Trim(c.Location, plain) != "":
		return fmt.Errorf("Config.Location is %q, want global, or a region such as europe-west4", c.Location)
	case c.TokenSource == nil:
		return errors.New("Config.TokenSource is nil: set it, for example to that of google.DefaultTokenSource with the scope vertex.Scope")
	case c.Model == "":
		return errors.New("Config.Model is empty: name a model, such as gemini-2.5-flash")
	}
	return nil
}

// isClaude reports whether a model is one of Anthropic.
func isClaude(model string) bool { return strings.HasPrefix(model, "claude") }

// Generate requests one reply from the model.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if isClaude(cmp.Or(r.Model, p.model)) {
		return p.claude.Generate(ctx, r)
	}
	return p.gemini.Generate(ctx, r)
}

// DefaultModel returns the model of requests that name none.
func (p *Provider) DefaultModel() string { return p.model }

// Check asks the service to count the tokens of a short prompt for a Gemini model, which is free. For Claude, which cannot
// count in all locations, it only gets a token. If model is empty, Check uses the default model.
func (p *Provider) Check(ctx context.Context, model string) error {
	if isClaude(cmp.Or(model, p.model)) {
		return p.claude.Check(ctx, model)
	}
	return p.gemini.Check(ctx, model)
}

// Unsupported returns the settings that the service or the model does not support.
func (p *Provider) Unsupported(r providers.Request) map[string]string {
	if isClaude(cmp.Or(r.Model, p.model)) {
		return p.claude.Unsupported(r)
	}
	return p.gemini.Unsupported(r)
}
