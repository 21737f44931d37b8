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

// A responseObserver records what the transport sees of the response to a call. The model reads the response on other
// goroutines.
type responseObserver struct {
	mu       sync.Mutex
	err      *providers.Error // the first failure
	complete bool             // the reply is complete
	model    string
	finish   string
	tokens   tokens
	secrets  []string // the secrets in the request
}

// tokens holds the token counts of a reply, under the names of OpenAI, DeepSeek, Anthropic and Ollama. Google's counts
// are stored under the names of OpenAI.
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

	Input     int `json:"input_tokens"` // without cached tokens
	Output    int `json:"output_tokens"`
	CacheRead int `json:"cache_read_input_tokens"`
	CacheNew  int `json:"cache_creation_input_tokens"`

	PromptEval int `json:"prompt_eval_count"`
	Eval       int `json:"eval_count"`
}

// usage returns the counts as a usage. Gateways may report a count under several names; usage takes one of them.
func (t *tokens) usage() transcript.Usage {
	u := transcript.Usage{
		Input:     cmp.Or(t.Prompt, t.Input+t.CacheRead+t.CacheNew, t.PromptEval),
		Cached:    max(t.PromptOf.Cached, t.CacheHit, t.CacheRead),
		Output:    cmp.Or(t.Completion, t.Output, t.Eval),
		Reasoning: t.CompletionOf.Reasoning,
	}
	if hidden := t.Total - t.Prompt - t.Completion; hidden > 0 { // some services count reasoning separately
		u.Output += hidden
		u.Reasoning = max(u.Reasoning, hidden)
	}
	return u
}

// observation is a snapshot of a responseObserver for the caller's goroutine.
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

// fail records a failure. Only the first one is kept.
func (s *responseObserver) fail(e *providers.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = e
	}
}

// connectionFailed records that the connection failed.
func (s *responseObserver) connectionFailed(err error) {
	kind := cmp.Or(kindOfType(err), providers.Network)
	if strings.Contains(err.Error(), "net/http: request canceled") { // http.Client.Timeout expired, or the caller canceled
		kind = providers.Timeout
	}
	s.fail(&providers.Error{Kind: kind, Err: fmt.Errorf("call model: %w", err)})
}

func (s *responseObserver) httpFailed(r *httpError) {
	s.fail(&providers.Error{
		Kind: kindOfStatus(r.status, r.text), RetryAfter: r.retryAfter, Err: fmt.Errorf("call model: status %d: %s", r.status, errorMessage(r.text, r.status)),
	})
}

// finished reports whether the reply is complete.
func (s *responseObserver) finished() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.complete || s.finish != ""
}

// event is a reply or a piece of a reply, in any protocol.
type event struct {
	Type    string          `json:"type"`
	Error   json.RawMessage `json:"error"`
	Model   string          `json:"model"`
	Usage   json.RawMessage `json:"usage"`
	Message json.RawMessage `json:"message"` // the start of a reply from Anthropic, or the text from Ollama
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

// observe records the contents of a piece of the reply. It returns an error if the piece is not a JSON object or
// contains an error of the service.
func (s *responseObserver) observe(raw []byte) error {
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok || mistyped.Field == "" {
			return &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: not a JSON object: %w", err)}
		}
	}
	if text := strings.TrimSpace(string(e.Error)); text != "" && text != "null" && text != `""` && text != "{}" {
		return &providers.Error{Kind: kindOfEvent(raw), RetryAfter: retryAfterText(text), Err: fmt.Errorf("read reply: the service reported an error: %s", errorMessage(string(raw), 0))}
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

// countTokens records the token counts. Counts that a later piece does not contain keep their values.
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

// httpError is a response with an error status.
type httpError struct {
	status     int
	retryAfter time.Duration
	text       string
}

// maxErrorBody limits how much of an error response is read, in bytes.
const maxErrorBody = 64 << 10

// readHTTPError reads a response with an error status.
func readHTTPError(resp *http.Response) *httpError {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // a part is enough
	_ = resp.Body.Close()
	return &httpError{status: resp.StatusCode, retryAfter: cmp.Or(retryAfterHeader(resp.Header, time.Now()), retryAfterText(string(raw))), text: string(raw)}
}

// retryableWithoutField reports whether the request may succeed without one of its optional fields.
func (r *httpError) retryableWithoutField() bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
		return true
	}
	return false
}

// response returns a copy of resp with the error's status and text, so that the model can read them.
func (r *httpError) response(resp *http.Response) *http.Response {
	again := *resp
	again.StatusCode, again.Status = r.status, fmt.Sprintf("%d %s", r.status, http.StatusText(r.status))
	again.Body, again.ContentLength = io.NopCloser(strings.NewReader(r.text)), int64(len(r.text))
	return &again
}
