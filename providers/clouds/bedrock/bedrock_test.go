package bedrock_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/internal/test/secrettest"
	"github.com/elenchus-go/debate/internal/test/servicetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/clouds/bedrock"
	"github.com/elenchus-go/debate/providers/providertest"
)

var _ providers.Provider = (*bedrock.Provider)(nil)

func TestContract(t *testing.T) {
	providertest.Run(t, fakellm.ProviderFunc(fakellm.Anthropic, func(t *testing.T, _ string, client *http.Client) providers.Provider {
		p, err := bedrock.New(bedrock.Config{
			Region: region, Credentials: signer(), Model: model, HTTPClient: &http.Client{Transport: &cloud{anthropic: client.Transport}},
		})
		require.NoError(t, err)
		return p
	}))
}

// The errors that Anthropic sends mean the same on Bedrock.
func TestErrorsOfTheServices(t *testing.T) {
	tested := 0
	for i, test := range servicetest.Load(t) {
		if test.Service != fakellm.Anthropic || test.Lines != nil {
			continue
		}
		tested++
		t.Run(fmt.Sprint(i, " ", test.Kind), func(t *testing.T) {
			p, _, s := start(t, bedrock.Config{}, test.Reply())
			_ = test.Require(t, p)
			require.Len(t, s.Requests(), 1, "nothing is repeated")
		})
	}
	require.Greater(t, tested, 10)
}

func TestErrorsOfBedrock(t *testing.T) {
	for kind, test := range map[string]struct {
		status  int
		message string
		want    providers.ErrorKind
	}{
		"AccessDeniedException": {403, "You don't have access to the model with the specified model ID.", providers.Authentication},
		"UnrecognizedClientException:http://internal.amazon.com/coral/x/": {403, "The security token included in the request is invalid.", providers.Authentication},
		"ExpiredTokenException":         {403, "The security token included in the request is expired", providers.Authentication},
		"ThrottlingException":           {429, "Too many tokens, please wait before trying again.", providers.RateLimit},
		"ModelNotReadyException":        {429, "The model is not ready for inference", providers.RateLimit},
		"ServiceUnavailableException":   {503, "Bedrock is unable to process your request.", providers.ServerError},
		"ModelErrorException":           {424, "The system encountered an unexpected error during processing. Try your request again.", providers.ServerError},
		"ModelTimeoutException":         {408, "Model has timed out in processing the request.", providers.Timeout},
		"InternalServerException":       {500, "The system encountered an unexpected error during processing.", providers.ServerError},
		"ValidationException":           {400, "Invocation of model ID anthropic.claude-sonnet-4-5 with on-demand throughput isn't supported.", providers.InvalidRequest},
		"ValidationException:":          {400, "Input is too long for requested model.", providers.ContextOverflow},
		"ResourceNotFoundException":     {404, "This Model is marked by provider as Legacy.", providers.InvalidRequest},
		"ServiceQuotaExceededException": {400, "Your request exceeds the service quota for your account.", providers.InvalidRequest},
	} {
		t.Run(kind, func(t *testing.T) {
			p, c, _ := start(t, bedrock.Config{}, fakellm.Reply{Status: test.status, Body: fmt.Sprintf(`{"message": %q}`, test.message)})
			c.header = map[string]string{"X-Amzn-Errortype": kind}
			_, err := p.Generate(t.Context(), calltest.Ask())
			_ = calltest.RequireKind(t, test.want, err)
			require.ErrorContains(t, err, test.message)
		})
	}
}

func TestExceptionsInAStream(t *testing.T) {
	for kind, want := range map[string]providers.ErrorKind{
		"internalServerException": providers.ServerError, "modelStreamErrorException": providers.ServerError, "modelTimeoutException": providers.Timeout,
		"serviceUnavailableException": providers.ServerError, "throttlingException": providers.RateLimit, "validationException": providers.InvalidRequest,
		"anotherException": providers.ServerError,
	} {
		t.Run(kind, func(t *testing.T) {
			p, c, _ := start(t, bedrock.Config{}, fakellm.Reply{Chunks: []string{"So "}, EndEarly: true})
			c.exception = map[string]string{kind: `{"message": "the model stopped", "originalStatusCode": 500}`}
			_, err := p.Generate(t.Context(), calltest.Listen(new([]string)))
			e := calltest.RequireKind(t, want, err)
			require.ErrorContains(t, err, "the model stopped")
			require.Equal(t, "So ", e.Partial.Text)
		})
	}
}

func TestModels(t *testing.T) {
	for _, name := range []string{model, profile, "anthropic.claude-3-haiku-20240307-v1:0"} {
		p, c, _ := start(t, bedrock.Config{}, fakellm.Reply{Chunks: []string{"So."}})
		r := calltest.Ask()
		r.Model = name
		res := calltest.Generate(t, p, r)
		require.Equal(t, "So.", res.Text)
		require.Equal(t, []string{name}, c.models)
	}
}

func TestAKeyReplacesTheSignature(t *testing.T) {
	const key = "ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl"
	p, c, s := start(t, bedrock.Config{Key: key}, fakellm.Reply{Chunks: []string{"So."}}, fakellm.Reply{Status: 403, Body: `{"message": "the key ` + key + ` is inactive"}`})
	calltest.Generate(t, p, calltest.Ask())
	require.Empty(t, s.Requests()[0].Header.Get("X-Api-Key"))
	c.header = map[string]string{"X-Amzn-Errortype": "AccessDeniedException"}
	_, err := p.Generate(t.Context(), calltest.Ask())
	require.ErrorContains(t, calltest.RequireKind(t, providers.Authentication, err), "the key [key] is inactive")
}

