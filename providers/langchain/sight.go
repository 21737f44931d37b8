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

// A sight is what the transport saw of the answer to a call. The model reads the answer on other goroutines.
type sight struct {
	mu      sync.Mutex
	problem *providers.Error
	ended   bool // the reply came to its proper end
	model   string
	finish  string
	tokens  tokens
	secrets []string // that were sent
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

// report is a sight for the caller's goroutine.
type report struct {
	problem       *providers.Error
	ended         bool
	model, finish string
	usage         transcript.Usage
	secrets       []string
}

func (s *sight) report() report {
	s.mu.Lock()
	defer s.mu.Unlock()
	return report{s.problem, s.ended || s.finish != "", s.model, s.finish, s.tokens.usage(), s.secrets}
}

func (s *sight) begin(secrets []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets = secrets
}

// fail notes the first thing that went wrong.
func (s *sight) fail(e *providers.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.problem == nil {
		s.problem = e
	}
}

// broke notes that the connection failed.
func (s *sight) broke(err error) {
	kind := cmp.Or(kindOfType(err), providers.Network)
	if strings.Contains(err.Error(), "net/http: request canceled") { // by http.Client.Timeout, if not by the caller
		kind = providers.Timeout
	}
	s.fail(&providers.Error{Kind: kind, Err: fmt.Errorf("call model: %w", err)})
}

func (s *sight) refused(r *refusal) {
	s.fail(&providers.Error{
		Kind: kindOfStatus(r.status, r.text), RetryAfter: r.after, Err: fmt.Errorf("call model: status %d: %s", r.status, message(r.text, r.status)),
	})
}

// over notes that the reply came to its end, and says whether it did so properly.
func (s *sight) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended || s.finish != ""
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
		Delta   mayBeUnsaid `json:"delta"`
		Message mayBeUnsaid `json:"message"`
	} `json:"choices"`
	Delta struct {
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	StopReason string `json:"stop_reason"`
	Done       bool   `json:"done"`
	DoneReason string `json:"done_reason"`
}

type mayBeUnsaid struct {
	Refusal string `json:"refusal"`
}

// see notes what a piece of the reply tells. An error is one that the service reports in it.
func (s *sight) see(raw []byte) error {
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok || mistyped.Field == "" {
			return &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: it is no JSON object: %w", err)}
		}
	}
	if text := strings.TrimSpace(string(e.Error)); text != "" && text != "null" && text != `""` && text != "{}" {
		return &providers.Error{Kind: kindOfEvent(raw), RetryAfter: retryAfter(text), Err: fmt.Errorf("read reply: the service reports: %s", message(string(raw), 0))}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(e, raw)
	if e.Model != "" {
		s.model = e.Model
	}
	s.ended = s.ended || e.Done || e.Type == "message_stop"
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

// count notes the tokens. What a later piece does not name stays.
func (s *sight) count(e event, raw []byte) {
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

// refusal is an answer that is no reply.
type refusal struct {
	status int
	after  time.Duration
	text   string
}

// longestRefusal is how much of a refusal is read, in bytes.
const longestRefusal = 64 << 10

// readRefusal reads an answer that is no reply.
func readRefusal(resp *http.Response) *refusal {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, longestRefusal)) // what there is
	_ = resp.Body.Close()
	return &refusal{status: resp.StatusCode, after: cmp.Or(waitOf(resp.Header, time.Now()), retryAfter(string(raw))), text: string(raw)}
}

// mendable says whether a request that is otherwise put might not be refused.
func (r *refusal) mendable() bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
		return true
	}
	return false
}

// response is the refusal to be read again, as an answer like resp.
func (r *refusal) response(resp *http.Response) *http.Response {
	again := *resp
	again.StatusCode, again.Status = r.status, fmt.Sprintf("%d %s", r.status, http.StatusText(r.status))
	again.Body, again.ContentLength = io.NopCloser(strings.NewReader(r.text)), int64(len(r.text))
	return &again
}
