package debateeino_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/integrations/debateeino"
	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/providertest"
)

// errorTexts lists errors as the clients in eino-ext write them.
var errorTexts = map[providers.ErrorKind]string{
	providers.RateLimit: "error, status code: 429, status: 429 Too Many Requests", providers.ServerError: "error, status code: 502",
	providers.Timeout: "error, status code: 504", providers.ContextOverflow: "prompt is too long: 212400 tokens > 200000 maximum",
	providers.Authentication: "Error code: 401 - {}", providers.InvalidRequest: "error, status code: 404, message: no such model", providers.Network: "unexpected EOF",
}

// fake is a chat model that plays replies, one for each call, and records what it is asked.
type fake struct {
	mu      sync.Mutex
	replies []providertest.Reply
	asked   [][]*schema.Message
	options []*model.Options
}

func (f *fake) next(input []*schema.Message, options []model.Option) providertest.Reply {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, input)
	f.options = append(f.options, model.GetCommonOptions(nil, options...))
	r := f.replies[0]
	f.replies = f.replies[1:]
	return r
}

// play passes the messages of a reply to send until send returns true.
func play(ctx context.Context, r providertest.Reply, send func(*schema.Message, error) (closed bool)) {
	if r.Arrived != nil {
		r.Arrived()
	}
	if r.Reasoning != "" && send(&schema.Message{Role: schema.Assistant, ReasoningContent: r.Reasoning}, nil) {
		return
	}
	for _, chunk := range r.Chunks {
		if send(schema.AssistantMessage(chunk, nil), nil) {
			return
		}
	}
	last := schema.AssistantMessage("", nil)
	for i, c := range r.ToolCalls {
		last.ToolCalls = append(last.ToolCalls, schema.ToolCall{Index: &i, ID: c.ID, Type: "function", Function: schema.FunctionCall{Name: c.Name, Arguments: string(c.Arguments)}})
	}
	last.ResponseMeta = &schema.ResponseMeta{FinishReason: cmp.Or(string(r.FinishReason), "stop")}
	if u := r.Usage; u.Input > 0 {
		last.ResponseMeta.Usage = &schema.TokenUsage{
			PromptTokens: u.Input, PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: u.Cached}, TotalTokens: u.Input + u.Output,
			CompletionTokens: u.Output, CompletionTokensDetails: schema.CompletionTokensDetails{ReasoningTokens: u.Reasoning},
		}
	}
	switch {
	case r.Hang:
		<-ctx.Done()
		send(nil, ctx.Err())
	case r.RetryAfter > 0:
		send(nil, fmt.Errorf("%s: Please try again in %v.", errorTexts[r.Fail], r.RetryAfter)) //nolint:revive // a service's text
	case r.Fail != "":
		send(nil, errors.New(errorTexts[r.Fail]))
	default:
		send(last, nil)
	}
}

func (f *fake) Stream(ctx context.Context, input []*schema.Message, options ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	r := f.next(input, options)
	if r.Fail != "" && r.Chunks == nil && r.Fault == "" {
		var err error
		play(ctx, r, func(_ *schema.Message, e error) bool { err = e; return false })
		return nil, err
	}
	reader, writer := schema.Pipe[*schema.Message](1)
	go func() {
		defer writer.Close()
		play(ctx, r, writer.Send)
	}()
	return reader, nil
}

func (f *fake) Generate(ctx context.Context, input []*schema.Message, options ...model.Option) (*schema.Message, error) {
	var all []*schema.Message
	var err error
	play(ctx, f.next(input, options), func(m *schema.Message, e error) bool {
		err = e
		if e == nil {
			all = append(all, m)
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	return schema.ConcatMessages(all)
}

func TestContract(t *testing.T) {
	calltest.RunModel(t, func(n int) bool { return n > 1 }, func(replies []providertest.Reply) providers.Provider {
		return debateeino.FromModel(&fake{replies: replies})
	})
}

func TestWhatAModelIsAsked(t *testing.T) {
	f := &fake{replies: []providertest.Reply{{Chunks: []string{"So."}}}}
	warm := 0.5
	calltest.Generate(t, debateeino.FromModel(f, model.WithModel("own"), model.WithMaxTokens(1)), providers.Request{
		Messages: []providers.Message{
			{Role: providers.System, Text: "Argue."},
			{Role: providers.User, Text: "Why?"},
			{Role: providers.Assistant, Text: "So."},
			{Role: providers.User, Text: "Go on."},
		},
		Temperature: &warm, TopP: 0.5, Stop: []string{"END"}, MaxTokens: 600,
	})
	require.Equal(t, []*schema.Message{
		schema.SystemMessage("Argue."),
		schema.UserMessage("Why?"),
		schema.AssistantMessage("So.", nil),
		schema.UserMessage("Go on."),
	}, f.asked[0])
	o := f.options[0]
	require.Equal(t, "own", *o.Model)
	require.Equal(t, 600, *o.MaxTokens)
	require.InDelta(t, 0.5, *o.Temperature, 0)
	require.InDelta(t, 0.5, *o.TopP, 0)
	require.Equal(t, []string{"END"}, o.Stop)
}

// Some models count reasoning in the total only.
func TestHiddenReasoningIsOutput(t *testing.T) {
	m := hidden{}
	res := calltest.Generate(t, debateeino.FromModel(m), providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Why?"}}})
	require.Equal(t, 50, res.Usage.Output)
	require.Equal(t, 40, res.Usage.Reasoning)
}

type hidden struct{ model.BaseChatModel }

func (hidden) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	m := schema.AssistantMessage("So.", nil)
	m.ResponseMeta = &schema.ResponseMeta{Usage: &schema.TokenUsage{PromptTokens: 100, CompletionTokens: 10, TotalTokens: 150}}
	return m, nil
}
