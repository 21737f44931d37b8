package debatehttp

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

// Models and errors in the format of the OpenAI API.
type (
	chatModel struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	chatModels struct {
		Object string      `json:"object"`
		Data   []chatModel `json:"data"`
	}
	chatError struct {
		Error chatErrorBody `json:"error"`
	}
	chatErrorBody struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`  // invalid_request_error or server_error
		Param   *string `json:"param"` // the field that is wrong
		Code    string  `json:"code"`  // OpenAI's code, or the kind of problem if OpenAI has none for it
	}
)

// models lists the presets.
func (c *call) models() error {
	if err := c.allow(); err != nil {
		return err
	}
	list := chatModels{Object: "list", Data: []chatModel{}}
	for _, name := range slices.Sorted(maps.Keys(c.Presets)) {
		list.Data = append(list.Data, modelOf(name))
	}
	return c.answer(http.StatusOK, list)
}

// model answers with a preset.
func (c *call) model() error {
	if err := c.allow(); err != nil {
		return err
	}
	name := c.r.PathValue("model")
	if _, ok := c.Presets[name]; !ok {
		return c.noModel(name)
	}
	return c.answer(http.StatusOK, modelOf(name))
}

func modelOf(name string) chatModel { return chatModel{ID: name, Object: "model", OwnedBy: "debate"} }

func (c *call) noModel(name string) *Problem {
	p := problem("model-not-found", "the model %q does not exist, use one of %s", name, cmp.Or(strings.Join(slices.Sorted(maps.Keys(c.Presets)), ", "), "none"))
	p.Problems = invalid("model", "%s", p.Detail).Problems
	return p
}

// openAICodes are the codes of the OpenAI API for kinds of problems.
var openAICodes = map[string]string{
	"invalid": "invalid_value", "unauthenticated": "invalid_api_key", "model-not-found": "model_not_found", "no-route": "unknown_url",
	"method-not-allowed": "method_not_supported",
}

// openAIError returns a problem in the format of the OpenAI API.
func openAIError(p *Problem) chatError {
	kind := strings.TrimPrefix(p.Type, typeBase)
	e := chatErrorBody{Message: cmp.Or(p.Detail, p.Title), Type: "server_error", Code: cmp.Or(openAICodes[kind], kind)}
	if p.Status < http.StatusInternalServerError {
		e.Type = "invalid_request_error"
	}
	if len(p.Problems) > 0 {
		e.Param = &p.Problems[0].Field
	}
	return chatError{e}
}

// requestLabel names the label that holds a digest of the request of an OpenAI client and its principal. By it, a retry
// finds the debate of the first try. Clients cannot set it.
const requestLabel = "openai_request"

// retryWindow is the age at which a debate is too old to be the one of a first try. By default, clients wait ten minutes
// for each of three tries.
const retryWindow = time.Hour

// ask launches a debate for a request with the given body. If the request is a retry, it returns the debate of the first
// try. OpenAI's clients retry by themselves after a timeout or a cut connection, and count their retries in a header.
func (c *call) ask(ctx context.Context, cfg debate.Config, body []byte) (*debate.Debate, error) {
	retries, err := strconv.Atoi(c.r.Header.Get("X-Stainless-Retry-Count"))
	if err != nil {
		return c.engine.Launch(ctx, cfg)
	}
	sum := hash(hash(c.access.Principal) + hash(c.r.URL.Path) + hash(string(body)))[:32]
	if retries > 0 {
		first := store.Query{Labels: map[string]string{requestLabel: sum}, CreatedSince: time.Now().Add(-retryWindow)}
		for s, err := range c.engine.List(ctx, first) { // newest first
			switch {
			case err == nil:
				return c.engine.Open(ctx, s.ID)
			case s.ID == "":
				return nil, err
			}
		}
	}
	cfg.Labels = withLabel(cfg.Labels, requestLabel, sum)
	return c.engine.Launch(ctx, cfg)
}
