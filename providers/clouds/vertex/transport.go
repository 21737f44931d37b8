package vertex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/cloud"
)

// tokenFunc returns a Config.KeyFunc that gets tokens. A source cannot be canceled, so it is left alone if ctx ends.
func tokenFunc(source oauth2.TokenSource) func(context.Context) (string, error) {
	type result struct {
		token *oauth2.Token
		err   error
	}
	return func(ctx context.Context) (string, error) {
		done := make(chan result, 1)
		go func() {
			t, err := source.Token()
			done <- result{t, err}
		}()
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case r := <-done:
			if r.err != nil {
				return "", tokenError(r.err)
			}
			return r.token.AccessToken, nil
		}
	}
}

// tokenError returns the error of a token source. It has a kind if a retry may help.
func tokenError(err error) error {
	var connection net.Error
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case ok && refused.Response != nil && (refused.Response.StatusCode >= http.StatusInternalServerError || refused.Response.StatusCode == http.StatusTooManyRequests):
		return &providers.Error{Kind: providers.ServerError, Err: err}
	case !ok && errors.As(err, &connection):
		return &providers.Error{Kind: providers.Network, Err: err}
	}
	return err
}

// signIn moves the token of a request to the header in which Vertex AI wants it.
func signIn(r *http.Request, from string) {
	if token := r.Header.Get(from); token != "" && r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Del(from)
}

// send sends a changed request.
func send(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	resp, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Request = r // so that errors do not show its keys
	return resp, nil
}

// claudeTransport changes requests of package anthropic to Vertex AI's form.
type claudeTransport struct {
	next   http.RoundTripper
	models string // the path of the models
}

// RoundTrip sends a request. It answers a question about a model itself, because the service has no such request.
func (t *claudeTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	base, generates := cloud.Below(r, "/messages")
	if !generates {
		return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	}
	body, err := cloud.Read(r)
	if err != nil {
		return nil, err
	}
	sent, err := cloud.Request(r, base+t.models+url.PathEscape(body.Take("model"))+":streamRawPredict", body)
	if err != nil {
		return nil, err
	}
	sent.Header.Del("Anthropic-Version") // in the body
	signIn(sent, "X-Api-Key")
	return send(t.next, sent)
}

// geminiTransport changes requests of package googleai to Vertex AI's form.
type geminiTransport struct {
	next      http.RoundTripper
	publisher string // the path of Google's models
}

// question is the prompt whose tokens are counted to find out whether a model exists.
var question = json.RawMessage(`{"contents": [{"role": "user", "parts": [{"text": "Why?"}]}]}`)

// RoundTrip sends a request. A question about a model becomes a request to count tokens, because the service describes
// no models to users of a project.
func (t *geminiTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	base, rest, ok := strings.Cut(r.URL.EscapedPath(), "/v1beta/")
	if !ok {
		return nil, fmt.Errorf("the path %s has no version", r.URL.Path)
	}
	path := base + "/v1/" + rest
	if strings.HasPrefix(rest, "models/") {
		path = base + t.publisher + rest
	}
	sent := r.Clone(r.Context())
	if r.Method == http.MethodGet {
		counts, err := cloud.Request(r, path+":countTokens", question)
		if err != nil {
			return nil, err
		}
		sent = counts
	} else {
		u, err := r.URL.Parse(path)
		if err != nil {
			return nil, err
		}
		u.RawQuery, sent.URL = r.URL.RawQuery, u
	}
	signIn(sent, "X-Goog-Api-Key")
	return send(t.next, sent)
}
