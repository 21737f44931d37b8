package langchain

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// A responseObserver is what the transport saw of the answer to a call. The model reads the answer on other goroutines.
type responseObserver struct {
	mu       sync.Mutex
	err      *providers.Error
	complete bool // the reply came to its proper end
	model    string
	finish   string
	tokens   tokens
	secrets  []string // that were sent
}

// tokens are the counts of a reply, under the names of OpenAI, DeepSeek, Anthropic and Ollama; those of Google stand
// under the names of OpenAI.
type tokens struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	PromptOf   struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionOf struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit int `json:"prompt_cache_hit_tokens"`

	Input     int `json:"input_tokens"` // without cached ones
	Output    int `json:"output_tokens"`
	CacheRead int `json:"cache_read_input_tokens"`
	CacheNew  int `json:"cache_creation_input_tokens"`

	PromptEval int `json:"prompt_eval_count"`
	Eval       int `json:"eval_count"`
}

// usage is what was counted. Of several names for the same thing, as gateways give them, one counts.
func (t *tokens) usage() transcript.Usage {
	u := transcript.Usage{
		Input:     cmp.Or(t.Prompt, t.Input+t.CacheRead+t.CacheNew, t.PromptEval),
		Cached:    max(t.PromptOf.Cached, t.CacheHit, t.CacheRead),
		Output:    cmp.Or(t.Completion, t.Output, t.Eval),
		Reasoning: t.CompletionOf.Reasoning,
	}
	if hidden := t.Total - t.Prompt - t.Completion; hidden > 0 { // some count reasoning apart
		u.Output += hidden
		u.Reasoning = max(u.Reasoning, hidden)
	}
	return u
}

// observation is a sight for the caller's goroutine.
type observation struct {
	err           *providers.Error
	complete      bool
	model, finish string
	usage         transcript.Usage
	secrets       []string
}

func (s *responseObserver) observation() observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return observation{s.err, s.complete || s.finish != "", s.model, s.finish, s.tokens.usage(), s.secrets}
}

func (s *responseObserver) setSecrets(secrets []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets = secrets
}

// fail notes the first thing that went wrong.
func (s *responseObserver) fail(e *providers.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = e
	}
}

// connectionFailed notes that the connection failed.
func (s *responseObserver) connectionFailed(err error) {
	kind := cmp.Or(kindOfType(err), providers.Network)
	if strings.Contains(err.Error(), "net/http: request canceled") { // by http.Client.Timeout, if not by the caller
		kind = providers.Timeout
	}
	s.fail(&providers.Error{Kind: kind, Err: fmt.Errorf("call model: %w", err)})
}

func (s *responseObserver) httpFailed(r *httpError) {
	s.fail(&providers.Error{
		Kind: kindOfStatus(r.status, r.text), RetryAfter: r.retryAfter, Err: fmt.Errorf("call model: status %d: %s", r.status, errorMessage(r.text, r.status)),
	})
}

// finished notes that the reply came to its end, and says whether it did so properly.
func (s *responseObserver) finished() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.complete || s.finish != ""
}

// event is a reply, or a piece of one, in any protocol.
type event struct {
	Type    string          `json:"type"`
	Error   json.RawMessage `json:"error"`
	Model   string          `json:"model"`
	Usage   json.RawMessage `json:"usage"`
	Message json.RawMessage `json:"message"` // anthropic's beginning, ollama's text
	Choices []struct {
		Finish  string      `json:"finish_reason"`
		Delta   refusalText `json:"delta"`
		Message refusalText `json:"message"`
	} `json:"choices"`
	Delta struct {
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	StopReason string `json:"stop_reason"`
	Done       bool   `json:"done"`
	DoneReason string `json:"done_reason"`
}

type refusalText struct {
	Refusal string `json:"refusal"`
}

// observe notes what a piece of the reply tells. An error is one that the service reports in it.
func (s *responseObserver) observe(raw []byte) error {
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok || mistyped.Field == "" {
			return &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: it is no JSON object: %w", err)}
		}
	}
	if text := strings.TrimSpace(string(e.Error)); text != "" && text != "null" && text != `""` && text != "{}" {
		return &providers.Error{Kind: kindOfEvent(raw), RetryAfter: retryAfterText(text), Err: fmt.Errorf("read reply: the service reports: %s", errorMessage(string(raw), 0))}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.countTokens(e, raw)
	if e.Model != "" {
		s.model = e.Model
	}
	s.complete = s.complete || e.Done || e.Type == "message_stop"
	for _, reason := range []string{e.Delta.StopReason, e.StopReason, e.DoneReason} {
		if reason != "" {
			s.finish = reason
		}
	}
	for _, c := range e.Choices {
		switch {
		case c.Delta.Refusal+c.Message.Refusal != "":
			s.finish = "refusal"
		case c.Finish != "" && s.finish != "refusal":
			s.finish = c.Finish
		}
	}
	return nil
}

// countTokens notes the tokens. What a later piece does not name stays.
func (s *responseObserver) countTokens(e event, raw []byte) {
	if bytes.Contains(e.Message, []byte(`"usage"`)) {
		var begin event
		if json.Unmarshal(e.Message, &begin) == nil {
			_ = json.Unmarshal(begin.Usage, &s.tokens)
			s.model = begin.Model
		}
	}
	if len(e.Usage) > 0 {
		_ = json.Unmarshal(e.Usage, &s.tokens)
	}
	if e.Done {
		_ = json.Unmarshal(raw, &s.tokens)
	}
}

// httpError is an answer that is no reply.
type httpError struct {
	status     int
	retryAfter time.Duration
	text       string
}

// maxErrorBody is how much of a refusal is read, in bytes.
const maxErrorBody = 64 << 10

// readHTTPError reads an answer that is no reply.
func readHTTPError(resp *http.Response) *httpError {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what there is
	_ = resp.Body.Close()
	return &httpError{status: resp.StatusCode, retryAfter: cmp.Or(retryAfterHeader(resp.Header, time.Now()), retryAfterText(string(raw))), text: string(raw)}
}

// retryableWithoutField says whether a request that is otherwise put might not be refused.
func (r *httpError) retryableWithoutField() bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
		return true
	}
	return false
}

// response is the refusal to be read again, as an answer like resp.
func (r *httpError) response(resp *http.Response) *http.Response {
	again := *resp
	again.StatusCode, again.Status = r.status, fmt.Sprintf("%d %s", r.status, http.StatusText(r.status))
	again.Body, again.ContentLength = io.NopCloser(strings.NewReader(r.text)), int64(len(r.text))
	return &again
}
