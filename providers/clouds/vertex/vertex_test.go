package vertex_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/internal/test/secrettest"
	"github.com/elenchus-go/debate/internal/test/servicetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/clouds/vertex"
	"github.com/elenchus-go/debate/providers/providertest"
)

const (
	gemini = "gemini-2.5-flash"
	claude = "claude-sonnet-4-5@20250929"
)

var (
	_ providers.Provider = (*vertex.Provider)(nil)
	_ providers.Checker  = (*vertex.Provider)(nil)

	// protocols maps the models to the protocols of their services.
	protocols = map[string]fakellm.Protocol{gemini: fakellm.Google, claude: fakellm.Anthropic}
)

// start returns a provider of a fake service that sends the replies.
func start(t *testing.T, c vertex.Config, replies ...fakellm.Reply) (*vertex.Provider, *cloud, *fakellm.Server) {
	t.Helper()
	s := fakellm.Start(t, protocols[c.Model], replies...)
	service := &cloud{inner: s.Client(t).Transport}
	if c.TokenSource == nil {
		c.TokenSource = signIn(t, &signInService{})
	}
	c.Project = project
	c.Location = location
	c.HTTPClient = &http.Client{Transport: service}
	p, err := vertex.New(c)
	require.NoError(t, err)
	return p, service, s
}

func TestContract(t *testing.T) {
	for model, protocol := range protocols {
		t.Run(model, func(t *testing.T) {
			providertest.Run(t, fakellm.ProviderFunc(protocol, func(t *testing.T, _ string, client *http.Client) providers.Provider {
				p, err := vertex.New(vertex.Config{
					Project: project, Location: location, TokenSource: signIn(t, &signInService{}), Model: model,
					HTTPClient: &http.Client{Transport: &cloud{inner: client.Transport}},
				})
				require.NoError(t, err)
				return p
			}))
		})
	}
}

// The errors that Google and Anthropic send mean the same on Vertex AI.
func TestErrorsOfTheServices(t *testing.T) {
	tested := map[string]int{}
	for i, test := range servicetest.Load(t) {
		for model, protocol := range protocols {
			if test.Service != protocol {
				continue
			}
			tested[model]++
			t.Run(fmt.Sprint(i, " ", model, " ", test.Kind), func(t *testing.T) {
				p, _, s := start(t, vertex.Config{Model: model}, test.Reply())
				_ = test.Require(t, p)
				require.Len(t, s.Requests(), 1, "nothing is repeated")
			})
		}
	}
	require.Greater(t, min(tested[gemini], tested[claude]), 10, tested)
}

// One provider has the models of both makers.
func TestModels(t *testing.T) {
	for name, want := range map[string]string{
		gemini: "publishers/google/models/gemini-2.5-flash:streamGenerateContent",
		claude: "publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict",
		"projects/debates-1/locations/europe-west4/endpoints/42": "endpoints/42:streamGenerateContent",
	} {
		protocol := fakellm.Google
		if name == claude {
			protocol = fakellm.Anthropic
		}
		s := fakellm.Start(t, protocol, fakellm.Reply{Chunks: []string{"So."}})
		service := &cloud{inner: s.Client(t).Transport}
		for _, config := range []string{gemini, claude} {
			p, err := vertex.New(vertex.Config{
				Project: project, Location: location, TokenSource: signIn(t, &signInService{}), Model: config, HTTPClient: &http.Client{Transport: service},
			})
			require.NoError(t, err)
			r := calltest.Ask()
			r.Model = name
			res := calltest.Generate(t, p, r)
			require.Equal(t, "So.", res.Text)
		}
		path := "/v1/projects/debates-1/locations/europe-west4/" + want
		require.Equal(t, []string{path, path}, service.paths)
	}
}

