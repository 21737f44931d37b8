package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// services are two services with models. They receive the requests for the addresses of the real ones.
type services struct {
	inner http.RoundTripper
	local *httptest.Server

	mu     sync.Mutex
	calls  map[string]int // by address
	keys   map[string]string
	models map[string]int // calls by host and model
}

// RoundTrip sends a request to the local server, which tells the services by the name of their host.
func (s *services) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.calls[r.Method+" "+r.URL.String()]++
	s.keys[r.URL.Host] = r.Header.Get("Authorization")
	s.mu.Unlock()
	to := r.Clone(r.Context())
	to.Host = r.URL.Host
	to.URL.Scheme = "http"
	to.URL.Host = strings.TrimPrefix(s.local.URL, "http://")
	return s.inner.RoundTrip(to)
}

// reply answers a request in the API of its service: OpenAI's Responses API, or OpenRouter's chat completions.
func (s *services) reply(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model string
		Store *bool
		Text  struct {
			Format struct{ Name string }
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&asked)
	if r.Method == http.MethodPost {
		s.mu.Lock()
		s.models[r.Host+" "+asked.Model]++
		s.mu.Unlock()
	}
	text := "Because of the noise."
	switch {
	case strings.HasPrefix(asked.Text.Format.Name, "assessment"):
		text = `{"participants": [` + assessed("Ada") + `, ` + assessed("Bo") + `], "quality": 7, "should_continue": true}`
	case strings.HasPrefix(asked.Text.Format.Name, "verdict"):
		text = `{"summary": "Both said something.", "winner": "Ada", "quality": 70}`
	}
	quoted, _ := json.Marshal(text) // strings always encode
	switch r.Host + r.URL.Path {
	case "api.openai.com/v1/responses":
		if asked.Store == nil || *asked.Store {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, `data: {"type": "response.output_text.delta", "delta": %s}`+"\n\n"+`data: {"type": "response.completed", "response": {"status": "completed", "model": %q}}`+"\n\n", quoted, asked.Model)
	case "openrouter.ai/api/v1/chat/completions":
		fmt.Fprintf(w, `data: {"model": %q, "choices": [{"delta": {"content": %s}, "finish_reason": "stop"}]}`+"\n\ndata: [DONE]\n\n", asked.Model, quoted)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// assessed returns a judge's assessment of a participant.
func assessed(name string) string {
	var scores []string
	for _, criterion := range []string{"logical_consistency", "evidence", "engagement", "novelty", "persuasiveness", "relevance"} {
		scores = append(scores, fmt.Sprintf(`{"criterion": %q, "score": 7}`, criterion))
	}
	return fmt.Sprintf(`{"name": %q, "criteria": [%s]}`, name, strings.Join(scores, ", "))
}

// TestModelsOfOpenAIAndOpenRouterDebateInOneCommand runs the command of the README with mixed.json.
func TestModelsOfOpenAIAndOpenRouterDebateInOneCommand(t *testing.T) {
	s := &services{inner: http.DefaultTransport, calls: map[string]int{}, keys: map[string]string{}, models: map[string]int{}}
	s.local = httptest.NewServer(http.HandlerFunc(s.reply))
	t.Cleanup(s.local.Close)
	t.Cleanup(s.inner.(*http.Transport).CloseIdleConnections)
	http.DefaultTransport = s
	t.Cleanup(func() { http.DefaultTransport = s.inner })
	folder(t)
	env := environment("OPENAI_API_KEY", "sk-openai-0123456789", "OPENROUTER_API_KEY", "sk-or-0123456789")
	code, stdout, stderr := start(t, env, "--config", filepath.Join(home, "mixed.json"), "--json", topic)
	require.Equal(t, 0, code, stderr)
	require.NotContains(t, stdout+stderr, "does not support")
	require.Equal(t, map[string]int{
		"GET https://api.openai.com/v1/models": 2, "POST https://api.openai.com/v1/responses": 5,
		"GET https://openrouter.ai/api/v1/models": 1, "POST https://openrouter.ai/api/v1/chat/completions": 2,
	}, s.calls)
	require.Equal(t, map[string]string{"api.openai.com": "Bearer sk-openai-0123456789", "openrouter.ai": "Bearer sk-or-0123456789"}, s.keys)
	require.Equal(t, map[string]int{"api.openai.com gpt-5-mini": 2, "api.openai.com gpt-4.1-mini": 3, "openrouter.ai meta-llama/llama-3.3-70b-instruct": 2}, s.models)
	var state struct{ Result struct{ State string } }
	require.NoError(t, json.Unmarshal([]byte(stdout), &state))
	require.Equal(t, "completed", state.Result.State)

	code, _, stderr = start(t, environment("OPENAI_API_KEY", "sk-openai-0123456789"), "--config", filepath.Join(home, "mixed.json"), topic)
	require.Equal(t, exitKey, code)
	require.Contains(t, stderr, "connect provider openrouter: no API key for openrouter, set OPENROUTER_API_KEY")
}
