package wire_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// streamTokens sets the number of tokens of a reply in the benchmarks. Each token is an event.
const streamTokens = 600

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

// bareResponsesEvent is what a bare client reads of an event from OpenAI's Responses API.
type bareResponsesEvent struct {
	Type     string `json:"type"`
	Delta    string `json:"delta"`
	Response struct {
		Status string `json:"status"`
		Usage  struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
		} `json:"usage"`
	} `json:"response"`
}

// bareMessageEvent is what a bare client reads of an event from Anthropic.
type bareMessageEvent struct {
	Type  string `json:"type"`
	Delta struct {
		Text string `json:"text"`
		Stop string `json:"stop_reason"`
	} `json:"delta"`
	Usage struct {
		Output int `json:"output_tokens"`
	} `json:"usage"`
}

// bareContentEvent is what a bare client reads of an event from Google.
type bareContentEvent struct {
	Candidates []struct {
		Content struct {
			Parts []struct {
				Text string `json:"text"`
			} `json:"parts"`
		} `json:"content"`
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Usage struct {
		Prompt int `json:"promptTokenCount"`
		Reply  int `json:"candidatesTokenCount"`
	} `json:"usageMetadata"`
}

// benchServices lists the services of the benchmarks. Each has a function that decodes an event as a bare client does, and
// returns the text in it.
var benchServices = []struct {
	protocol fakellm.Protocol
	textOf   func(event []byte) (string, error)
}{
	{fakellm.Ollama, func(event []byte) (string, error) {
		var l bareLine
		err := json.Unmarshal(event, &l)
		return l.Message.Content, err
	}},
	{fakellm.OpenAI, func(event []byte) (string, error) {
		var e bareEvent
		if err := json.Unmarshal(event, &e); err != nil || len(e.Choices) == 0 {
			return "", err
		}
		return e.Choices[0].Delta.Content, nil
	}},
	{fakellm.Responses, func(event []byte) (string, error) {
		var e bareResponsesEvent
		if err := json.Unmarshal(event, &e); err != nil || e.Type != "response.output_text.delta" {
			return "", err
		}
		return e.Delta, nil
	}},
	{fakellm.Anthropic, func(event []byte) (string, error) {
		var e bareMessageEvent
		err := json.Unmarshal(event, &e)
		return e.Delta.Text, err
	}},
	{fakellm.Google, func(event []byte) (string, error) {
		var e bareContentEvent
		if err := json.Unmarshal(event, &e); err != nil || len(e.Candidates) == 0 || len(e.Candidates[0].Content.Parts) == 0 {
			return "", err
		}
		return e.Candidates[0].Content.Parts[0].Text, nil
	}},
}

// bareCall makes a call with net/http and encoding/json alone.
func bareCall(b testing.TB, client *http.Client, textOf func([]byte) (string, error), onChunk func(string) error) {
	b.Helper()
	body, err := json.Marshal(map[string]any{"model": "m", "stream": true, "messages": []map[string]string{{"role": "user", "content": "Why?"}}})
	require.NoError(b, err)
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://service/v1", bytes.NewReader(body))
	require.NoError(b, err)
	r.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(r)
	require.NoError(b, err)
	var text strings.Builder
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		event, _ := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if len(event) == 0 || event[0] != '{' {
			continue
		}
		piece, err := textOf(event)
		require.NoError(b, err)
		if piece != "" {
			text.WriteString(piece)
			_ = onChunk(piece) // it returns nil
		}
	}
	require.NoError(b, lines.Err())
	require.NoError(b, resp.Body.Close())
	require.Equal(b, streamTokens*4, text.Len())
}

// benchClients returns an HTTP client that reads a stream of the stand-in of a service from memory, and a provider that
// uses it.
func benchClients(t testing.TB, p fakellm.Protocol) (*http.Client, providers.Provider) {
	t.Helper()
	text := ""
	for i := 0; len(text) < streamTokens*4; i++ {
		text += fmt.Sprintf("Cars take space from %d people. ", i)
	}
	reply := fakellm.Reply{Usage: transcript.Usage{Input: 4, Output: streamTokens}}
	for i := range streamTokens {
		reply.Chunks = append(reply.Chunks, text[4*i:4*i+4])
	}
	stream := record(t, p, reply)
	client := &http.Client{Transport: calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body) // it is in memory
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(stream)), Request: r}, nil
	})}
	return client, service(t, p, client, nil)
}

// The time of a token depends mostly on what is allocated for it, which does not vary between machines.
func TestAllocationsForEachToken(t *testing.T) {
	for _, s := range benchServices {
		client, provider := benchClients(t, s.protocol)
		ask := calltest.Ask()
		ask.OnChunk = func(string) error { return nil }
		bare := testing.AllocsPerRun(5, func() { bareCall(t, client, s.textOf, ask.OnChunk) })
		own := testing.AllocsPerRun(5, func() {
			_, err := provider.Generate(t.Context(), ask)
			require.NoError(t, err)
		})
		t.Log(s.protocol, own/streamTokens, bare/streamTokens)
		require.LessOrEqual(t, own/streamTokens, bare/streamTokens+5, s.protocol)
	}
}

// BenchmarkClient compares a provider with a bare client that decodes the same stream. Both read it from memory, so that
// neither the server nor the network is measured. It alternates between them and reports medians: the ratio of their times
// for a whole reply and to the first chunk, and the time for each token.
func BenchmarkClient(b *testing.B) {
	for _, s := range benchServices {
		b.Run(string(s.protocol), func(b *testing.B) {
			client, provider := benchClients(b, s.protocol)
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
					func() { bareCall(b, client, s.textOf, onChunk) },
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
