package localtest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// longConfig returns a debate of 20 rounds whose participants and judge have a window, or none if it is 0.
func longConfig(window int) debate.Config {
	person := func(name, position string) debate.Participant {
		return debate.Participant{Name: name, Position: position, Provider: "m", Window: window}
	}
	return debate.Config{
		ID: "local", Topic: "Should cities ban private cars?", Protocol: procon.Protocol{}, Judges: []debate.Participant{person("Judge", "")},
		Participants: []debate.Participant{person("Ada", "It is time."), person("Bo", "It is not.")},
		Limits:       debate.Limits{MinRounds: 20, MaxRounds: 20, StepTokens: 512, OutputTokens: 1 << 20},
	}
}

// engineOn returns an engine whose provider m is an Ollama server with this context window for requests, or without any
// provider if server is nil.
func engineOn(t *testing.T, s store.Store, client *http.Client, numCtx int, record ...middleware.Middleware) *debate.Engine {
	t.Helper()
	o := debate.Options{Store: s}
	if client != nil {
		o.Providers = map[string]providers.Provider{"m": middleware.Wrap(viaOllama(t, client, numCtx), append(record, middleware.Concurrency(4))...)}
	}
	return debatetest.Engine(t, o)
}

// longest returns the most tokens that the service counted in the first prompt of a step.
func longest(r *debate.Result) (most int) {
	for _, turn := range r.Turns {
		most = max(most, turn.Attempts[0].Usage.Input)
	}
	return most
}

// An actor without a window has that of its provider, wherever the debate was created: no prompt is refused, and the
// window is used.
func TestAnActorHasTheWindowOfItsProvider(t *testing.T) {
	for name, test := range map[string]struct {
		numCtx, most int // of requests, and of the model
		window       int // in the configuration
		used         int // the window that prompts use
	}{
		"num_ctx":                   {8_192, 0, 0, 8_192},
		"the model's own maximum":   {32_768, 6_000, 0, 6_000},
		"the configuration's":       {32_768, 0, 5_000, 5_000},
		"larger than the default":   {65_536, 0, 0, 65_536},
		"the model's is larger too": {8_192, 131_072, 0, 8_192},
	} {
		for _, created := range []string{"with the provider", "without a provider"} {
			t.Run(name+"/"+created, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, place := &fakellm.OllamaServer{BytesPerToken: 2, ModelWindow: test.most, Reply: reply}, store.Memory()
					client := s.Start(t)
					creator := engineOn(t, place, nil, 0)
					if created == "with the provider" {
						creator = engineOn(t, place, client, test.numCtx)
					}
					debatetest.Create(t, creator, longConfig(test.window))
					sent := &recorder{requests: map[transcript.Key]providers.Request{}}
					d := debatetest.Open(t, engineOn(t, place, client, test.numCtx, sent.record), "local")
					r := debatetest.RunResult(t, d)
					require.Equal(t, fsm.Completed, r.State)
					require.Empty(t, warningsWith(r, "the window of"))
					_, refused := s.Calls()
					require.Zero(t, refused)
					require.LessOrEqual(t, longest(r), test.used)
					require.Greater(t, longest(r), min(test.used, 16_000)/2, "the window is used")
					requireRebuilt(t, place, sent.requests)
				})
			})
		}
	}
}

// recorder is middleware that records the last request of each step.
type recorder struct {
	providers.Provider
	requests map[transcript.Key]providers.Request
}

func (r *recorder) record(p providers.Provider) providers.Provider {
	r.Provider = p
	return r
}

func (r *recorder) Generate(ctx context.Context, asked providers.Request) (providers.Response, error) {
	step, _ := debate.StepFrom(ctx)
	r.requests[step.Key] = asked
	return r.Provider.Generate(ctx, asked)
}

func (r *recorder) Check(ctx context.Context, model string) error {
	return r.Provider.(providers.Checker).Check(ctx, model)
}

func (r *recorder) Window(model string) int { return r.Provider.(providers.Windowed).Window(model) }

// requireRebuilt requires that an engine without providers rebuilds every prompt of the debate, of a fork of it and of an
// archived copy.
func requireRebuilt(t *testing.T, place store.Store, sent map[transcript.Key]providers.Request) {
	t.Helper()
	past := engineOn(t, place, nil, 0)
	d := debatetest.Open(t, past, "local")
	fork := debatetest.Fork(t, past, "local", 0, debate.Edits{ID: "fork"})
	j, err := archive.Export(t.Context(), place, "local")
	require.NoError(t, err)
	raw, err := json.Marshal(j)
	require.NoError(t, err)
	j = &archive.Journal{}
	require.NoError(t, json.Unmarshal(raw, j))
	elsewhere := store.Memory()
	require.NoError(t, archive.Import(t.Context(), elsewhere, j))
	copied := debatetest.Open(t, engineOn(t, elsewhere, nil, 0), "local")
	require.Len(t, sent, 41)
	for key, asked := range sent {
		asked.OnChunk = nil
		for _, of := range []*debate.Debate{d, fork, copied} {
			p := debatetest.PromptOf(t, of, key)
			require.Empty(t, p.Missing)
			require.Equal(t, asked, p.Request, key)
		}
	}
}

