package cassette_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/cassette"
	"github.com/elenchus-go/debate/providers/langchain"
)

// gpt streams a reply as OpenAI does.
func gpt(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []string{
		`{"choices":[{"delta":{"role":"assistant","content":"Be"}}]}`,
		`{"choices":[{"delta":{"content":"cause."}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"stop"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`,
		`[DONE]`,
	} {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", event)
		w.(http.Flusher).Flush()
	}
}

// ask calls a langchaingo model through a cassette.
func ask(t *testing.T, c *cassette.Cassette, base, key, text string) (providers.Response, string, error) {
	m, err := openai.New(openai.WithToken(key), openai.WithModel("gpt-x"), openai.WithBaseURL(base), openai.WithHTTPClient(&http.Client{Transport: c}))
	require.NoError(t, err)
	heard := ""
	res, err := langchain.New(m).Generate(t.Context(), providers.Request{
		Messages: []providers.Message{{Role: providers.System, Text: "Argue."}, {Role: providers.User, Text: text}},
		OnChunk: func(text string) error {
			heard += text
			return nil
		},
	})
	return res, heard, err
}

func TestAModelOfLangchaingoIsRecordedAndReplayedWithTheServerGone(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(gpt))
	path := filepath.Join(t.TempDir(), "chat.json")
	c := open(t, path, cassette.Options{Mode: cassette.RecordOnce})
	live, heard, err := ask(t, c, s.URL+"/v1", "sk-real-0123456789", "Why?")
	require.NoError(t, err)
	require.Equal(t, "Because.", live.Text)
	require.Equal(t, "Because.", heard)
	require.NoError(t, c.Close())
	s.Close()
	require.NotContains(t, content(t, path), "sk-real")

	c = open(t, path, cassette.Options{Mode: cassette.RecordOnce})
	replayed, heard, err := ask(t, c, "http://gone.invalid/v1", "dummy", "Why?")
	require.NoError(t, err)
	require.Equal(t, live, replayed)
	require.Equal(t, "Because.", heard)
	require.NoError(t, c.Close())

	c = open(t, path, cassette.Options{Mode: cassette.RecordOnce})
	_, _, err = ask(t, c, "http://gone.invalid/v1", "dummy", "Who?")
	require.Error(t, err)
	require.ErrorContains(t, c.Close(), `body.messages[1].content, at byte 2: recorded "Why?", got "Who?"`)
}

func Example() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "Because.")
	}))
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for range 2 { // the first round has no file, the second has no service
		c, err := cassette.Open(filepath.Join(dir, "why.json"), cassette.Options{Mode: cassette.RecordOnce})
		if err != nil {
			panic(err)
		}
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, service.URL+"/why", nil)
		if err != nil {
			panic(err)
		}
		res, err := (&http.Client{Transport: c}).Do(req)
		if err != nil {
			panic(err)
		}
		text, err := io.ReadAll(res.Body)
		fmt.Println(string(text), err, res.Body.Close(), c.Close())
		service.Close()
	}
	// Output:
	// Because. <nil> <nil> <nil>
	// Because. <nil> <nil> <nil>
}
