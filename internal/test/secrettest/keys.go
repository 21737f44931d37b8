package secrettest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
)

// unknownKey is a key that a KeyFunc quotes in an error but does not return.
const unknownKey = "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a3928"

// testKeyFunc tests that a provider gets the key of each request from its Config.KeyFunc, and that no error shows a key.
func testKeyFunc(t *testing.T, p fakellm.Protocol, create CreateFunc) {
	start := func(t *testing.T, keyFunc func(context.Context) (string, error), replies ...fakellm.Reply) (providers.Provider, *fakellm.Server) {
		s := fakellm.Start(t, p, append(replies, fakellm.Reply{Chunks: []string{"So."}})...)
		model, _, err := create(Settings{KeyFunc: keyFunc, BaseURL: s.URL, HTTPClient: s.Client(t)})
		require.NoError(t, err)
		return model, s
	}
	t.Run("Rotation", func(t *testing.T) { testRotation(t, start) })
	t.Run("Failure", func(t *testing.T) { testKeyFailure(t, start) })
	t.Run("Cancellation", func(t *testing.T) { testKeyCanceled(t, start) })
	t.Run("Configuration", func(t *testing.T) {
		_, _, err := create(Settings{Key: firstKey, KeyFunc: func(context.Context) (string, error) { return secondKey, nil }})
		require.ErrorContains(t, err, "Config.Key and Config.KeyFunc are both set: set only one of them")
		require.NotContains(t, err.Error(), firstKey)
	})
}

// startFunc starts a service with these replies, and then "So." to each further call.
type startFunc func(t *testing.T, keyFunc func(context.Context) (string, error), replies ...fakellm.Reply) (providers.Provider, *fakellm.Server)

// calls returns the calls of a provider that send a request.
func calls(ctx context.Context, p providers.Provider) map[string]func() error {
	list := map[string]func() error{"Generate": func() error {
		_, err := p.Generate(ctx, providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Why?"}}, MaxTokens: 600})
		return err
	}}
	if c, ok := p.(providers.Checker); ok {
		list["Check"] = func() error { return c.Check(ctx, "m") }
	}
	return list
}

func testRotation(t *testing.T, start startFunc) {
	var key atomic.Value
	refusal := fakellm.Reply{Status: http.StatusUnauthorized, Body: `{"error": "the key ` + firstKey + ` has expired"}`}
	p, s := start(t, func(context.Context) (string, error) { return key.Load().(string), nil }, fakellm.Reply{Chunks: []string{"So."}}, refusal, refusal)
	run := calls(t.Context(), p)
	key.Store(firstKey)
	require.NoError(t, run["Generate"]())
	err := run["Generate"]()
	require.Equal(t, providers.Authentication, providers.AsError(err).Kind)
	require.ErrorContains(t, err, "the key [key] has expired")

	key.Store(secondKey)
	err = run["Generate"]()
	require.ErrorContains(t, err, "the key [key] has expired", "the key before the rotation is a secret too")
	require.NoError(t, run["Generate"]())
	if run["Check"] != nil {
		_ = run["Check"]() // whatever the service replies
	}
	NotPrinted(t, firstKey, p)
	NotPrinted(t, secondKey, p)
	for i, r := range s.Requests() {
		sent, other := firstKey, secondKey
		if i > 1 {
			sent, other = other, sent
		}
		require.Contains(t, fmt.Sprint(r.Header), sent)
		require.NotContains(t, fmt.Sprint(r.Header), other)
	}
	require.Len(t, s.Requests(), 3+len(run))
}

func testKeyFailure(t *testing.T, start startFunc) {
	for name, test := range map[string]struct {
		key  string
		err  error
		kind providers.ErrorKind
		want string
	}{
		"error":                  {"", errors.New("the vault is sealed"), providers.Authentication, "get key: the vault is sealed"},
		"error with key":         {firstKey, errors.New("no lease for " + firstKey), providers.Authentication, "get key: no lease for [key]"},
		"error with another key": {"", errors.New("no lease for " + unknownKey), providers.Authentication, "get key: no lease for [key]"},
		"error with kind":        {"", &providers.Error{Kind: providers.Network, Err: errors.New("dial vault")}, providers.Network, "get key: network: dial vault"},
		"empty key":              {"", nil, providers.Authentication, "get key: the key is empty"},
		"key with newline":       {firstKey + "\n", nil, providers.Authentication, "get key: the key contains a space, a line break or "},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := start(t, func(context.Context) (string, error) { return test.key, test.err })
			for name, call := range calls(t.Context(), p) {
				err := call()
				require.Error(t, err, name)
				require.Equal(t, test.kind, providers.AsError(err).Kind, name)
				require.ErrorContains(t, err, test.want, name)
				require.NotContains(t, err.Error(), firstKey, name)
				require.NotContains(t, err.Error(), unknownKey[:8], name)
			}
			require.Empty(t, s.Requests(), "no request is sent")
		})
	}
}

func testKeyCanceled(t *testing.T, start startFunc) {
	waiting := make(chan struct{})
	p, s := start(t, func(ctx context.Context) (string, error) {
		waiting <- struct{}{}
		<-ctx.Done()
		return "", ctx.Err()
	})
	cause := errors.New("ended by the caller")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() { done <- calls(ctx, p)["Generate"]() }()
	<-waiting
	cancel(cause)
	require.ErrorIs(t, <-done, cause)
	require.Empty(t, s.Requests())
}