// A fork that continues keeps the window that the debate began with. A new model in the fork has its provider's.
func TestAForkKeepsTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, place := &fakellm.OllamaServer{BytesPerToken: 2, Reply: reply}, store.Memory()
		client := s.Start(t)
		d := debatetest.Create(t, engineOn(t, place, client, 8_192), longConfig(0))
		r := debatetest.RunResult(t, d)
		e := engineOn(t, place, client, 4_096)
		for _, edited := range []bool{false, true} {
			edits := debate.Edits{}
			if edited {
				c := longConfig(0)
				c.Participants[0].Model = "qwen3"
				edits.Config = &c
			}
			fork := debatetest.Fork(t, e, "local", r.Turns[30].Seq, edits)
			require.NoError(t, fork.Resume(t.Context()))
			list, err := fork.Preview(t.Context())
			require.NoError(t, err)
			old := debatetest.PromptOf(t, d, r.Turns[31].Key)
			require.Equal(t, r.Turns[31].Key, list[0].Key)
			ada := r.Turns[31].Actor == "Ada"
			if edited && ada {
				require.Less(t, len(list[0].Request.Messages), len(old.Request.Messages)*2/3)
			} else {
				require.Equal(t, old.Request.Messages, list[0].Request.Messages)
			}
		}
	})
}

// A window that is larger than the provider's is a warning, which a stored debate keeps.
func TestAWindowThatIsTooLargeIsAWarning(t *testing.T) {
	const want = "the window of %s is 32000 tokens, but its provider has only 16384 for the model"
	synctest.Test(t, func(t *testing.T) {
		s, place := &fakellm.OllamaServer{Reply: reply}, store.Memory()
		client := s.Start(t)
		c := longConfig(32_000)
		c.Participants[1].Window = 16_384
		c.Limits.MinRounds, c.Limits.MaxRounds = 1, 1
		d := debatetest.Create(t, engineOn(t, place, client, 16_384), c)
		events := debatetest.Finish(t, d)
		shown := slices.DeleteFunc(events, func(ev debate.Event) bool {
			w, ok := ev.(debate.Warning)
			return !ok || !strings.HasPrefix(w.Text, "the window of")
		})
		require.Len(t, shown, 2, "Ada and the judge, but not the summarizer, which has the judge's")
		stored := debatetest.Open(t, engineOn(t, place, nil, 0), "local")
		r := debatetest.Result(t, stored)
		require.Len(t, warningsWith(r, "the window of"), 2)
		require.Contains(t, warningsWith(r, "the window of")[0], strings.ReplaceAll(want, "%s", "Ada"))
	})
}

// What is known without a call is checked when a debate is made. The rest is refused when it starts.
func TestATopicThatFitsNoWindowOfTheProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakellm.OllamaServer{ModelWindow: 2_048, Reply: reply}
		client := s.Start(t)
		c := longConfig(0)
		c.Background = strings.Repeat("It is long. ", 1_000)
		_, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"m": viaOllama(t, client, 2_048)}})
		require.ErrorContains(t, err, "background: about 2610 tokens are too long for the window of Ada, 2048")
		d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{"m": viaOllama(t, client, 32_768)}})
		_, err = debatetest.Run(t, d)
		require.ErrorContains(t, err, "background: about 2610 tokens are too long for the window of Ada, 2048")
	})
}

// Windows in a journal are checked, as everything in it.
func TestAForgedWindowIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, place := &fakellm.OllamaServer{Reply: reply}, store.Memory()
		c := longConfig(0)
		c.Limits.MinRounds, c.Limits.MaxRounds = 1, 1
		d := debatetest.Create(t, engineOn(t, place, s.Start(t), 8_192), c)
		debatetest.Finish(t, d)
		j, err := archive.Export(t.Context(), place, "local")
		require.NoError(t, err)
		raw := debatetest.Encode(t, j)
		for _, size := range []string{"-1", "0", "3000000000"} {
			forged := &archive.Journal{}
			require.NoError(t, json.Unmarshal([]byte(strings.Replace(raw, `"judges[0]":8192`, `"judges[0]":`+size, 1)), forged))
			require.ErrorContains(t, archive.Import(t.Context(), store.Memory(), forged), "the window of judges[0] has "+size+" tokens, want 1 to 2000000000")
		}
	})
}
