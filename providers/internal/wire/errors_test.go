package wire_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/calltest"
	"github.com/elenchus-go/debate/internal/fakellm"
	"github.com/elenchus-go/debate/internal/servicetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// TestErrorsOfTheServices reads the errors that services send. Add an error to testdata/errors.json of package fault if a
// service sends one that is classified wrongly.
func TestErrorsOfTheServices(t *testing.T) {
	for i, test := range servicetest.Load(t) {
		require.NotEmpty(t, test.Source)
		t.Run(fmt.Sprint(i, " ", test.Service, " ", test.Kind), func(t *testing.T) {
			s := fakellm.Start(t, test.Service, test.Reply())
			r := calltest.Listen(new([]string))
			r.Messages[0].Text += strings.Repeat("Why? ", test.Sent/5)
			_, err := service(t, test.Service, s.Client(t), nil).Generate(t.Context(), r)
			e := calltest.RequireKind(t, test.Kind, err)
			require.Equal(t, test.Guess, e.Otherwise)
			want, _ := time.ParseDuration("0" + test.RetryAfter)
			require.Equal(t, want, e.RetryAfter)
			require.ErrorContains(t, err, test.Says)
			if test.Partial != nil {
				require.Equal(t, *test.Partial, e.Partial.Text)
			}
			require.Len(t, calls(s), 1, "nothing is repeated")
			require.Less(t, len(err.Error()), 1000)
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
