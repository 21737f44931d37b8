// Package calltest has the calls that tests of providers make.
package calltest

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/providertest"
)

// Ask returns a request with one user message.
func Ask() providers.Request {
	return providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Why?"}}}
}

// Listen returns a request that appends its chunks to heard.
func Listen(heard *[]string) providers.Request {
	r := Ask()
	r.OnChunk = func(text string) error {
		*heard = append(*heard, text)
		return nil
	}
	return r
}

// Generate returns the response to a request, which must not fail.
func Generate(t testing.TB, p providers.Provider, r providers.Request) providers.Response {
	t.Helper()
	res, err := p.Generate(t.Context(), r)
	require.NoError(t, err)
	return res
}

// RunModel runs the contract tests of a provider over models that play replies. The models send no bytes that could be
// disturbed, and no headers. skipCalls reports whether to skip a test with calls of tools, by its number of replies.
func RunModel(t *testing.T, skipCalls func(replies int) bool, start func(replies []providertest.Reply) providers.Provider) {
	providertest.Run(t, func(t *testing.T, replies ...providertest.Reply) providers.Provider {
		for _, r := range replies {
			switch {
			case r.Fault != "" && r.Fault != providertest.ErrorEvent && r.Fault != providertest.Cut:
				t.Skip("a model has no stream that could be disturbed")
			case r.ToolCalls != nil && skipCalls(len(replies)):
				t.Skip("the adapter passes on no calls of tools")
			case r.RetryForm == providertest.RetrySeconds, r.RetryForm == providertest.RetryDate:
				t.Skip("a model has no headers")
			}
		}
		return start(replies)
	})
}

// RoundTrip is an http.RoundTripper of one function.
type RoundTrip func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f RoundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Forever returns a context that does not end with the test. A goroutine that waits for its end makes a synctest bubble
// fail.
func Forever(t *testing.T) context.Context { return context.WithoutCancel(t.Context()) }

// RequireKind requires err to be a *providers.Error of the given kind, and returns it.
func RequireKind(t *testing.T, kind providers.ErrorKind, err error) *providers.Error {
	t.Helper()
	var e *providers.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, kind, e.Kind, err.Error())
	return e
}
