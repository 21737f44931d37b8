package wire_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/calltest"
	"github.com/elenchus-go/debate/internal/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/ollama"
	"github.com/elenchus-go/debate/providers/openai"
)

// streamTokens sets the number of tokens of a reply in the benchmarks. Each token is an event.
const streamTokens = 600

// recordStream returns the body with which the stand-in of Ollama streams a reply.
func recordStream(b testing.TB, path string) []byte {
	b.Helper()
	text := strings.Repeat("Cars take space from people. ", streamTokens*4/29+1)[:streamTokens*4]
	s := &fakellm.OllamaServer{Reply: func(fakellm.OllamaRequest) string { return text }}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), http.MethodPost, path, strings.NewReader(`{"messages": [{"role": "user", "content": "Why?"}]}`)))
	return w.Body.Bytes()
}

// bareLine is what a bare client reads of a line from Ollama.
type bareLine struct {
	Message struct {
		Content string `json:"content"`
	} `json:"message"`
	Done   bool   `json:"done"`
	Reason string `json:"done_reason"`
	Prompt int    `json:"prompt_eval_count"`
	Reply  int    `json:"eval_count"`
}

// bareEvent is what a bare client reads of an event from OpenAI.
type bareEvent struct {
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
}

// bareCall makes a call with net/http and encoding/json alone.
func bareCall(b testing.TB, client *http.Client, url string, onChunk func(string) error) {
	b.Helper()
	body, err := json.Marshal(map[string]any{"model": "m", "stream": true, "messages": []map[string]string{{"role": "user", "content": "Why?"}}})
	require.NoError(b, err)
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(body))
	require.NoError(b, err)
	r.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(r)
	require.NoError(b, err)
	var text strings.Builder
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, isEvent := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		piece := ""
		switch {
		case len(data) == 0, string(data) == "[DONE]", data[0] != '{':
			continue
		case isEvent:
			var e bareEvent
			require.NoError(b, json.Unmarshal(data, &e))
			if len(e.Choices) > 0 {
				piece = e.Choices[0].Delta.Content
			}
		default:
			var l bareLine
			require.NoError(b, json.Unmarshal(data, &l))
			piece = l.Message.Content
		}
		if piece != "" {
			text.WriteString(piece)
			_ = onChunk(piece) // it returns nil
		}
	}
	require.NoError(b, lines.Err())
	require.NoError(b, resp.Body.Close())
	require.Equal(b, streamTokens*4, text.Len())
}

// benchService is a service whose stand-in streams a reply in the benchmarks.
type benchService struct{ name, path string }

var benchServices = []benchService{{"ollama", "/api/chat"}, {"openai", "/v1/chat/completions"}}

// clients returns an HTTP client that reads the stream from memory, and a provider that uses it.
func (s benchService) clients(t testing.TB) (*http.Client, providers.Provider) {
	t.Helper()
	stream := recordStream(t, s.path)
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body) // it is in memory
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(stream)), Request: r}, nil
	})}
	var p providers.Provider
	var err error
	if s.name == "ollama" {
		p, err = ollama.New(ollama.Config{Model: "m", HTTPClient: client})
	} else {
		p, err = openai.New(openai.Config{Model: "m", BaseURL: "http://localhost:11434/v1", HTTPClient: client})
	}
	require.NoError(t, err)
	return client, p
}

// The time of a token depends mostly on what is allocated for it, which does not vary between machines.
func TestAllocationsForEachToken(t *testing.T) {
	for _, service := range benchServices {
		client, provider := service.clients(t)
		ask := calltest.Ask()
		ask.OnChunk = func(string) error { return nil }
		bare := testing.AllocsPerRun(5, func() { bareCall(t, client, "http://localhost:11434"+service.path, ask.OnChunk) })
		own := testing.AllocsPerRun(5, func() {
			_, err := provider.Generate(t.Context(), ask)
			require.NoError(t, err)
		})
		t.Log(service.name, own/streamTokens, bare/streamTokens)
		require.LessOrEqual(t, own/streamTokens, bare/streamTokens+5, service.name)
	}
}

// BenchmarkClient compares a provider with a bare client that decodes the same stream. Both read it from memory, so that
// neither the server nor the network is measured. It alternates between them and reports medians: the ratio of their times
// for a whole reply and to the first chunk, and the time for each token.
func BenchmarkClient(b *testing.B) {
	for _, service := range benchServices {
		b.Run(service.name, func(b *testing.B) {
			client, provider := service.clients(b)
			var first time.Time
			onChunk := func(string) error {
				if first.IsZero() {
					first = time.Now()
				}
				return nil
			}
			ask := calltest.Ask()
			ask.OnChunk = onChunk
			var whole, begin [2][]float64
			for b.Loop() {
				for i, call := range []func(){
					func() { bareCall(b, client, "http://localhost:11434"+service.path, onChunk) },
					func() {
						_, err := provider.Generate(b.Context(), ask)
						require.NoError(b, err)
					},
				} {
					first = time.Time{}
					began := time.Now()
					call()
					whole[i] = append(whole[i], float64(time.Since(began)))
					begin[i] = append(begin[i], float64(first.Sub(began)))
				}
			}
			b.ReportMetric(median(whole[1])/median(whole[0]), "ratio")
			b.ReportMetric(median(whole[1])/streamTokens, "ns/token")
			b.ReportMetric(median(whole[0])/streamTokens, "bare-ns/token")
			b.ReportMetric(median(begin[1])/1000, "first-µs")
			b.ReportMetric(median(begin[0])/1000, "bare-first-µs")
		})
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
