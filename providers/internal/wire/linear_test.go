package wire_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
)

// TestLongPromptsTakeLinearMemory sends a prompt of 2,000 messages. To copy the prompt for each message would take a
// gigabyte.
func TestLongPromptsTakeLinearMemory(t *testing.T) {
	text := strings.Repeat("So it is. ", 50)
	r := providers.Request{}
	for range 2000 {
		r.Messages = append(r.Messages, providers.Message{Role: providers.User, Text: text})
	}
	client := &http.Client{Transport: calltest.RoundTrip(func(*http.Request) (*http.Response, error) { return nil, errEnough })}
	for _, p := range protocols {
		t.Run(string(p), func(t *testing.T) {
			model := service(t, p, client, nil)
			allocated := allocatedBy(func() {
				_, err := model.Generate(t.Context(), r)
				require.ErrorContains(t, err, errEnough.Error())
			})
			require.Less(t, allocated, 30*len(text)*len(r.Messages))
		})
	}
}

// allocatedBy returns the number of bytes that a function allocates.
func allocatedBy(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc) //nolint:gosec // it is small
}

// longStream returns a stream of about size bytes. It repeats the first event that has a piece, with a number, and reports how
// often.
func longStream(t testing.TB, p fakellm.Protocol, piece string, size int) (stream string, n int) {
	t.Helper()
	reply := fakellm.Reply{
		Reasoning: "Hm. ", Chunks: []string{"So. "},
		ToolCalls: []providers.ToolCall{{ID: "1", Name: "look", Arguments: json.RawMessage(`"Why are"`)}},
	}
	end := "\n\n"
	if p == fakellm.Ollama {
		end = "\n"
	}
	var b strings.Builder
	for _, event := range strings.SplitAfter(record(t, p, reply), end) {
		if n == 0 && strings.Contains(event, piece) {
			for n = range size / len(event) {
				b.WriteString(strings.Replace(event, piece, fmt.Sprint(piece, n, " "), 1)) // a model that repeats itself is ended
			}
			n++
			continue
		}
		b.WriteString(event)
	}
	require.Positive(t, n)
	return b.String(), n
}

// record returns the stream in which a stand-in of a service sends a reply.
func record(t testing.TB, p fakellm.Protocol, r fakellm.Reply) string {
	t.Helper()
	w := httptest.NewRecorder()
	ask := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(`{"stream": true}`))
	fakellm.Start(t, p, r).ServeHTTP(w, ask)
	return w.Body.String()
}

// readerOf returns a provider whose service sends a stream.
func readerOf(t testing.TB, p fakellm.Protocol, stream string) providers.Provider {
	t.Helper()
	return service(t, p, &http.Client{Transport: calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(stream)), Request: r}, nil
	})}, nil)
}

// TestLongStreamsTakeLinearMemory reads a stream, and another one of four times its length. If a piece copied the pieces
// before it, the longer one would take sixteen times the memory.
func TestLongStreamsTakeLinearMemory(t *testing.T) {
	const size = 1 << 19
	for name, test := range map[string]struct {
		piece     string
		protocols []fakellm.Protocol // that have such pieces
	}{
		"text":        {"So. ", protocols},
		"reasoning":   {"Hm. ", protocols},
		"a signature": {"c2ln", []fakellm.Protocol{fakellm.Anthropic}},
		"a tool call": {" are", []fakellm.Protocol{fakellm.OpenAI, fakellm.Anthropic}},
	} {
		for _, p := range test.protocols {
			t.Run(name+" of "+string(p), func(t *testing.T) {
				read := func(size int) int {
					stream, n := longStream(t, p, test.piece, size)
					model := readerOf(t, p, stream)
					return allocatedBy(func() {
						res := calltest.Generate(t, model, calltest.Ask())
						raw, err := json.Marshal(res)
						require.NoError(t, err)
						require.GreaterOrEqual(t, strings.Count(string(raw), test.piece), n)
					})
				}
				require.Less(t, read(4*size), 6*read(size))
			})
		}
	}
}

// TestEventsInManyLines takes milliseconds. If each line made the reader look at the lines before it again, it would take
// minutes.
func TestEventsInManyLines(t *testing.T) {
	for name, test := range map[string]struct {
		line  string
		lines int
		want  string
	}{
		"many lines":     {"1,", 100_000, "unexpected end of JSON input"},
		"too many bytes": {strings.Repeat(" ", 1<<20), 9, "read reply: longer than 8388608 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			p := replyWith(t, nil, func(context.Context) io.Reader {
				return strings.NewReader("data: [1,\n" + strings.Repeat("data: "+test.line+"\n", test.lines))
			})
			_, err := p.Generate(ctx, calltest.Ask())
			require.ErrorContains(t, calltest.RequireKind(t, providers.InvalidResponse, err), test.want)
		})
	}
}

// BenchmarkStream reads texts in streams of different lengths. The time for each byte must not grow.
func BenchmarkStream(b *testing.B) {
	for _, p := range protocols {
		for _, size := range []int{1 << 20, 64 << 20} {
			b.Run(fmt.Sprintf("%s/%dMB", p, size>>20), func(b *testing.B) {
				stream, _ := longStream(b, p, "So. ", size)
				model := readerOf(b, p, stream)
				b.SetBytes(int64(len(stream)))
				for b.Loop() {
					calltest.Generate(b, model, calltest.Ask())
				}
			})
		}
	}
}