func TestCheck(t *testing.T) {
	for model, want := range map[string]string{
		gemini:           "",
		claude:           "",
		"gemini-unknown": `invalid_request: check model "gemini-unknown": call model: status 404: Publisher Model was not found`,
	} {
		p, service, _ := start(t, vertex.Config{Model: gemini})
		err := p.Check(t.Context(), model)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want)
		}
		require.Len(t, service.paths, map[bool]int{true: 0, false: 1}[model == claude])
	}
	for _, model := range []string{gemini, claude} {
		p, _, _ := start(t, vertex.Config{Model: model, TokenSource: signIn(t, &signInService{status: 400, body: `{"error": "invalid_grant"}`})})
		err := p.Check(t.Context(), "")
		require.ErrorContains(t, calltest.RequireKind(t, providers.Authentication, err), "invalid_grant")
	}
}

func TestTokensAreReusedUntilTheyExpire(t *testing.T) {
	for expires, want := range map[int]int{3600: 1, 5: 3} { // a token of 5 s has expired, because the library subtracts 10 s
		s := &signInService{expires: expires}
		p, _, _ := start(t, vertex.Config{Model: gemini, TokenSource: signIn(t, s)}, fakellm.Reply{Chunks: []string{"So."}})
		for range 3 {
			calltest.Generate(t, p, calltest.Ask())
		}
		require.Equal(t, want, s.n)
	}
}

type source func() (*oauth2.Token, error)

func (s source) Token() (*oauth2.Token, error) { return s() }

func TestFailuresToSignIn(t *testing.T) {
	const secret = "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a3928"
	for name, test := range map[string]struct {
		source oauth2.TokenSource
		kind   providers.ErrorKind
		says   string
	}{
		"refused":    {signIn(t, &signInService{status: 400, body: `{"error": "invalid_grant", "error_description": "` + secret + ` has expired"}`}), providers.Authentication, "[key] has expired"},
		"overloaded": {signIn(t, &signInService{status: 503, body: `busy`}), providers.ServerError, "busy"},
		"too many":   {signIn(t, &signInService{status: 429, body: `busy`}), providers.ServerError, "busy"},
		"no network": {source(func() (*oauth2.Token, error) { return nil, &timeout{} }), providers.Network, "no route"},
		"no file":    {source(func() (*oauth2.Token, error) { return nil, errors.New("open key.json: no such file") }), providers.Authentication, "get key: open key.json"},
	} {
		t.Run(name, func(t *testing.T) {
			for model := range protocols {
				p, service, _ := start(t, vertex.Config{Model: model, TokenSource: test.source})
				_, err := p.Generate(t.Context(), calltest.Ask())
				require.ErrorContains(t, calltest.RequireKind(t, test.kind, err), test.says)
				require.NotContains(t, err.Error(), secret[:8])
				require.Empty(t, service.paths, "no request is sent")
			}
		})
	}
}

// timeout is an error of a network.
type timeout struct{}

func (*timeout) Error() string   { return "no route to host" }
func (*timeout) Timeout() bool   { return true }
func (*timeout) Temporary() bool { return true }

func TestACallEndsAlthoughTheTokenSourceHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p, _, _ := start(t, vertex.Config{Model: gemini, TokenSource: source(func() (*oauth2.Token, error) {
			<-release
			return &oauth2.Token{AccessToken: token}, nil
		})})
		ctx, cancel := context.WithTimeout(calltest.Forever(t), time.Second)
		defer cancel()
		_, err := p.Generate(ctx, calltest.Ask())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		close(release)
	})
}

func TestNoErrorShowsTheToken(t *testing.T) {
	for model := range protocols {
		for _, reply := range []fakellm.Reply{
			{Status: 401, Body: `{"error": {"message": "the token ` + token + ` is wrong"}}`},
			{Chunks: []string{"So "}, RawLines: []string{`data: {"error": {"message": "the token ` + token + ` is wrong"}}`, "", ""}},
		} {
			p, _, _ := start(t, vertex.Config{Model: model}, reply)
			_, err := p.Generate(t.Context(), calltest.Ask())
			require.ErrorContains(t, err, "the token [key] is wrong")
			secrettest.NotPrinted(t, token, p)
		}
	}
	c := vertex.Config{Project: project, Location: location, Model: gemini, TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token}), Header: http.Header{"X-Gateway-Key": {token}}}
	secrettest.NotPrinted(t, token, c, &c, []vertex.Config{c})
}

