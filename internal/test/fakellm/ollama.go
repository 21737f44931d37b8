package fakellm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/elenchus-go/debate/transcript"
)

// OllamaServer imitates what an Ollama server does with prompts. Its endpoint /v1/chat/completions drops the oldest messages
// of a prompt that is longer than the context window, and reports the tokens of what is left. Its endpoint /api/chat does so
// too, unless the request forbids it: then it refuses the prompt. A window for which the server has no memory is refused.
type OllamaServer struct {
	// NumCtx is the context window, in tokens, of requests that set none. Defaults to 4,096.
	NumCtx int
	// MaxNumCtx is the largest context window for which there is memory. 0 means any.
	MaxNumCtx int
	// ModelWindow is the model's own maximum, to which the server lowers the window of a request without saying so. 0 means any.
	ModelWindow int
	// BytesPerToken is the length of a token. Defaults to 4.
	BytesPerToken int
	// Reply returns the reply to the part of a request that the model reads.
	Reply func(OllamaRequest) string

	network *MemoryNetwork

	mu    sync.Mutex
	calls int
	cuts  int
}

// OllamaMessage is a message of a prompt.
type OllamaMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// OllamaRequest is a request to either endpoint.
type OllamaRequest struct {
	Messages []OllamaMessage `json:"messages"`
	Format   json.RawMessage `json:"format"` // the schema of the reply, from either endpoint
	Truncate *bool           `json:"truncate"`
	Options  struct {
		NumCtx     int `json:"num_ctx"`
		NumPredict int `json:"num_predict"`
	} `json:"options"`
	MaxTokens      int `json:"max_tokens"`
	ResponseFormat struct {
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

// Start starts the server and returns a client that sends every request to it, whatever its address. The server stops when
// the test ends.
func (o *OllamaServer) Start(t testing.TB) *http.Client {
	t.Helper()
	o.network = NewMemoryNetwork()
	server := &httptest.Server{Listener: o.network, Config: &http.Server{Handler: o}} //nolint:gosec // a test needs no protection against slow clients
	server.Start()
	t.Cleanup(server.Close)
	return (&Server{network: o.network}).Client(t)
}

// Calls returns the number of calls so far, and how many of their prompts were cut.
func (o *OllamaServer) Calls() (calls, cuts int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.calls, o.cuts
}

// ServeHTTP answers a request.
func (o *OllamaServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body) // a part is no JSON
	var asked OllamaRequest
	p := Ollama
	switch r.URL.Path {
	case "/api/show":
		fmt.Fprintf(w, `{"model_info": {"general.architecture": "llama", "llama.context_length": %d}}`, o.ModelWindow)
		return
	case "/v1/models":
		fmt.Fprint(w, `{}`)
		return
	case "/v1/chat/completions":
		p = OpenAI
	}
	s := &Server{protocol: p}
	if err := json.Unmarshal(raw, &asked); err != nil {
		s.writeError(w, Reply{Status: http.StatusBadRequest, Body: s.errorBody(err.Error())})
		return
	}
	window := cmp.Or(o.NumCtx, 4096)
	if p == Ollama {
		window = cmp.Or(asked.Options.NumCtx, window)
	}
	if o.ModelWindow > 0 {
		window = min(window, o.ModelWindow)
	}
	sent := len(asked.Messages)
	asked.Messages = o.cut(asked.Messages, window)
	cut := len(asked.Messages) < sent || o.tokens(asked.Messages) > window
	o.mu.Lock()
	o.calls++
	if cut {
		o.cuts++
	}
	o.mu.Unlock()
	switch {
	case o.MaxNumCtx > 0 && window > o.MaxNumCtx:
		s.writeError(w, Reply{Status: http.StatusInternalServerError, Body: s.errorBody("model requires more system memory (9.3 GiB) than is available (5.1 GiB)")})
		return
	case cut && p == Ollama && asked.Truncate != nil && !*asked.Truncate:
		s.writeError(w, Reply{Status: http.StatusBadRequest, Body: s.errorBody("the input length exceeds the context length")})
		return
	}
	if p == OpenAI {
		asked.Format = asked.ResponseFormat.JSONSchema.Schema
	}
	o.write(w, s, asked, window)
}

// cut returns the messages that fit into the window: the system prompt, the last message, and the newest of the others.
func (o *OllamaServer) cut(messages []OllamaMessage, window int) []OllamaMessage {
	left := slices.Clone(messages)
	for o.tokens(left) > window {
		at := slices.IndexFunc(left, func(m OllamaMessage) bool { return m.Role != "system" })
		if at < 0 || at == len(left)-1 {
			break
		}
		left = slices.Delete(left, at, at+1)
	}
	return left
}

// tokens returns the tokens of messages. Each has four more for its role.
func (o *OllamaServer) tokens(messages []OllamaMessage) (n int) {
	for _, m := range messages {
		n += 4 + len(m.Content)/cmp.Or(o.BytesPerToken, 4)
	}
	return n
}

// write writes the reply, in pieces of a token. It ends where the token limit or the window does.
func (o *OllamaServer) write(w http.ResponseWriter, s *Server, asked OllamaRequest, window int) {
	text, size := o.Reply(asked), cmp.Or(o.BytesPerToken, 4)
	prompt := min(o.tokens(asked.Messages), window)
	limit := min(cmp.Or(asked.MaxTokens, asked.Options.NumPredict, window), max(window-prompt, 1))
	reply := Reply{Usage: transcript.Usage{Input: prompt, Output: (len(text) + size - 1) / size}}
	if reply.Usage.Output > limit {
		text = text[:limit*size]
		reply.Usage.Output = limit
		reply.FinishReason = "length"
	}
	for len(text) > 0 {
		n := min(size, len(text))
		reply.Chunks, text = append(reply.Chunks, text[:n]), text[n:]
	}
	for _, line := range append(s.protocol.streamStart(reply), s.protocol.streamEnd(reply)...) {
		if s.protocol == OpenAI {
			line = strings.Replace(line, "data: {", `data: {"system_fingerprint":"fp_ollama",`, 1)
		}
		s.writeEvent(w, line)
	}
}
