// Package calltest has the calls that tests of providers make.
package calltest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
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
