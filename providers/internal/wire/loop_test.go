package wire_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
)

// loops are pieces that a model repeats without end.
var loops = map[string]string{
	"two words":      " the cache",
	"a line break":   "\n",
	"a list":         "\n- The cost\n- The time",
	"a paragraph":    "\n\n" + strings.Repeat("It is so, and it is not otherwise, ", 8) + "as I said.",
	"without spaces": "缓存更快，",
	"JSON":           `, {"name": "", "score": 0}`,
}

func TestLoopsAreEnded(t *testing.T) {
	for name, piece := range loops {
		t.Run(name, func(t *testing.T) {
			chunks := []string{"Edge caches", " cut the tail."}
			for range 20_000 / len(piece) {
				chunks = append(chunks, piece)
			}
			for _, whole := range []bool{false, true} {
				each(t, []fakellm.Reply{{Chunks: chunks, Whole: whole}}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
					var heard []string
					_, err := p.Generate(calltest.Forever(t), calltest.Listen(&heard))
					e := calltest.RequireKind(t, providers.Loop, err)
					require.ErrorContains(t, err, "the model repeats the same")
					require.Contains(t, []string{"Edge caches cut the tail.", "Edge caches cut the tail"}, strings.TrimSpace(e.Partial.Text), "without the loop")
					require.Less(t, len(strings.Join(heard, "")), 3_000)
				})
			}
		})
	}
}

func TestLoopsInReasoningAreEnded(t *testing.T) {
	each(t, []fakellm.Reply{{Reasoning: "Let me see." + strings.Repeat(" wait, no,", 2_000), Chunks: []string{"So."}}}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
		_, err := p.Generate(calltest.Forever(t), calltest.Ask())
		require.ErrorContains(t, calltest.RequireKind(t, providers.Loop, err), `"`)
	})
}

// countedBody is a stream that counts the tokens that were read from it.
type countedBody struct {
	tokens int
	read   *int
	rest   string
}

func (b *countedBody) Read(p []byte) (int, error) {
	if b.rest == "" {
		if *b.read == b.tokens {
			return 0, io.EOF
		}
		*b.read++
		word := []string{" the", " cache"}[*b.read%2]
		b.rest = fmt.Sprintf("data: {\"choices\": [{\"delta\": {\"content\": %q}}]}\n\n", word)
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// Of 4,000 tokens of a loop, nine tenths are not generated: the connection is closed.
func TestTokensThatAreSaved(t *testing.T) {
	read := 0
	p := replyWith(t, nil, func(context.Context) io.Reader { return &countedBody{tokens: 4_000, read: &read} })
	_, err := p.Generate(t.Context(), calltest.Ask())
	require.Empty(t, calltest.RequireKind(t, providers.Loop, err).Partial.Text)
	require.Less(t, read, 400)
	t.Logf("%d of 4000 tokens were read", read)
}

// A request to avoid repetition raises the penalty that the service has.
func TestThePenaltyForRepetition(t *testing.T) {
	for protocol, want := range map[fakellm.Protocol]string{
		fakellm.OpenAI: `"frequency_penalty":0.5`, fakellm.Mistral: `"frequency_penalty":0.5`, fakellm.Google: `"frequencyPenalty":0.5`,
		fakellm.Ollama: `"repeat_penalty":1.3`, fakellm.Anthropic: "", fakellm.Responses: "",
	} {
		t.Run(string(protocol), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := fakellm.Start(t, protocol, fakellm.Reply{Chunks: []string{"So."}})
				p := service(t, protocol, s.Client(t), nil)
				r := calltest.Ask()
				for _, avoid := range []bool{false, true} {
					r.AvoidRepetition = avoid
					calltest.Generate(t, p, r)
				}
				before, err := json.Marshal(s.Requests()[0].Body)
				require.NoError(t, err)
				after, err := json.Marshal(s.Requests()[1].Body)
				require.NoError(t, err)
				require.NotContains(t, string(before), "enalty")
				require.Contains(t, string(after), want)
				require.Equal(t, want != "", strings.Contains(string(after), "enalty"))
			})
		})
	}
}

// A model that refuses the penalty is asked without it.
func TestModelsWithoutAPenalty(t *testing.T) {
	for protocol, words := range map[fakellm.Protocol]string{
		fakellm.OpenAI: "Unsupported parameter: 'frequency_penalty' is not supported with this model.",
		fakellm.Google: "Penalty is not enabled for models/gemini-2.5-flash",
	} {
		t.Run(string(protocol), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				raw, err := json.Marshal(map[string]any{"error": map[string]any{"message": words, "code": 400}})
				require.NoError(t, err)
				s := fakellm.Start(t, protocol, fakellm.Reply{Status: http.StatusBadRequest, Body: string(raw)}, fakellm.Reply{Chunks: []string{"So."}})
				r := calltest.Ask()
				r.AvoidRepetition = true
				res := calltest.Generate(t, service(t, protocol, s.Client(t), nil), r)
				require.Contains(t, strings.Join(res.Warnings, "\n"), "enalty")
			})
		})
	}
}
