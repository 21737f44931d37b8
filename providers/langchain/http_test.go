package langchain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/elenchus-go/debate/internal/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
	"github.com/elenchus-go/debate/transcript"
)

const key = "sk-secret-0123456789"

// service is a langchaingo client and the responses of its service.
type service struct {
	model    func(*http.Client) (llms.Model, error)
	stream   []string // the events of "Because of it.": the first four bring "Because", and no end
	reply    string   // the same reply without streaming
	refusal  string   // the body of an error, with a verb for the message
	response providers.Response
}

var services = map[string]service{
	"openai": {
		model: func(c *http.Client) (llms.Model, error) {
			return openai.New(openai.WithToken(key), openai.WithModel("m"), openai.WithBaseURL("http://service/v1"), openai.WithHTTPClient(c))
		},
		stream: []string{
			`data: {"choices":[{"delta":{"role":"assistant","content":""}}]}`,
			`: keep alive`,
			`data: {"choices":[{"delta":{"content":"Be"}}]}`,
			`data: {"choices":[{"delta":{"content":"cause"}}]}`,
			`data: {"choices":[{"delta":{"content":" of it."}}]}`,
			`data: {"choices":[{"delta":{},"finish_reason":"length"}]}`,
			`data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":90},"completion_tokens_details":{"reasoning_tokens":40}}}`,
			`data: [DONE]`,
		},
		reply: `{"choices":[{"message":{"role":"assistant","content":"Because of it."},"finish_reason":"length"}],
			"usage":{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":90},"completion_tokens_details":{"reasoning_tokens":40}}}`,
		refusal: `{"error":{"message":%q,"type":"an_error"}}`,
		response: providers.Response{
			Text: "Because of it.", FinishReason: providers.Length,
			Usage: transcript.Usage{Input: 100, Cached: 90, Output: 50, Reasoning: 40},
		},
	},
	"anthropic": {
		model: func(c *http.Client) (llms.Model, error) {
			return anthropic.New(anthropic.WithToken(key), anthropic.WithModel("m"), anthropic.WithBaseURL("http://service/v1"), anthropic.WithHTTPClient(c))
		},
		stream: []string{
			`data: {"type":"message_start","message":{"usage":{"input_tokens":7,"cache_read_input_tokens":90,"cache_creation_input_tokens":3,"output_tokens":1}}}`,
			`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Be"}}`,
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"cause"}}`,
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" of it."}}`,
			`data: {"type":"content_block_stop","index":0}`,
			`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":50}}`,
			`data: {"type":"message_stop"}`,
		},
		reply: `{"content":[{"type":"text","text":"Because of it."}],"stop_reason":"end_turn",
			"usage":{"input_tokens":7,"cache_read_input_tokens":90,"cache_creation_input_tokens":3,"output_tokens":50}}`,
		refusal: `{"type":"error","error":{"type":"an_error","message":%q}}`,
		response: providers.Response{
			Text: "Because of it.", FinishReason: providers.Stop,
			Usage: transcript.Usage{Input: 100, Cached: 90, Output: 50},
		},
	},
	"ollama": {
		model: func(c *http.Client) (llms.Model, error) {
			return ollama.New(ollama.WithModel("m"), ollama.WithServerURL("http://service"), ollama.WithHTTPClient(c))
		},
		stream: []string{
			`{"message":{"role":"assistant","content":""},"done":false}`,
			`{"message":{"role":"assistant","content":"Be"},"done":false}`,
			`{"message":{"role":"assistant","content":"cau"},"done":false}`,
			`{"message":{"role":"assistant","content":"se"},"done":false}`,
			`{"message":{"role":"assistant","content":" of it."},"done":false}`,
			`{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":100,"eval_count":50}`,
		},
		reply:   `{"message":{"role":"assistant","content":"Because of it."},"done":true,"done_reason":"stop","prompt_eval_count":100,"eval_count":50}`,
		refusal: `{"error":%q}`,
		response: providers.Response{
			Text:  "Because of it.",
			Usage: transcript.Usage{Input: 100, Output: 50},
		},
	},
}

// serve returns a provider whose service is h.
func (s service) serve(t *testing.T, h http.HandlerFunc) *langchain.Provider {
	t.Helper()
	network := fakellm.NewMemoryNetwork()
	server := &httptest.Server{Listener: network, Config: &http.Server{Handler: h}} //nolint:gosec // no slow attacker here
	server.Start()
	t.Cleanup(server.Close)
	return s.over(t, network.Dial)
}

// over returns a provider whose client connects with dial.
func (s service) over(t *testing.T, dial func(context.Context, string, string) (net.Conn, error)) *langchain.Provider {
	t.Helper()
	transport := &http.Transport{DialContext: dial}
	t.Cleanup(transport.CloseIdleConnections)
	model, err := s.model(&http.Client{Transport: transport})
	require.NoError(t, err)
	return langchain.New(model)
}

// eachService runs a test for each service in a synctest bubble, which fails if a call leaks a goroutine.
func eachService(t *testing.T, test func(*testing.T, service)) {
	t.Helper()
	for name, s := range services {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, s) })
		})
	}
}

// send writes the events and flushes after each one.
func send(w http.ResponseWriter, events []string) {
	for _, event := range events {
		fmt.Fprintln(w, event)
		w.(http.Flusher).Flush()
	}
}

func TestServiceStreams(t *testing.T) {
	eachService(t, func(t *testing.T, s service) {
		p := s.serve(t, func(w http.ResponseWriter, _ *http.Request) { send(w, s.stream) })
		var heard []string
		res, err := p.Generate(forever(t), listen(&heard))
		require.NoError(t, err)
		require.Equal(t, s.response, res)
		require.Greater(t, len(heard), 2)
		require.Equal(t, res.Text, strings.Join(heard, ""))
	})
}

