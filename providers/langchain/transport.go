package langchain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/elenchus-go/debate/providers"
)

// Transport is an http.RoundTripper that adds the parts of requests and responses that langchaingo drops. Use it in the
// HTTP client of a model:
//
//	client := (&langchain.Transport{}).Client(nil)
//	gpt, err := openai.New(openai.WithHTTPClient(client), ...)
//	...
//	p := langchain.New(gpt)
//
// To requests of a [Provider], it adds the schema of the reply in the service's form, cache breakpoints, and settings
// that langchaingo drops. It removes settings that langchaingo sends although they were not set. It reads status codes,
// retry delays, errors within streams and the end of streams from responses, and reports them to the provider. Other
// requests change only in their headers.
//
// If a service refuses a request because of a setting, a schema or a cache breakpoint, the transport sends the request
// again at once without it, and remembers this for the model. It retries nothing else.
//
// A Transport recognizes the protocols of OpenAI, Anthropic, Ollama and Google by the paths of the requests. It is safe
// for concurrent use. Set its fields before the first request.
type Transport struct {
	// Base sends the requests. Defaults to http.DefaultTransport.
	Base http.RoundTripper
	// Key, if set, returns the key of each request. Concurrent calls run it concurrently. If it returns an error or a key
	// that no header can contain, the call fails with an error of kind authentication, or of the kind of the
	// *providers.Error that Key returns. The function [Key] makes one from a provider's configuration.
	Key func(context.Context) (string, error)
	// Header, if set, changes the headers of each request. The key is the result of Key. It is a function so that printing
	// a Transport shows no keys.
	Header func(h http.Header, key string)
	// Rename maps names of fields in a request's body to the names that the service uses.
	Rename map[string]string
	// Extra holds further fields for a request's body. They replace existing fields of the same name.
	Extra map[string]any
	// NoSchemaBounds sends schemas without bounds such as maxLength, for services that refuse them.
	NoSchemaBounds bool
	// NoSchema sends no schemas.
	NoSchema bool
	// NoCache sends no cache breakpoints. See package providers/anthropic.
	NoCache bool

	capabilities capabilityCache
}

// Client returns a copy of base that sends its requests through t. If t.Base is nil, Client sets it to the transport of
// base. A nil base means a client with default settings. Unless base has a CheckRedirect function, the copy follows no
// redirects, because a redirected request would take keys to another server.
func (t *Transport) Client(base *http.Client) *http.Client {
	var c http.Client
	if base != nil {
		c = *base
	}
	if t.Base == nil {
		t.Base = c.Transport
	}
	c.Transport = t
	if c.CheckRedirect == nil {
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return &c
}

// RoundTrip sends a request. It implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	w, a := callOptionsFrom(r.Context()), apiOf(r.URL.Path)
	sent, failed := t.setHeaders(r)
	if failed != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		if w != nil {
			w.observer.fail(failed)
		}
		return nil, failed
	}
	r = sent
	if w == nil || a == nil || r.Body == nil {
		return t.base().RoundTrip(r)
	}
	raw, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	var body object
	if err == nil {
		err = json.Unmarshal(raw, &body)
	}
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	return t.sendCall(r, a, w, body)
}

// errAlreadyFailed ends the retries of clients that retry by themselves. The provider reports the first failure.
var errAlreadyFailed = errors.New("send request: the call has already failed")

// maxTries limits how often a request is sent. A model may refuse several fields, one after the other.
const maxTries = 8

// sendCall sends a request. While the service refuses an optional field, it sends the request again without that field.
func (t *Transport) sendCall(r *http.Request, a *api, w *callOptions, body object) (*http.Response, error) {
	var model string
	_ = json.Unmarshal(body["model"], &model)
	if w.observer.observation().err != nil {
		return nil, errAlreadyFailed
	}
	known := t.capabilities.get(model, t.initialCapabilities())
	var first *httpError
	for n := 1; ; n++ {
		sent, raw, err := t.body(body, a, w, known)
		if err != nil {
			w.observer.fail(providers.AsError(err))
			return nil, err
		}
		w.observer.setSecrets(requestSecrets(r))
		resp, err := t.send(r, raw)
		if err != nil {
			w.observer.connectionFailed(err)
			return nil, err
		}
		if resp.StatusCode < http.StatusMultipleChoices {
			if n > 1 {
				t.capabilities.put(model, known)
			}
			return observeBody(resp, a, &w.observer, string(sent["stream"]) == "true")
		}
		refused := readHTTPError(resp)
		if first == nil || !refused.retryableWithoutField() {
			first = refused
		}
		next, ok := known.withoutRefused(sent, a.settings(sent), len(w.schema) > 0, refused.status, refused.text)
		if !ok || n == maxTries {
			w.observer.httpFailed(first)
			return first.response(resp), nil
		}
		known = next
	}
}

