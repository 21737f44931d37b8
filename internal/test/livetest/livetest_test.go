package livetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers/openai"
)

const marks = `[{"criterion": "logical_consistency", "score": 7}, {"criterion": "evidence", "score": 7},
	{"criterion": "engagement", "score": 7}, {"criterion": "novelty", "score": 7}, {"criterion": "persuasiveness", "score": 7},
	{"criterion": "relevance", "score": 7}]`

// asked is a request in either API of OpenAI.
type asked struct {
	Model        string `json:"model"`
	MaxTokens    int    `json:"max_tokens"`
	OutputTokens int    `json:"max_output_tokens"`
	Format       struct {
		Schema struct {
			Name string `json:"name"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Text struct {
		Format struct {
			Name string `json:"name"`
		} `json:"format"`
	} `json:"text"`
}

// service replies to requests as a model does.
func service(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprint(w, `{"data": [{"id": "m"}, {"id": "n"}]}`)
		return
	}
	w.Header().Set("X-Asked-With", r.Header.Get("Authorization"))
	var a asked
	_ = json.NewDecoder(r.Body).Decode(&a) // the requests of the provider are valid
	if a.Model != "m" {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error": {"message": "unknown model"}}`)
		return
	}
	fmt.Fprintf(w, ": asked with %s\n\n", r.Header.Get("Authorization"))
	text := "Because of it all, and more."
	switch name := a.Format.Schema.Name + a.Text.Format.Name; {
	case strings.HasPrefix(name, "assessment"):
		text = `{"participants": [{"name": "Ada", "criteria": ` + marks + `}, {"name": "Bo", "criteria": ` + marks + `}], "quality": 7, "should_continue": true}`
	case strings.HasPrefix(name, "verdict"):
		text = `{"summary": "Both said something.", "winner": "Ada", "quality": 70}`
	}
	if strings.HasSuffix(r.URL.Path, "/responses") {
		respond(w, text, a.OutputTokens == 16)
		return
	}
	complete(w, text, a.MaxTokens == 8)
}

// key is the key of the service.
const key = "sk-0f1e2d3c4b5a69788796"

// complete writes a chat completion.
func complete(w http.ResponseWriter, text string, cut bool) {
	for _, word := range strings.SplitAfter(text, " ") {
		quoted, _ := json.Marshal(word) // strings always encode
		fmt.Fprintf(w, `data: {"choices": [{"delta": {"content": %s}}]}`+"\n\n", quoted)
		w.(http.Flusher).Flush()
	}
	finish := "stop"
	if cut {
		finish = "length"
	}
	fmt.Fprintf(w, `data: {"choices": [{"delta": {}, "finish_reason": %q}], "usage": {"prompt_tokens": 9, "completion_tokens": 8}}`+"\n\n", finish)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// respond writes a reply of the Responses API.
func respond(w http.ResponseWriter, text string, cut bool) {
	for _, word := range strings.SplitAfter(text, " ") {
		quoted, _ := json.Marshal(word) // strings always encode
		fmt.Fprintf(w, `data: {"type": "response.output_text.delta", "delta": %s}`+"\n\n", quoted)
		w.(http.Flusher).Flush()
	}
	status := "completed"
	if cut {
		status = "incomplete"
	}
	fmt.Fprintf(w, `data: {"type": "response.%[1]s", "response": {"status": %[1]q, "incomplete_details": {"reason": "max_output_tokens"},
data: "usage": {"input_tokens": 9, "output_tokens": 8}}}`+"\n\n", status)
}

// TestRun runs the tests against a local service, to show that a service can pass them. The service repeats the key, which the
// recording does not have.
func TestRun(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(service))
	defer s.Close()
	for _, api := range []string{"chat", "responses"} {
		t.Run(api, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "debate")
			t.Setenv("DEBATE_LIVE_RECORDING", path)
			Run(t, func(t *testing.T, client *http.Client) Provider {
				p, err := openai.New(openai.Config{Key: key, Model: "m", BaseURL: s.URL + "/v1", HTTPClient: client, API: api})
				require.NoError(t, err)
				return p
			})
			recording, err := os.ReadFile(path + ".yaml")
			require.NoError(t, err)
			require.Contains(t, string(recording), "Should cities ban private cars?")
			require.Contains(t, string(recording), "asked with Bearer SCRUBBED")
			require.NotContains(t, string(recording), key)
		})
	}
}
