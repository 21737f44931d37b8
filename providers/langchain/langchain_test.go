package langchain_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
)

var (
	_ providers.Provider = (*langchain.Provider)(nil)

	errBored = errors.New("ended by the caller")
)

// fake is a model that calls generate.
type fake struct {
	generate func(context.Context, []llms.MessageContent, llms.CallOptions) (*llms.ContentResponse, error)
}

func (f fake) GenerateContent(ctx context.Context, m []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, option := range options {
		option(&o)
	}
	return f.generate(ctx, m, o)
}

func (f fake) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, f, prompt, options...)
}

// says returns a model that streams the chunks, and then returns the choices and err.
func says(chunks []string, err error, choices ...*llms.ContentChoice) fake {
	return fake{func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
		for _, chunk := range chunks {
			if o.StreamingFunc == nil {
				break
			}
			if err := o.StreamingFunc(ctx, []byte(chunk)); err != nil {
				return nil, err
			}
		}
		if choices == nil {
			return nil, err
		}
		return &llms.ContentResponse{Choices: choices}, err
	}}
}

// stops returns a complete choice.
func stops(text string) *llms.ContentChoice {
	return &llms.ContentChoice{Content: text, StopReason: "stop"}
}

func TestOptions(t *testing.T) {
	cold := 0.0
	r := calltest.Ask()
	full := calltest.Ask()
	full.Model = "m"
	full.Temperature = &cold
	full.MaxTokens = 600
	full.Schema = []byte(`{}`)
	settled := calltest.Ask()
	warm := 0.5
	seed := int64(7)
	settled.Temperature = &warm
	settled.TopP = 0.9
	settled.Seed = &seed
	settled.Stop = []string{"END"}
	for name, test := range map[string]struct {
		request providers.Request
		own     []llms.CallOption
		want    llms.CallOptions
	}{
		"what the request does not name is not sent": {r, nil, llms.CallOptions{}},
		"the provider's own":                         {r, []llms.CallOption{llms.WithSeed(7), llms.WithMaxTokens(1)}, llms.CallOptions{Seed: 7, MaxTokens: 1}},
		"all settings":                               {settled, nil, llms.CallOptions{Temperature: 0.5, TopP: 0.9, Seed: 7, StopWords: []string{"END"}}},
		"the request's, but no schema":               {full, nil, llms.CallOptions{Model: "m", MaxTokens: 600}},
		"the request's before the provider's own": {
			full,
			[]llms.CallOption{llms.WithTemperature(1), llms.WithMaxTokens(1), llms.WithSeed(7)},
			llms.CallOptions{Model: "m", MaxTokens: 600, Seed: 7},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := langchain.New(fake{func(_ context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
				require.Equal(t, test.want, o)
				return &llms.ContentResponse{Choices: []*llms.ContentChoice{stops("So.")}}, nil
			}}, test.own...)
			calltest.Generate(t, p, test.request)
		})
	}
}

func TestChunksAreWholeCharactersAndMakeUpTheText(t *testing.T) {
	for name, test := range map[string]struct {
		chunks []string
		text   string
		want   []string
	}{
		"as they come":                        {[]string{"Be", "cause."}, "Because.", []string{"Be", "cause."}},
		"without empty ones":                  {[]string{"", "Be", "", "cause.", ""}, "Because.", []string{"Be", "cause."}},
		"held back until complete":            {[]string{"x\xe2", "\x82", "\xacb"}, "x€b", []string{"x", "€b"}},
		"a long character byte by byte":       {[]string{"\xf0", "\x9f", "\xa6", "\x89"}, "🦉", []string{"🦉"}},
		"what is no UTF-8 is replaced":        {[]string{"a\xff", "b\x82"}, "a\xffb\x82", []string{"a\uFFFD", "b\uFFFD"}},
		"half a character at the end":         {[]string{"x\xe2\x82"}, "x\xe2\x82", []string{"x", "\uFFFD\uFFFD"}},
		"the rest of the text at the end":     {[]string{"Be"}, "Because.", []string{"Be", "cause."}},
		"all of a text that was not streamed": {nil, "Because.", []string{"Because."}},
		"those of a text that was trimmed":    {[]string{"\n Because.", "\n"}, "Because.", []string{"\n Because.", "\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			var heard []string
			res := calltest.Generate(t, langchain.New(says(test.chunks, nil, stops(test.text))), calltest.Listen(&heard))
			require.Equal(t, test.want, heard)
			require.Equal(t, strings.Join(test.want, ""), res.Text)
		})
	}
}

func TestTheCallbackRunsOnTheCallersGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := calltest.Ask()
		r.OnChunk = func(string) error { panic(errBored) }
		p := langchain.New(says([]string{"Be", "cause."}, nil, stops("Because.")))
		require.PanicsWithValue(t, errBored, func() { _, _ = p.Generate(calltest.Forever(t), r) })
	})
}