// initialCapabilities returns the capabilities that are assumed before the first call of a model.
func (t *Transport) initialCapabilities() capabilities {
	l := capabilities{noCacheBreakpoints: t.NoCache}
	switch {
	case t.NoSchema:
		l.schemaSupport = schemaNone
	case t.NoSchemaBounds:
		l.schemaSupport = schemaShape
	}
	return l
}

// body builds the body that is sent.
func (t *Transport) body(base object, a *api, w *callOptions, known capabilities) (sent object, raw []byte, err error) {
	sent = make(object, len(base)+len(t.Extra))
	for name, value := range base {
		if other, ok := t.Rename[name]; ok {
			name = other
		}
		sent[name] = value
	}
	if err := a.patch(sent, w, known); err != nil {
		return nil, nil, err
	}
	for name, value := range t.Extra {
		if err := sent.set(name, value); err != nil {
			return nil, nil, &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("encode field %s of Extra: %w", name, err)}
		}
	}
	for from, to := range t.Rename { // fields that patch added
		if value, ok := sent[from]; ok {
			delete(sent, from)
			sent[to] = value
		}
	}
	if known.otherTokenField {
		for i, name := range tokenFields {
			if value, ok := sent[name]; ok {
				delete(sent, name)
				sent[tokenFields[1-i]] = value
				break
			}
		}
	}
	raw, err = json.Marshal(sent)
	return sent, raw, err
}

// setHeaders returns a copy of r with the transport's headers.
func (t *Transport) setHeaders(r *http.Request) (*http.Request, *providers.Error) {
	key := ""
	if t.Key != nil {
		var failed *providers.Error
		if key, failed = currentKey(r.Context(), t.Key); failed != nil {
			return nil, failed
		}
	}
	r = r.Clone(r.Context())
	if t.Header != nil {
		t.Header(r.Header, key)
	}
	return r, nil
}

// send sends r with another body.
func (t *Transport) send(r *http.Request, body []byte) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return t.base().RoundTrip(r)
}

func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

// queryTimeout is the time limit of a request that calls no model.
const queryTimeout = 20 * time.Second

// Query sends a request that calls no model, such as a request for the list of models, and returns the body of the
// response. The error is a *providers.Error whose cause begins with what, such as "check key".
func (t *Transport) Query(ctx context.Context, what, method, url string, body []byte) ([]byte, error) {
	raw, failed := t.query(ctx, method, url, body)
	if failed != nil {
		return nil, &providers.Error{Kind: failed.Kind, RetryAfter: failed.RetryAfter, Err: fmt.Errorf("%s: %w", what, failed.Err)}
	}
	return raw, nil
}

func (t *Transport) query(ctx context.Context, method, url string, body []byte) ([]byte, *providers.Error) {
	asked, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(asked, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("create request: %w", err)}
	}
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	r, failed := t.setHeaders(r)
	switch {
	case ctx.Err() != nil:
		return nil, providers.ContextError(ctx, providers.Response{})
	case failed != nil:
		return nil, failed
	}
	var s responseObserver
	s.setSecrets(requestSecrets(r))
	resp, err := t.base().RoundTrip(r)
	var raw []byte
	switch {
	case err != nil:
	case resp.StatusCode >= http.StatusMultipleChoices:
		s.httpFailed(readHTTPError(resp))
	default:
		raw, err = io.ReadAll(io.LimitReader(resp.Body, maxReplySize))
		_ = resp.Body.Close()
	}
	if err != nil {
		s.connectionFailed(err)
	}
	switch {
	case ctx.Err() != nil:
		return nil, providers.ContextError(ctx, providers.Response{})
	case s.err != nil:
		return nil, asError(s.err, providers.Response{}, s.secrets)
	}
	return raw, nil
}
