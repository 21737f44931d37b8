package wire_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/calltest"
	"github.com/elenchus-go/debate/internal/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// errorCase is an error as a service sends it. The status 200 means that it is an event of a stream.
type errorCase struct {
	Service    fakellm.Protocol    `json:"service"`
	Status     int                 `json:"status"`
	Kind       providers.ErrorKind `json:"kind"`
	RetryAfter string              `json:"retry_after"`
	Source     string              `json:"source"` // where the error was seen; parts that were not seen are unverified
	Body       json.RawMessage     `json:"body"`
}

// TestErrorsOfTheServices reads the errors in testdata/errors.json. Add an error there if a service sends one that is
// classified wrongly.
func TestErrorsOfTheServices(t *testing.T) {
	raw, err := os.ReadFile("testdata/errors.json")
	require.NoError(t, err)
	var cases []errorCase
	require.NoError(t, json.Unmarshal(raw, &cases))
	for i, test := range cases {
		require.NotEmpty(t, test.Source)
		t.Run(fmt.Sprint(i, " ", test.Service, " ", test.Kind), func(t *testing.T) {
			reply := fakellm.Reply{Status: test.Status, Body: text(test.Body)}
			if test.Status == 200 {
				event := text(test.Body)
				if test.Service != fakellm.Ollama {
					event = "data: " + event + "\n\n"
				}
				reply = fakellm.Reply{Chunks: []string{"So "}, RawLines: []string{event}}
			}
			s := fakellm.Start(t, test.Service, reply)
			_, err := service(t, test.Service, s.Client(t), nil).Generate(t.Context(), calltest.Ask())
			e := calltest.RequireKind(t, test.Kind, err)
			want, _ := time.ParseDuration("0" + test.RetryAfter)
			require.Equal(t, want, e.RetryAfter)
			require.Len(t, s.Requests(), 1, "nothing is repeated")
			require.Less(t, len(err.Error()), 1000)
		})
	}
}

// text returns a body, which is JSON or a JSON string with another text.
func text(body json.RawMessage) string {
	var s string
	if json.Unmarshal(body, &s) == nil {
		return s
	}
	return strings.ReplaceAll(string(body), "\n", " ")
}

// A reply that ends at its length before its token limit was cut by the context window.
func TestRepliesCutByTheWindow(t *testing.T) {
	for name, test := range map[string]struct {
		reply fakellm.Reply
		want  providers.FinishReason
		err   string // empty if the reply is read
	}{
		"by the window":                 {fakellm.Reply{Chunks: []string{"Be"}, Usage: transcript.Usage{Output: 20}}, providers.WindowFull, ""},
		"by the window before it began": {fakellm.Reply{Usage: transcript.Usage{Output: 20}}, "", "context_overflow: read reply: the context window was full before the reply began"},
		"just below the limit":          {fakellm.Reply{Chunks: []string{"Be"}, Usage: transcript.Usage{Output: 590}}, providers.Length, ""},
		"without usage":                 {fakellm.Reply{Chunks: []string{"Be"}, NoUsage: true}, providers.Length, ""},
	} {
		for _, protocol := range protocols {
			t.Run(name+"/"+string(protocol), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					test.reply.FinishReason = protocol.FinishReason(providers.Length)
					s := fakellm.Start(t, protocol, test.reply)
					r := calltest.Ask()
					r.MaxTokens = 600
					res, err := service(t, protocol, s.Client(t), nil).Generate(calltest.Forever(t), r)
					if test.err != "" {
						require.EqualError(t, calltest.RequireKind(t, providers.ContextOverflow, err), test.err)
						return
					}
					require.NoError(t, err)
					require.Equal(t, "Be", res.Text)
					require.Equal(t, test.want, res.FinishReason)
				})
			})
		}
	}
}
