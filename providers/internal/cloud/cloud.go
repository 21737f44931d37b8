// Package cloud has what providers of models on a cloud have in common. Such a provider is the provider of the model's
// maker with an http.RoundTripper that changes each request to the cloud's form. So everything else, such as prompts,
// events, errors and limits, exists once, and package wire needs to know nothing about clouds.
package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
)

// Client returns a copy of a client, which may be nil, that sends its requests through the transport that wrap returns.
func Client(c *http.Client, wrap func(next http.RoundTripper) http.RoundTripper) *http.Client {
	var wrapped http.Client
	if c != nil {
		wrapped = *c
	}
	next := wrapped.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	wrapped.Transport = wrap(next)
	return &wrapped
}

// Claude is the provider of Claude on a cloud, which reads attachments by their data only.
// Source: https://platform.claude.com/docs/en/build-with-claude/vision
type Claude struct{ *anthropic.Provider }

// Generate requests one reply from the model. It refuses addresses of attachments.
func (c Claude) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if reason := addresses(r); reason != "" {
		return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("build prompt: " + reason)}
	}
	return c.Provider.Generate(ctx, r)
}

// Unsupported returns the settings that the service or the model does not support.
func (c Claude) Unsupported(r providers.Request) map[string]string {
	found := c.Provider.Unsupported(r)
	if reason := addresses(r); reason != "" {
		found["attachments"] = reason
	}
	return found
}

// addresses returns what is wrong with a request that has addresses of attachments, or the empty string.
func addresses(r providers.Request) string {
	var names []string
	for a := range r.Attachments() {
		if a.URL != "" {
			names = append(names, strconv.Quote(a.Name))
		}
	}
	if names == nil {
		return ""
	}
	return "the service fetches no addresses, give the data of " + strings.Join(names, ", ") + " instead of the URL"
}

// Fields are the fields of the body of a request.
type Fields map[string]json.RawMessage

// Read reads the body of a request and closes it.
func Read(r *http.Request) (Fields, error) {
	if r.Body == nil {
		return nil, fmt.Errorf("read request: it has no body")
	}
	var f Fields
	err := json.NewDecoder(r.Body).Decode(&f)
	_ = r.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	return f, nil
}

// Take removes a text from the fields and returns it.
func (f Fields) Take(name string) string {
	var text string
	_ = json.Unmarshal(f[name], &text) // anything else is no text
	delete(f, name)
	return text
}

// Request returns a copy of a request with another path and body. Escaped is the escaped path below the host.
func Request(r *http.Request, escaped string, body any) (*http.Request, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	u, err := r.URL.Parse(escaped)
	if err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	c := r.Clone(r.Context())
	c.Method = http.MethodPost
	c.URL = u
	c.Host = u.Host
	c.Body = io.NopCloser(bytes.NewReader(raw))
	c.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }
	c.ContentLength = int64(len(raw))
	c.Header.Set("Content-Type", "application/json")
	return c, nil
}

// Below returns the part of the path of a request before a suffix, and reports whether the path has the suffix.
func Below(r *http.Request, suffix string) (string, bool) {
	return strings.CutSuffix(r.URL.EscapedPath(), suffix)
}
