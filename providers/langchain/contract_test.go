package langchain_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
	"github.com/elenchus-go/debate/providers/providertest"
)

// errorTexts lists errors in the form in which langchaingo's models report them: as text.
var errorTexts = map[providers.ErrorKind]string{
	providers.RateLimit: "API returned unexpected status code: 429", providers.ServerError: "API returned unexpected status code: 502",
	providers.Timeout: "API returned unexpected status code: 504", providers.ContextOverflow: "prompt is too long: 212400 tokens > 200000 maximum",
	providers.Authentication: "API returned unexpected status code: 401", providers.InvalidRequest: "API returned unexpected status code: 404",
	providers.Network: "unexpected EOF",
}

// player is a model that plays the replies of the suite.
type player struct {
	mu      sync.Mutex
	replies []providertest.Reply
}

func (p *player) next() providertest.Reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.replies[0]
	p.replies = p.replies[1:]
	return r
}

func (p *player) generate(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
	r := p.next()
	if r.Arrived != nil {
		r.Arrived()
	}
	text := ""
	for _, chunk := range r.Chunks {
		text += chunk
		if o.StreamingFunc != nil {
			if err := o.StreamingFunc(ctx, []byte(chunk)); err != nil {
				return nil, fmt.Errorf("stream: %w", err)
			}
		}
	}
	switch {
	case r.Hang:
		<-ctx.Done()
		return nil, ctx.Err()
	case r.RetryAfter > 0:
		return nil, fmt.Errorf("%s: Please try again in %v.", errorTexts[r.Fail], r.RetryAfter) //nolint:revive // a service's text
	case r.Fail != "":
		return nil, errors.New(errorTexts[r.Fail])
	}
	reason := string(r.FinishReason)
	if reason == "" {
		reason = "stop"
	}
	choice := &llms.ContentChoice{Content: text, StopReason: reason, ReasoningContent: r.Reasoning}
	if r.Usage.Input > 0 {
		choice.GenerationInfo = map[string]any{
			"PromptTokens": r.Usage.Input, "CompletionTokens": r.Usage.Output, "PromptCachedTokens": r.Usage.Cached, "ReasoningTokens": r.Usage.Reasoning,
		}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

func TestContract(t *testing.T) {
	calltest.RunModel(t, func(n int) bool { return n == 1 }, func(replies []providertest.Reply) providers.Provider {
		return langchain.New(fake{(&player{replies: replies}).generate})
	})
}

func TestACallThatHangsTimesOut(t *testing.T) {
	hang := fake{func(ctx context.Context, _ []llms.MessageContent, _ llms.CallOptions) (*llms.ContentResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := langchain.New(hang).Generate(calltest.Forever(t), calltest.Ask())
		_ = calltest.RequireKind(t, providers.Timeout, err)
		require.EqualError(t, err, "timeout: call model: the service sent nothing for 2m0s")
		require.Equal(t, 2*time.Minute, time.Since(began))
	})
}