func TestAnErrorOfTheCallbackEndsTheCallWhateverTheModelSays(t *testing.T) {
	swallows := fake{func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
		_ = o.StreamingFunc(ctx, []byte("Be"))
		_ = o.StreamingFunc(ctx, []byte("cause."))
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{stops("Because.")}}, nil
	}}
	for name, model := range map[string]fake{
		"that wraps it":         says([]string{"Be", "cause."}, nil, stops("Because.")),
		"that swallows it":      swallows,
		"that does not stream":  says(nil, nil, stops("Because.")),
		"that fails on its own": says([]string{"Be"}, errors.New("network error")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				r := calltest.Ask()
				r.OnChunk = func(string) error { calls++; return errBored }
				res, err := langchain.New(model).Generate(calltest.Forever(t), r)
				require.Equal(t, errBored, err)
				require.Zero(t, res)
				synctest.Wait()
				require.Equal(t, 1, calls)
			})
		})
	}
}

func TestAModelThatIgnoresItsContextCannotHoldUpTheCaller(t *testing.T) {
	for name, test := range map[string]struct {
		before func(context.Context, llms.CallOptions) // what the model does before it hangs
		heard  string
	}{
		"at once": {func(context.Context, llms.CallOptions) {}, ""},
		"in the middle of a stream": {func(ctx context.Context, o llms.CallOptions) {
			_ = o.StreamingFunc(ctx, []byte("Be"))
		}, "Be"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				left := make(chan error, 1)
				p := langchain.New(fake{func(_ context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
					test.before(context.Background(), o)
					<-time.After(time.Hour)
					left <- o.StreamingFunc(context.Background(), []byte("cause."))
					return &llms.ContentResponse{Choices: []*llms.ContentChoice{stops("Because.")}}, nil
				}})
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				var heard []string
				_, err := p.Generate(ctx, calltest.Listen(&heard))
				require.Equal(t, time.Second, time.Since(began))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, test.heard, calltest.RequireKind(t, providers.Timeout, err).Partial.Text)
				require.ErrorIs(t, <-left, context.DeadlineExceeded, "the model that was left behind is told so and can end")
			})
		})
	}
}

func TestTheEndOfTheContextCountsWhateverTheModelSays(t *testing.T) {
	for name, model := range map[string]fake{
		"that succeeds":   says([]string{"Be", "cause."}, nil, stops("Because.")),
		"that is cut":     says([]string{"Be"}, nil, stops("Be")),
		"that fails":      says([]string{"Be"}, errors.New("status code: 500")),
		"that is unclear": says([]string{"Be"}, nil, &llms.ContentChoice{}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				heard := 0
				r := calltest.Ask()
				r.OnChunk = func(string) error { heard++; cancel(errBored); return nil }
				res, err := langchain.New(model).Generate(ctx, r)
				require.Zero(t, res)
				require.ErrorIs(t, err, errBored)
				require.Contains(t, calltest.RequireKind(t, providers.ServerError, err).Partial.Text, "Be")
				require.Equal(t, 1, heard, "nothing is handed over after the end")
			})
		})
	}
}

func TestAnEndedContextCallsNoModel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := langchain.New(nil).Generate(ctx, calltest.Ask())
	require.ErrorIs(t, err, context.Canceled)
}

func TestAPanicOfTheModelIsAnError(t *testing.T) {
	var choices []string
	p := langchain.New(fake{func(context.Context, []llms.MessageContent, llms.CallOptions) (*llms.ContentResponse, error) {
		return nil, errors.New(choices[0])
	}})
	_, err := p.Generate(t.Context(), calltest.Ask())
	_ = calltest.RequireKind(t, providers.Panic, err)
	require.ErrorContains(t, err, "runtime error: index out of range")
}

// A model that cannot stream is asked for whole replies, which arrive in one chunk.
func TestWholeReplies(t *testing.T) {
	m := fake{func(_ context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
		if o.StreamingFunc != nil {
			return nil, errors.New("this model cannot stream")
		}
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "Because.", StopReason: "stop"}}}, nil
	}}
	p := langchain.New(m)
	p.NoStreaming = true
	var chunks []string
	r := providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Why?"}}, OnChunk: func(text string) error {
		chunks = append(chunks, text)
		return nil
	}}
	res := calltest.Generate(t, p, r)
	require.Equal(t, "Because.", res.Text)
	require.Equal(t, []string{"Because."}, chunks)
}

// A model without a system prompt is asked once whether it has one.
func TestModelsWithoutASystemPrompt(t *testing.T) {
	var roles []llms.ChatMessageType
	p := langchain.New(fake{func(_ context.Context, list []llms.MessageContent, _ llms.CallOptions) (*llms.ContentResponse, error) {
		roles = append(roles, list[0].Role)
		if list[0].Role == llms.ChatMessageTypeSystem {
			return nil, errors.New("API returned unexpected status code: 400: System role not supported")
		}
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{stops("So.")}}, nil
	}})
	r := providers.Request{Messages: []providers.Message{{Role: providers.System, Text: "Be brief."}, {Role: providers.User, Text: "Why?"}}}
	for range 2 {
		require.Equal(t, "So.", calltest.Generate(t, p, r).Text)
	}
	require.Equal(t, []llms.ChatMessageType{llms.ChatMessageTypeSystem, llms.ChatMessageTypeHuman, llms.ChatMessageTypeHuman}, roles)
}