func TestHeader(t *testing.T) {
	for model, protocol := range protocols {
		secrettest.RunHeader(t, protocol, func(s secrettest.Settings) (providers.Provider, any, error) {
			if s.HTTPClient != nil {
				s.HTTPClient = &http.Client{Transport: &cloud{inner: s.HTTPClient.Transport}}
			}
			c := vertex.Config{Project: project, Location: location, TokenSource: signIn(t, &signInService{}), Model: model, BaseURL: s.BaseURL, HTTPClient: s.HTTPClient, Header: s.Header}
			p, err := vertex.New(c)
			return generator{p}, c, err
		})
	}
}

// generator hides the check of a provider, which asks Vertex AI nothing about Claude.
type generator struct{ providers.Provider }

func TestWhatIsMissingOrWrongIsNamed(t *testing.T) {
	good := vertex.Config{Project: project, Location: location, TokenSource: signIn(t, &signInService{}), Model: gemini}
	for want, change := range map[string]func(*vertex.Config){
		"Config.Project is empty: name a project":         func(c *vertex.Config) { c.Project = "" },
		`Config.Project is "a/b", want the ID`:            func(c *vertex.Config) { c.Project = "a/b" },
		"Config.Location is empty: use global":            func(c *vertex.Config) { c.Location = "" },
		`Config.Location is "x.example/", want global`:    func(c *vertex.Config) { c.Location = "x.example/" },
		"Config.TokenSource is nil: set it":               func(c *vertex.Config) { c.TokenSource = nil },
		"Config.Model is empty":                           func(c *vertex.Config) { c.Model = "" },
		"Config.BaseURL is not a valid http or https URL": func(c *vertex.Config) { c.BaseURL = "x" },
		"Config.Extra cannot be written as JSON":          func(c *vertex.Config) { c.Extra = map[string]any{"x": func() {}} },
	} {
		c := good
		change(&c)
		_, err := vertex.New(c)
		require.ErrorContains(t, err, "create vertex provider: ")
		require.ErrorContains(t, err, want)
	}
}

func TestAddresses(t *testing.T) {
	for place, want := range map[string]string{
		"global": "aiplatform.googleapis.com", "us-east5": "us-east5-aiplatform.googleapis.com", "eu": "aiplatform.eu.rep.googleapis.com",
	} {
		for model := range protocols {
			service := &cloud{}
			p, err := vertex.New(vertex.Config{
				Project: project, Location: place, TokenSource: signIn(t, &signInService{}), Model: model, HTTPClient: &http.Client{Transport: service},
			})
			require.NoError(t, err)
			_, err = p.Generate(t.Context(), calltest.Ask())
			_ = calltest.RequireKind(t, providers.InvalidRequest, err)
			require.Equal(t, want, service.host)
		}
	}
}

func TestClaudeNeedsTheDataOfAttachments(t *testing.T) {
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "t"})
	p, err := vertex.New(vertex.Config{Project: "p", Location: "global", TokenSource: source, Model: "gemini-2.5-flash"})
	require.NoError(t, err)
	picture := &providers.Attachment{Name: "a.png", MediaType: "image/png", URL: "https://example.com/a.png"}
	r := providers.Request{Messages: []providers.Message{{Role: providers.User, Parts: []providers.Part{{Attachment: picture}}}}}
	require.Empty(t, p.Unsupported(r))
	r.Model = "claude-sonnet-4-5@20250929"
	require.Contains(t, p.Unsupported(r)["attachments"], `give the data of "a.png" instead of the URL`)
}
