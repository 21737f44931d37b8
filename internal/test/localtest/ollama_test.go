package localtest

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/ollama"
	"github.com/elenchus-go/debate/providers/openai"
	"github.com/elenchus-go/debate/transcript"
)

// reply returns what a model says: a random value of the schema, or about 200 tokens of two bytes.
func reply(r fakellm.OllamaRequest) string {
	if len(r.Format) == 0 {
		return strings.Repeat("The bus is cheap. ", 22)
	}
	m := &schemaModel{}
	res, err := m.Generate(nil, providers.Request{Schema: r.Format}) //nolint:staticcheck // the model needs no context
	if err != nil {
		return err.Error()
	}
	return res.Text
}

// longDebate runs a debate of 20 rounds, which a judge judges at the end, on a server.
func longDebate(t *testing.T, window int, provider providers.Provider) (*debate.Result, error) {
	t.Helper()
	c := longConfig(window)
	d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{"m": provider}})
	_, err := debatetest.Run(t, d)
	return debatetest.Result(t, d), err
}

func viaOpenAI(t *testing.T, client *http.Client) providers.Provider {
	t.Helper()
	p, err := openai.New(openai.Config{Model: "llama3.2", BaseURL: "http://localhost:11434/v1", HTTPClient: client})
	require.NoError(t, err)
	return p
}

func viaOllama(t *testing.T, client *http.Client, numCtx int) providers.Provider {
	t.Helper()
	p, err := ollama.New(ollama.Config{Model: "llama3.2", NumCtx: numCtx, HTTPClient: client})
	require.NoError(t, err)
	return p
}

func warningsWith(r *debate.Result, words string) (list []string) {
	for _, w := range r.Warnings {
		if strings.Contains(w, words) {
			list = append(list, w)
		}
	}
	return list
}

// Ollama's /v1 endpoint cuts prompts without an error. The debate says so, and its estimates of tokens stay as they were.
func TestPromptsThatAreCutSilentlyAreNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakellm.OllamaServer{BytesPerToken: 2, Reply: reply}
		r, err := longDebate(t, 16_384, viaOpenAI(t, s.Start(t)))
		require.NoError(t, err)
		_, cuts := s.Calls()
		noticed := warningsWith(r, "it seems to cut prompts to its context window without an error")
		require.Greater(t, cuts, 20)
		require.GreaterOrEqual(t, len(noticed), cuts-8, "all but the first few of each participant, which lack little")
		require.True(t, r.Turns[len(r.Turns)-1].Attempts[0].Cut, "the judge's, although it is its first")
		require.Len(t, warningsWith(r, "the server is Ollama"), 1, "once for a provider")
		require.Contains(t, warningsWith(r, "the server is Ollama")[0], "use providers/ollama")

		at := slices.IndexFunc(r.Turns, func(x transcript.Turn) bool { return x.Actor == "Judge" }) - 1
		last := regexp.MustCompile(`a prompt of about (\d+)`).FindStringSubmatch(noticed[len(noticed)-2])
		about, err := strconv.Atoi(last[1])
		require.NoError(t, err)
		require.Greater(t, about, r.Turns[at].Attempts[0].PromptTokens*17/10, "the factor does not follow the counts")
	})
}

// A server that refuses long prompts needs no guess, and nothing is cut.
func TestOllamasOwnProtocolCutsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakellm.OllamaServer{BytesPerToken: 2, Reply: reply}
		r, err := longDebate(t, 16_384, viaOllama(t, s.Start(t), 0))
		require.NoError(t, err)
		require.Equal(t, fsm.Completed, r.State)
		require.Empty(t, warningsWith(r, "seems to cut"))
		require.Empty(t, warningsWith(r, "the server is Ollama"))
		_, refused := s.Calls()
		failed := 0
		for _, turn := range r.Turns {
			for _, a := range turn.Attempts {
				if a.ErrorKind == string(providers.ContextOverflow) {
					failed++
				}
			}
		}
		require.Positive(t, failed)
		require.Equal(t, refused, failed, "no cut prompt has a reply")
	})
}

// The judge speaks once, at the end. Its first prompt fits, because the participants' counts are known for its model. So do
// the prompts of a participant whose replies have no counts.
func TestANewActorStartsFromTheFactorOfItsModel(t *testing.T) {
	for name, counts := range map[string]bool{"all replies have counts": true, "only those of Bo and the judge": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &fakellm.OllamaServer{BytesPerToken: 2, Reply: reply}
				server, calls := viaOllama(t, s.Start(t), 4096), 0
				r, err := longDebate(t, 4096, debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
					resp, err := server.Generate(ctx, r)
					calls++
					if calls%2 == 1 && calls < 40 && !counts { // Ada speaks
						resp.Usage = transcript.Usage{}
					}
					return resp, err
				}))
				require.NoError(t, err)
				_, refused := s.Calls()
				require.Zero(t, refused)
				judge := r.Turns[len(r.Turns)-1]
				require.Equal(t, "Judge", judge.Actor)
				require.NotNil(t, judge.Window, "the history does not fit")
				require.Greater(t, judge.Usage.Input, 2000, "the window is used")
				require.Equal(t, !counts, r.Turns[0].Usage.Estimated)
			})
		})
	}
}

// A model that does not fit into the memory is called once, and the hint names the setting that helps.
func TestAModelThatNeedsMoreMemoryIsCalledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakellm.OllamaServer{MaxNumCtx: 32_768, Reply: reply}
		r, err := longDebate(t, 131_072, viaOllama(t, s.Start(t), 131_072))
		var failure *debate.Failure
		require.ErrorAs(t, err, &failure)
		require.Equal(t, providers.OutOfMemory, failure.Kind)
		require.Contains(t, failure.Message, "model requires more system memory (9.3 GiB) than is available (5.1 GiB)")
		require.Contains(t, failure.Hint(), "NumCtx")
		calls, _ := s.Calls()
		require.Equal(t, 1, calls)
		require.Equal(t, fsm.Error, r.State)
	})
}

// A model that only thinks is asked again with more room. Then the error says what to do.
func TestAModelThatOnlyThinks(t *testing.T) {
	for name, thought := range map[string]fakellm.Reply{
		"in its own field": {Reasoning: "Hm. ", FinishReason: "length"},
		"in the text":      {Chunks: []string{"<think>Hm. Hm. "}, FinishReason: "length"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := fakellm.Start(t, fakellm.Ollama, thought)
				s.Routes["/api/show"] = fakellm.Reply{Body: "{}"}
				c := longConfig(0)
				d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{"m": viaOllama(t, s.Client(t), 8_192)}})
				const want = `set "reasoning": "none" for Ada, or raise its token limit`
				var last debate.TurnFailed
				var failure *debate.Failure
				for ev, err := range d.Run(t.Context()) {
					if failed, ok := ev.(debate.TurnFailed); ok && failed.RetryIn < 0 && failed.Key.Actor == "Ada" {
						last = failed
					}
					if err != nil {
						require.ErrorAs(t, err, &failure)
					}
				}
				require.Equal(t, 2, last.Number)
				require.Contains(t, last.Message, want)
				require.True(t, failure.OnlyReasoning)
				require.Contains(t, failure.Hint(), want[:len(`set "reasoning": "none" for `)])
			})
		})
	}
}