func TestServiceRepliesWithoutAStream(t *testing.T) {
	eachService(t, func(t *testing.T, s service) {
		var asked struct {
			Model       string
			Stream      bool
			Temperature float64
			Options     struct{ Temperature float64 }
			Messages    []struct{ Role string }
		}
		p := s.serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			_ = json.Unmarshal(body, &asked)
			fmt.Fprintln(w, strings.ReplaceAll(s.reply, "\n", ""))
		})
		warm := 0.5
		r := ask()
		r.Model, r.Temperature = "another", &warm
		res, err := p.Generate(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, s.response, res)
		require.Equal(t, "another", asked.Model)
		require.Equal(t, warm, asked.Temperature+asked.Options.Temperature)
		require.False(t, asked.Stream)
		require.Len(t, asked.Messages, 1)
		require.Equal(t, "user", asked.Messages[0].Role)
	})
}

func TestServiceRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		status  int
		message string
		kind    providers.ErrorKind
	}{
		"a key":              {401, "Incorrect API key provided: " + key, providers.Authentication},
		"a rate":             {429, "Rate limit reached. Please try again in 7s.", providers.RateLimit},
		"an unknown model":   {404, "model 'm' not found", providers.InvalidRequest},
		"to work":            {500, "boom", providers.ServerError},
		"an overlong prompt": {400, "prompt is too long: 212400 tokens > 200000 maximum", providers.ContextOverflow},
	} {
		t.Run(name, func(t *testing.T) {
			eachService(t, func(t *testing.T, s service) {
				p := s.serve(t, func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(test.status)
					fmt.Fprintf(w, s.refusal, test.message)
				})
				var heard []string
				for _, r := range []providers.Request{ask(), listen(&heard)} {
					_, err := p.Generate(t.Context(), r)
					e := requireKind(t, test.kind, err)
					require.NotContains(t, err.Error(), key)
					require.Equal(t, test.kind == providers.RateLimit, e.RetryAfter == 7*time.Second)
				}
				require.Empty(t, heard)
			})
		})
	}
}

func TestServiceIsUnreachable(t *testing.T) {
	eachService(t, func(t *testing.T, s service) {
		p := s.over(t, func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errBored}
		})
		_, err := p.Generate(t.Context(), ask())
		_ = requireKind(t, providers.Network, err)
	})
}

func TestServiceIsCutMidStream(t *testing.T) {
	for name, cut := range map[string]func(){
		"by an early end": func() {},
		"by a reset":      func() { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			eachService(t, func(t *testing.T, s service) {
				p := s.serve(t, func(w http.ResponseWriter, _ *http.Request) {
					send(w, s.stream[:4])
					cut()
				})
				var heard []string
				_, err := p.Generate(forever(t), listen(&heard))
				e := requireKind(t, providers.Network, err)
				require.Equal(t, "Because", e.Partial.Text)
				require.Equal(t, "Because", strings.Join(heard, ""))
			})
		})
	}
}

func TestServiceEndsAStreamBeforeItBegan(t *testing.T) {
	eachService(t, func(t *testing.T, s service) {
		p := s.serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
		var heard []string
		_, err := p.Generate(forever(t), listen(&heard))
		require.Contains(t, []providers.ErrorKind{providers.Network, providers.InvalidResponse}, providers.AsError(err).Kind)
		require.Empty(t, heard)
	})
}

func TestServiceFailsInAStreamOfOpenAI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := services["openai"]
		p := s.serve(t, func(w http.ResponseWriter, _ *http.Request) {
			send(w, append(s.stream[:4:4], `data: {"error":{"message":"overloaded"}}`, `data: [DONE]`))
		})
		var heard []string
		_, err := p.Generate(forever(t), listen(&heard))
		require.Equal(t, "Because", requireKind(t, providers.Network, err).Partial.Text)
	})
}

func TestServiceIsCancelledMidStream(t *testing.T) {
	eachService(t, func(t *testing.T, s service) {
		p := s.serve(t, func(w http.ResponseWriter, _ *http.Request) { send(w, s.stream) })
		ctx, cancel := context.WithCancelCause(t.Context())
		said := ""
		r := ask()
		r.OnChunk = func(text string) error {
			said += text
			if said == "Because" {
				cancel(errBored)
			}
			return nil
		}
		_, err := p.Generate(ctx, r)
		require.ErrorIs(t, err, errBored)
		require.Equal(t, "Because", requireKind(t, providers.ServerError, err).Partial.Text)
		require.Equal(t, "Because", said)
	})
}

func TestServiceIsTooSlow(t *testing.T) {
	for name, events := range map[string]int{"before the reply": 0, "within it": 4} {
		t.Run(name, func(t *testing.T) {
			eachService(t, func(t *testing.T, s service) {
				p := s.serve(t, func(w http.ResponseWriter, r *http.Request) {
					send(w, s.stream[:events])
					_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice a disconnected client
					<-r.Context().Done()
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				var heard []string
				_, err := p.Generate(ctx, listen(&heard))
				require.Equal(t, time.Second, time.Since(began))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, strings.Join(heard, ""), requireKind(t, providers.Timeout, err).Partial.Text)
			})
		})
	}
}

func TestServiceIsLeftByTheReader(t *testing.T) {
	eachService(t, func(t *testing.T, s service) {
		p := s.serve(t, func(w http.ResponseWriter, _ *http.Request) { send(w, s.stream) })
		r := ask()
		r.OnChunk = func(string) error { return errBored }
		_, err := p.Generate(forever(t), r)
		require.Equal(t, errBored, err)
	})
}
