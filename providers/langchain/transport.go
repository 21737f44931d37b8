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

// Transport carries past langchaingo what it drops of a call. Give it to the HTTP client of a model:
//
//	client := (&langchain.Transport{}).Client(nil)
//	gpt, err := openai.New(openai.WithHTTPClient(client), ...)
//	...
//	p := langchain.New(gpt)
//
// To requests of [Provider] it adds the schema of the reply, in the form of the service, marks for a cache, and the
// settings that langchaingo forgets; it takes away settings that nobody made. It sees status codes, how long to wait,
// errors within streams and their proper end, and tells the provider. Requests of others pass as they are.
//
// A service that refuses a request for a setting, a schema or a mark, none of which a reply depends on, is asked again
// without, at once; the transport remembers that for the model. It repeats nothing else.
//
// It knows the protocols of OpenAI, Anthropic, Ollama and Google by the paths of their calls. It is safe for concurrent
// use. Set its fields before the first request.
type Transport struct {
	// Base sends the requests. Defaults to http.DefaultTransport.
	Base http.RoundTripper
	// Header, if set, changes the headers of each request. A function keeps keys out of whatever prints a transport.
	Header func(http.Header)
	// Rename gives fields of a call's body other names, and Extra adds fields; those that are there are replaced.
	Rename map[string]string
	Extra  map[string]any
	// NoSchemaBounds sends schemas without bounds, such as maxLength, for services that refuse those.
	NoSchemaBounds bool
	// NoSchema sends no schemas.
	NoSchema bool
	// NoCache leaves prompts without the marks that Anthropic's cache needs; see package providers/anthropic.
	NoCache bool

	capabilities capabilityCache
}

// Client is a copy of base whose requests go through t, and by t.Base over base's own transport. Nil stands for an
// empty client. Unless base says otherwise it follows no redirects: they would take keys along.
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

// RoundTrip sends a request.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	w, a := callOptionsFrom(r.Context()), apiOf(r.URL.Path)
	r = t.setHeaders(r)
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

// errAlreadyFailed ends the retries of clients that have their own. What failed first is what counts.
var errAlreadyFailed = errors.New("send request: the call has failed, and is not repeated here")

// maxTries is how often a request is sent at most: a model may refuse several things, one by one.
const maxTries = 8

// sendCall sends a sendCall until it is not refused for what it can do without.
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

// initialCapabilities is what is known of a model before its first call.
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

// body makes the body that is sent.
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
			return nil, nil, &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("write field %s: %w", name, err)}
		}
	}
	for from, to := range t.Rename { // what the patch has added
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

// setHeaders is a copy of r with the transport's headers.
func (t *Transport) setHeaders(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	if t.Header != nil {
		t.Header(r.Header)
	}
	return r
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

// queryTimeout is how long the answer to a question that no model is called for may take.
const queryTimeout = 20 * time.Second

// Query sends a request that calls no model, such as one for the list of models, and returns the body of the answer. An
// error is a *providers.Error that begins with what the request is for, such as "check key".
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
		return nil, &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("make request: %w", err)}
	}
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	var s responseObserver
	s.setSecrets(requestSecrets(t.setHeaders(r)))
	resp, err := t.RoundTrip(r)
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