func TestNoErrorShowsTheCredentials(t *testing.T) {
	for name, text := range map[string]string{"token": keys.SessionToken, "access key": keys.AccessKeyID} {
		for status, header := range map[int]string{403: "UnrecognizedClientException", 500: ""} {
			p, c, _ := start(t, bedrock.Config{}, fakellm.Reply{Status: status, Body: `{"message": "refused: ` + text + `"}`})
			c.header = map[string]string{"X-Amzn-Errortype": header}
			_, err := p.Generate(t.Context(), calltest.Ask())
			require.ErrorContains(t, err, "refused: [key]", name)
		}
		p, c, _ := start(t, bedrock.Config{}, fakellm.Reply{Chunks: []string{"So "}, EndEarly: true})
		c.exception = map[string]string{"validationException": `{"message": "refused: ` + text + `"}`}
		_, err := p.Generate(t.Context(), calltest.Ask())
		require.ErrorContains(t, err, "refused: [key]", name)
	}
	p, _, _ := start(t, bedrock.Config{Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, errors.New("no lease for " + keys.AccessKeyID)
	})})
	_, err := p.Generate(t.Context(), calltest.Ask())
	require.EqualError(t, calltest.RequireKind(t, providers.Authentication, err), "authentication: get credentials: no lease for [key]")

	other := keys
	other.SecretAccessKey = "another-secret-key-of-another-account"
	p, _, _ = start(t, bedrock.Config{Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return other, nil })})
	_, err = p.Generate(t.Context(), calltest.Ask())
	require.ErrorContains(t, calltest.RequireKind(t, providers.Authentication, err), "does not match")
	require.NotContains(t, err.Error(), "Signature=", "the error does not quote the header")
}

func TestNoPrintShowsCredentials(t *testing.T) {
	c := bedrock.Config{Region: region, Model: model, Key: "a-key-that-nobody-sees", Header: http.Header{"X-Gateway-Key": {"a-key-that-nobody-sees"}}}
	p, err := bedrock.New(c)
	require.NoError(t, err)
	secrettest.NotPrinted(t, "a-key-that-nobody-sees", c, &c, []bedrock.Config{c}, p)
}

func TestHeader(t *testing.T) {
	secrettest.RunHeader(t, fakellm.Anthropic, func(s secrettest.Settings) (providers.Provider, any, error) {
		if s.HTTPClient != nil {
			s.HTTPClient = &http.Client{Transport: &cloud{anthropic: s.HTTPClient.Transport}}
		}
		c := bedrock.Config{Region: region, Credentials: signer(), Model: model, BaseURL: s.BaseURL, HTTPClient: s.HTTPClient, Header: s.Header}
		p, err := bedrock.New(c)
		return p, c, err
	})
}

func TestWhatIsMissingOrWrongIsNamed(t *testing.T) {
	good := bedrock.Config{Region: region, Credentials: signer(), Model: model}
	for want, change := range map[string]func(*bedrock.Config){
		"Config.Region is empty: name a region":                          func(c *bedrock.Config) { c.Region = "" },
		`Config.Region is "eu-central-1.example.com/", want a region`:    func(c *bedrock.Config) { c.Region += ".example.com/" },
		"Config.Credentials is nil: set it":                              func(c *bedrock.Config) { c.Credentials = nil },
		"Config.Credentials and a key are both set":                      func(c *bedrock.Config) { c.Key = "k" },
		"Config.Model is empty":                                          func(c *bedrock.Config) { c.Model = "" },
		`Config.Model is "amazon.nova-pro-v1:0", want a model of Anthro`: func(c *bedrock.Config) { c.Model = "amazon.nova-pro-v1:0" },
		"Config.BaseURL is not a valid http or https URL":                func(c *bedrock.Config) { c.BaseURL = "x" },
	} {
		c := good
		change(&c)
		_, err := bedrock.New(c)
		require.ErrorContains(t, err, "create bedrock provider: ")
		require.ErrorContains(t, err, want)
	}
}

// The addresses of the regions are those of the AWS SDKs.
func TestAddresses(t *testing.T) {
	for name, want := range map[string]string{"us-east-1": "bedrock-runtime.us-east-1.amazonaws.com", "cn-north-1": "bedrock-runtime.cn-north-1.amazonaws.com.cn"} {
		host := ""
		p, err := bedrock.New(bedrock.Config{Region: name, Credentials: signer(), Model: model, HTTPClient: &http.Client{Transport: calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			host = r.URL.Host
			return nil, errors.New("no network")
		})}})
		require.NoError(t, err)
		_, err = p.Generate(t.Context(), calltest.Ask())
		_ = calltest.RequireKind(t, providers.Network, err)
		require.Equal(t, want, host)
	}
}

func TestAttachmentsNeedTheirData(t *testing.T) {
	p, err := bedrock.New(bedrock.Config{Region: region, Key: "k", Model: model})
	require.NoError(t, err)
	picture := providers.Attachment{Name: "a.png", MediaType: "image/png", URL: "https://example.com/a.png"}
	request := func() providers.Request {
		return providers.Request{Messages: []providers.Message{{Role: providers.User, Parts: []providers.Part{{Attachment: &picture}}}}}
	}
	require.Equal(t, map[string]string{
		"attachments": `the service fetches no addresses, give the data of "a.png" instead of the URL`,
	}, p.Unsupported(request()))
	picture.URL, picture.Data = "", []byte("1")
	require.Empty(t, p.Unsupported(request()))
}
