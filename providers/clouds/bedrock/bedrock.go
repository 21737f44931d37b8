// Package bedrock provides Anthropic's models on Amazon Bedrock.
//
//	cfg, err := config.LoadDefaultConfig(ctx) // of github.com/aws/aws-sdk-go-v2/config
//	claude, err := bedrock.New(bedrock.Config{
//		Region: cfg.Region, Credentials: cfg.Credentials, Model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
//	})
//
// The model is the ID of a foundation model or of an inference profile, or an ARN. Everything else is as in package
// anthropic, whose requests this package signs and whose events it decodes: prompt caching, reasoning, schemas and tools.
//
// The provider cannot check a model before the first call, because Bedrock has no free request that every policy permits.
// A policy needs only the action bedrock:InvokeModelWithResponseStream.
//
// The package is a module of its own. It requires the signer and the event decoder of the AWS SDK, but not the packages
// that find credentials, because programs differ in where they have them.
package bedrock

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
	"github.com/elenchus-go/debate/providers/internal/cloud"
)

// Config configures a provider. The package reads no setting from the environment, except the proxy settings that
// net/http reads.
type Config struct {
	// Region is the region, such as us-east-1. Required.
	Region string
	// Credentials returns the credentials with which each request is signed. Credentials, Key or KeyFunc is required. The
	// credentials of config.LoadDefaultConfig are cached; put another slow source into an aws.NewCredentialsCache.
	Credentials aws.CredentialsProvider `json:"-"`
	// Key is a Bedrock API key. Requests with one are not signed.
	Key string `json:"-"`
	// KeyFunc returns the Bedrock API key of each request. Set it instead of Key if the key can change. It must be safe for
	// concurrent use and return promptly when its context ends. If it returns an error, the call fails with an error of
	// kind authentication, or of the kind of the *providers.Error that it returns.
	KeyFunc func(context.Context) (string, error) `json:"-"`
	// Model is the default model, used if a request names none. Required.
	Model string
	// BaseURL is the URL of the endpoint, for example of a VPC. Defaults to https://bedrock-runtime.REGION.amazonaws.com.
	BaseURL string
	// Header holds further headers of each request, such as those of a gateway. They replace headers of the same name.
	// Errors show no value that may be a key.
	Header http.Header `json:"-"`
	// HTTPClient sends the signed requests. Defaults to a client with default settings.
	HTTPClient *http.Client `json:"-"`
	// Timeout limits the time in which the service sends nothing. A whole call takes at most ten times as long.
	// Defaults to 120 s. A negative value disables both limits.
	Timeout time.Duration
	// Extra is merged into the body of each request as a JSON Merge Patch (RFC 7396): objects are merged, nil removes a
	// field, and anything else replaces it. An example is "anthropic_beta", a list.
	Extra map[string]any
	// ErrorKind returns the kind of an error, or "" if the provider's own rules decide. Set it for a server whose errors
	// they misunderstand. status is the HTTP status. It is 0 for an error within a stream without one, and if no connection was
	// made or it broke off; body then is the text of the error. It must be safe for concurrent use.
	ErrorKind func(status int, body []byte) providers.ErrorKind `json:"-"`
	// NoSchema sends no schemas, so that only the prompt describes a structured reply.
	NoSchema bool
	// NoCache sends no cache breakpoints. Set it if prompts do not repeat within five minutes, because writing to the
	// cache costs a quarter more.
	NoCache bool
	// LongCache keeps cache entries for an hour instead of five minutes. Writing to the cache then costs twice the price. Set
	// it if more than five minutes pass between the turns of a model, for example because people take part.
	LongCache bool
}

// String returns a description without keys.
func (c Config) String() string {
	return fmt.Sprintf("bedrock.Config{Model: %q, Region: %q}", c.Model, c.Region)
}

// Format writes the result of String for every verb, so that no verb prints a key.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

// version is Bedrock's version of Anthropic's API.
// Source: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html
const version = "bedrock-2023-05-31"

// Provider calls the models of one region. It is safe for concurrent use.
type Provider struct{ claude cloud.Claude }

// New returns a provider for the models that c describes.
func New(c Config) (*Provider, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("create bedrock provider: %w", err)
	}
	if c.BaseURL == "" {
		c.BaseURL = "https://bedrock-runtime." + c.Region + "." + domain(c.Region)
	}
	extra := map[string]any{"anthropic_version": version, "stream": nil} // the path says that the reply streams
	maps.Copy(extra, c.Extra)
	client := cloud.Client(c.HTTPClient, func(next http.RoundTripper) http.RoundTripper {
		return &transport{next: next, region: c.Region, credentials: c.Credentials, signer: v4.NewSigner()}
	})
	claude, err := anthropic.New(anthropic.Config{
		Key: c.Key, KeyFunc: c.KeyFunc, Model: c.Model, BaseURL: c.BaseURL, Header: c.Header, HTTPClient: client,
		Timeout: c.Timeout, Extra: extra, ErrorKind: c.ErrorKind, NoSchema: c.NoSchema, NoCache: c.NoCache, LongCache: c.LongCache,
	})
	if err != nil {
		return nil, fmt.Errorf("create bedrock provider: %w", err)
	}
	return &Provider{cloud.Claude{Provider: claude}}, nil
}

// domain returns the domain of the endpoints of a region.
func domain(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}

// check validates the fields that package anthropic does not know.
func (c Config) check() error {
	keyed := c.Key != "" || c.KeyFunc != nil
	switch {
	case c.Region == "":
		return errors.New("Config.Region is empty: name a region, such as us-east-1")
	case strings.Trim(c.Region, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return fmt.Errorf("Config.Region is %q, want a region such as us-east-1", c.Region)
	case c.Credentials == nil && !keyed:
		return errors.New("Config.Credentials is nil: set it, for example to the credentials of config.LoadDefaultConfig, or set Config.Key to a Bedrock API key")
	case c.Credentials != nil && keyed:
		return errors.New("Config.Credentials and a key are both set: set only one of them")
	case c.Model != "" && !strings.Contains(c.Model, "anthropic") && !strings.HasPrefix(c.Model, "arn:"):
		return fmt.Errorf("Config.Model is %q, want a model of Anthropic, such as us.anthropic.claude-sonnet-4-5-20250929-v1:0; providers/langchain has the others", c.Model)
	}
	return nil
}

// Generate requests one reply from the model.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return p.claude.Generate(ctx, r)
}

// DefaultModel returns the model of requests that name none.
func (p *Provider) DefaultModel() string { return p.claude.DefaultModel() }

// Unsupported returns the settings that the service or the model does not support.
func (p *Provider) Unsupported(r providers.Request) map[string]string { return p.claude.Unsupported(r) }
