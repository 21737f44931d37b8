package wire_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/internal/test/servicetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// TestErrorsOfTheServices reads the errors that services send. Add an error to testdata/errors.json of package servicetest if a
// service sends one that is classified wrongly.
func TestErrorsOfTheServices(t *testing.T) {
	for i, test := range servicetest.Load(t) {
		require.NotEmpty(t, test.Source)
		t.Run(fmt.Sprint(i, " ", test.Service, " ", test.Kind), func(t *testing.T) {
			s := fakellm.Start(t, test.Service, test.Reply())
			e := test.Require(t, service(t, test.Service, s.Client(t), nil))
			if test.Partial != nil {
				require.Equal(t, *test.Partial, e.Partial.Text)
			}
			require.Len(t, calls(s), 1, "nothing is repeated")
			require.Less(t, len(e.Error()), 1000)
		})
	}
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

// paths lists the addresses that a check of model m asks for. Package openai has the test of its own check.
var paths = map[fakellm.Protocol]string{fakellm.Anthropic: "/models/m", fakellm.Google: "/v1beta/models/m", fakellm.Ollama: "/api/show"}

func TestCheck(t *testing.T) {
	for protocol, path := range paths {
		advice := ""
		if protocol == fakellm.Ollama {
			advice = ": run `ollama pull m` on the server at http://service, which has no model yet"
		}
		for name, test := range map[string]struct {
			answer fakellm.Reply
			want   string // empty if the check succeeds
		}{
			"known model":   {fakellm.Reply{Body: "{}"}, ""},
			"unknown model": {fakellm.Reply{Status: 404, Body: `{"error": "model 'm' not found"}`}, `invalid_request: check model "m": call model: status 404: model 'm' not found` + advice},
			"refused key":   {fakellm.Reply{Status: 401, Body: "not " + key}, `authentication: check model "m": call model: status 401: not [key]`},
		} {
			t.Run(string(protocol)+" "+name, func(t *testing.T) {
				s := fakellm.Start(t, protocol)
				s.Routes[path], s.Routes["/api/tags"] = test.answer, fakellm.Reply{Body: `{"models": []}`}
				for _, model := range []string{"", "m"} {
					err := service(t, protocol, s.Client(t), nil).(providers.Checker).Check(t.Context(), model)
					if test.want == "" {
						require.NoError(t, err)
					} else {
						require.EqualError(t, err, test.want)
					}
				}
			})
		}
	}
}
