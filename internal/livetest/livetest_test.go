package livetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers/openai"
)

const marks = `[{"criterion": "logical_consistency", "score": 7}, {"criterion": "evidence", "score": 7},
	{"criterion": "engagement", "score": 7}, {"criterion": "novelty", "score": 7}, {"criterion": "persuasiveness", "score": 7},
	{"criterion": "relevance", "score": 7}]`

// service replies to requests as a model does.
func service(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
		Format    struct {
			Schema struct {
				Name string `json:"name"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if r.Method == http.MethodGet {
		fmt.Fprint(w, `{"data": [{"id": "m"}, {"id": "n"}]}`)
		return
	}
	_ = json.NewDecoder(r.Body).Decode(&asked) // the requests of the provider are valid
	text, finish := "Because of it all, and more.", "stop"
	switch name := asked.Format.Schema.Name; {
	case asked.Model != "m":
		w.WriteHeader(http.StatusNotFound)
		return
	case asked.MaxTokens == 8:
		finish = "length"
	case strings.HasPrefix(name, "assessment"):
		text = `{"participants": [{"name": "Ada", "criteria": ` + marks + `}, {"name": "Bo", "criteria": ` + marks + `}], "quality": 7, "should_continue": true}`
	case strings.HasPrefix(name, "verdict"):
		text = `{"summary": "Both said something.", "winner": "Ada", "quality": 70}`
	}
	for _, word := range strings.SplitAfter(text, " ") {
		quoted, _ := json.Marshal(word) // strings always encode
		fmt.Fprintf(w, `data: {"choices": [{"delta": {"content": %s}}]}`+"\n\n", quoted)
		w.(http.Flusher).Flush()
	}
	fmt.Fprintf(w, `data: {"choices": [{"delta": {}, "finish_reason": %q}], "usage": {"prompt_tokens": 9, "completion_tokens": 8}}`+"\n\n", finish)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// TestRun runs the tests against a local service, to show that a service can pass them.
func TestRun(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(service))
	defer s.Close()
	Run(t, func(t *testing.T, client *http.Client) Provider {
		p, err := openai.New(openai.Config{Model: "m", BaseURL: s.URL + "/v1", HTTPClient: client})
		require.NoError(t, err)
		return p
	})
}
