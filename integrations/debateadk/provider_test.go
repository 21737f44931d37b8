package debateadk_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/elenchus-go/debate/integrations/debateadk"
	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/providertest"
	"github.com/elenchus-go/debate/transcript"
)

// errorTexts lists errors as package genai writes them.
var errorTexts = map[providers.ErrorKind]string{
	providers.RateLimit: "Error 429, Message: Slow down., Status: RESOURCE_EXHAUSTED, Details: []", providers.ServerError: "Error 502, Message: , Status: , Details: []",
	providers.Timeout: "Error 504, Message: , Status: DEADLINE_EXCEEDED, Details: []", providers.Authentication: "Error 401, Message: , Status: UNAUTHENTICATED, Details: []",
	providers.ContextOverflow: "Error 400, Message: The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)., Status: INVALID_ARGUMENT",
	providers.InvalidRequest:  "Error 404, Message: no such model, Status: NOT_FOUND, Details: []", providers.Network: "unexpected EOF",
}

// fake is a model that plays replies, one for each call, and records what it is asked.
type fake struct {
	mu      sync.Mutex
	replies []providertest.Reply
	ask     map[string]any // the arguments of tool calls
	asked   []*model.LLMRequest
}

func (*fake) Name() string { return "fake" }

func (f *fake) GenerateContent(ctx context.Context, r *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r)
	reply := f.replies[0]
	f.replies = f.replies[1:]
	return func(yield func(*model.LLMResponse, error) bool) { f.play(ctx, reply, stream, yield) }
}

// part returns a response with parts.
func part(parts ...*genai.Part) *model.LLMResponse {
	return &model.LLMResponse{Content: genai.NewContentFromParts(parts, genai.RoleModel)}
}

// play yields pieces, if the caller wants them, and then the whole message, as ADK's models do.
func (f *fake) play(ctx context.Context, r providertest.Reply, stream bool, yield func(*model.LLMResponse, error) bool) {
	if r.Arrived != nil {
		r.Arrived()
	}
	var parts []*genai.Part
	if r.Reasoning != "" {
		parts = append(parts, &genai.Part{Text: r.Reasoning, Thought: true})
	}
	pieces := append([]*genai.Part{}, parts...)
	for _, chunk := range r.Chunks {
		pieces = append(pieces, genai.NewPartFromText(chunk))
	}
	for _, p := range pieces {
		m := part(p)
		m.Partial = true
		if stream && !yield(m, nil) {
			return
		}
	}
	if text := strings.Join(r.Chunks, ""); text != "" {
		parts = append(parts, genai.NewPartFromText(text))
	}
	for _, c := range r.ToolCalls {
		parts = append(parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: c.ID, Name: c.Name, Args: f.ask}})
	}
	last := part(parts...)
	last.FinishReason = genai.FinishReason(cmp.Or(map[providers.FinishReason]string{providers.Length: "MAX_TOKENS", providers.ContentFilter: "SAFETY"}[r.FinishReason], "STOP"))
	if u := r.Usage; u.Input > 0 {
		last.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
			PromptTokenCount: int32(u.Input), CachedContentTokenCount: int32(u.Cached), CandidatesTokenCount: int32(u.Output - u.Reasoning), ThoughtsTokenCount: int32(u.Reasoning),
		}
	}
	switch {
	case r.Hang:
		<-ctx.Done()
		yield(nil, ctx.Err())
	case r.RetryAfter > 0:
		yield(nil, fmt.Errorf("%s: Please try again in %v.", errorTexts[r.Fail], r.RetryAfter)) //nolint:revive // a service's text
	case r.Fail != "":
		yield(nil, errors.New(errorTexts[r.Fail]))
	default:
		yield(last, nil)
	}
}

func TestContract(t *testing.T) {
	calltest.RunModel(t, func(n int) bool { return n > 1 }, func(replies []providertest.Reply) providers.Provider {
		return debateadk.FromModel(&fake{replies: replies})
	})
}

func TestWhatAModelIsAsked(t *testing.T) {
	f := &fake{replies: []providertest.Reply{{Chunks: []string{"So."}}}}
	warm, seed := 0.5, int64(7)
	calltest.Generate(t, debateadk.FromModel(f), providers.Request{
		Messages: []providers.Message{
			{Role: providers.System, Text: "Argue."}, {Role: providers.User, Text: "Why?"}, {Role: providers.Assistant, Text: "So."}, {Role: providers.User, Text: "Go on."},
		},
		Model: "m", Temperature: &warm, TopP: 0.5, Seed: &seed, Stop: []string{"END"}, MaxTokens: 600,
	})
	require.Equal(t, &model.LLMRequest{
		Model:    "m",
		Contents: []*genai.Content{genai.NewContentFromText("Why?", "user"), genai.NewContentFromText("So.", "model"), genai.NewContentFromText("Go on.", "user")},
		Config: &genai.GenerateContentConfig{
			SystemInstruction: genai.NewContentFromText("Argue.", "user"), Temperature: new(float32(0.5)), TopP: new(float32(0.5)), Seed: new(int32(7)),
			StopSequences: []string{"END"}, MaxOutputTokens: 600,
		},
	}, f.asked[0])
}

// one is a model that gives a single response.
type one struct{ response *model.LLMResponse }

func (one) Name() string { return "one" }

func (m one) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) { yield(m.response, nil) }
}

func TestErrorsWithinResponses(t *testing.T) {
	for code, want := range map[string]providers.ErrorKind{
		"SAFETY": providers.ContentFiltered, "MAX_TOKENS": providers.InvalidResponse, "STOP": providers.InvalidResponse, "429": providers.RateLimit,
		"UNAVAILABLE": providers.ServerError,
	} {
		r := &model.LLMResponse{ErrorCode: code, ErrorMessage: "no reply"}
		_, err := debateadk.FromModel(one{r}).Generate(t.Context(), providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Why?"}}})
		require.Equal(t, want, providers.AsError(err).Kind, "%s: %v", code, err)
	}
	r := part(genai.NewPartFromText("So."))
	r.ModelVersion = "one-2"
	res := calltest.Generate(t, debateadk.FromModel(one{r}), providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Why?"}}})
	require.Equal(t, providers.Response{Text: "So.", Model: "one-2", Usage: transcript.Usage{}}, res)
}
