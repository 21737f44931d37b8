package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/openai"
)

// A debate whose key expires continues with a new key on the same engine.
func TestKeyRotationNeedsNoNewEngine(t *testing.T) {
	var current, valid atomic.Value
	current.Store("key-number-one")
	valid.Store("key-number-one")
	calls := 0
	service := calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		answer := func(status int, body string) *http.Response {
			return &http.Response{StatusCode: status, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
		}
		if r.Header.Get("Authorization") != "Bearer "+valid.Load().(string) {
			return answer(http.StatusUnauthorized, fmt.Sprintf(`{"error": {"message": "Expired: %s"}}`, r.Header.Get("Authorization"))), nil
		}
		if r.Method == http.MethodGet {
			return answer(http.StatusOK, `{"data": []}`), nil
		}
		calls++
		if calls == 2 { // the key expires after this call
			valid.Store("key-number-two")
		}
		return answer(http.StatusOK, `data: {"choices": [{"delta": {"content": "So."}, "finish_reason": "stop"}]}`+"\n\ndata: [DONE]\n\n"), nil
	})
	p, err := openai.New(openai.Config{
		Model: "m", BaseURL: "http://service/v1", HTTPClient: &http.Client{Transport: service},
		KeyFunc: func(context.Context) (string, error) { return current.Load().(string), nil },
	})
	require.NoError(t, err)
	d := debatetest.New(t, debate.Config{
		Topic: "Why?", Protocol: procon.Protocol{},
		Participants: []debate.Participant{{Name: "Pro", Position: "Yes."}, {Name: "Con", Position: "No."}},
		Judges:       []debate.Participant{{Name: "Judge"}},
		Limits:       debate.Limits{MaxRounds: 2},
	}, debate.Options{Providers: map[string]providers.Provider{"openai": p}})

	seen := ""
	drive := func() (failure error) {
		for event, err := range d.Run(t.Context()) {
			seen += fmt.Sprintf("%+v %v\n", event, err)
			failure = err
		}
		return failure
	}
	require.Equal(t, providers.Authentication, providers.AsError(drive()).Kind)
	require.Equal(t, 2, calls)

	current.Store("key-number-two")
	require.NoError(t, d.Retry(t.Context()))
	require.NoError(t, drive())
	r := debatetest.Result(t, d)
	require.Len(t, r.Turns, 5)
	require.NotContains(t, seen+debatetest.Encode(t, r), "key-number")
	require.Contains(t, seen, "Expired: [key]")
}
