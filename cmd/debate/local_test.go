package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
)

// closedAddress returns the address of a port where nothing listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	var c net.ListenConfig
	l, err := c.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// The first interrupt ends the wait for a server that is not running. A stored debate is paused, another one canceled.
func TestAnInterruptEndsTheWaitForAServer(t *testing.T) {
	for stored, want := range map[string]string{"d.db": "debate paused", memoryStore: "debate canceled"} {
		t.Run(stored, func(t *testing.T) {
			folder(t)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			interrupted := make(chan struct{})
			var once sync.Once
			screen := output{seen: func(all string) {
				if strings.Contains(all, "retrying in") {
					once.Do(func() { close(interrupted) })
				}
			}}
			args := []string{"--model", "ollama/llama3.2", "--store", stored, topic}
			code := run(ctx, interrupted, args, strings.NewReader(""), &output{}, &screen, environment("OLLAMA_HOST", closedAddress(t)))
			require.NoError(t, ctx.Err())
			require.Equal(t, exitGeneral, code, screen.String())
			require.Contains(t, screen.String(), want)
		})
	}
}

// The window of a request to Ollama is the one for which the debate plans its prompts.
func TestTheWindowOfOllama(t *testing.T) {
	for name, tt := range map[string]struct {
		file       string
		most, want int // the model's own maximum, and the window
	}{
		"by default":                  {`{"kind": "ollama"}`, 131_072, 16_384},
		"of the configuration":        {`{"kind": "ollama", "num_ctx": 32768}`, 131_072, 32_768},
		"more than the model's":       {`{"kind": "ollama", "num_ctx": 32768}`, 8_192, 8_192},
		"a model with a small window": {`{"kind": "ollama"}`, 4_096, 4_096},
	} {
		t.Run(name, func(t *testing.T) {
			var asked fakellm.OllamaRequest
			fake := &fakellm.OllamaServer{ModelWindow: tt.most, Reply: func(fakellm.OllamaRequest) string { return "" }}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/api/chat" {
					fake.ServeHTTP(w, r)
					return
				}
				_ = json.NewDecoder(r.Body).Decode(&asked)
				http.Error(w, `{"error": "no"}`, http.StatusUnauthorized) // the first call is enough
			}))
			t.Cleanup(s.Close)
			t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
			folder(t, "c.json", `{"providers": {"main": `+tt.file+`}}`)
			config, _ := composed(t, "--config", "c.json", topic)
			p := &program{env: environment("OLLAMA_HOST", s.URL)}
			file, err := readConfigFile("c.json")
			require.NoError(t, err)
			made, _, err := p.openProviders(file, nil)
			require.NoError(t, err)
			d, err := debate.New(t.Context(), config, debate.Options{Providers: made})
			require.NoError(t, err)
			windows := map[string]int{}
			for ev, err := range d.Run(t.Context()) {
				if accepted, ok := ev.(debate.StateChanged); err == nil && ok && accepted.Windows != nil {
					windows = accepted.Windows
				}
			}
			require.Equal(t, tt.want, windows["participants[0]"])
			require.Equal(t, tt.want, windows["judges[0]"])
			require.Equal(t, tt.want, min(asked.Options.NumCtx, tt.most))
			require.Equal(t, tt.want, made["main"].(providers.Windowed).Window(""))
		})
	}
}

// What helps is on the screen in one piece: once, and not for each actor.
func TestMistakesWithOllamaAreExplained(t *testing.T) {
	folder(t)
	down := closedAddress(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	interrupted := make(chan struct{})
	var once sync.Once
	screen := output{seen: func(all string) {
		if strings.Count(all, "retrying in") > 1 {
			once.Do(func() { close(interrupted) })
		}
	}}
	run(ctx, interrupted, []string{"--model", "ollama/llama3.2", topic}, strings.NewReader(""), &output{}, &screen, environment("OLLAMA_HOST", down))
	require.Equal(t, 1, strings.Count(screen.String(), ": start the server with `ollama serve`, or correct its address, http://"+down+"\n"), screen.String())

	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/tags":
			_, _ = w.Write([]byte(`{"models": [{"name": "qwen3:8b"}]}`))
		default:
			asked++
			http.Error(w, `{"error": "model 'llama3.2' not found"}`, http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	code, _, stderr := start(t, environment("OLLAMA_HOST", s.URL), topic)
	require.Equal(t, exitProvider, code)
	require.Equal(t, 1, asked)
	require.Equal(t, 1, strings.Count(stderr, ": run `ollama pull llama3.2` on the server at "+s.URL+", or use one that it has: qwen3:8b"), stderr)
	require.Contains(t, stderr, "the same model is in participants[1] and judges[0]")
}
