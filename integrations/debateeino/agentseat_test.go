package debateeino_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debateeino"
	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/providertest"
	"github.com/elenchus-go/debate/transcript"
)

type query struct {
	Words string `json:"words"`
}

// agent returns an agent over the model. It has a tool, search.
func agent(t *testing.T, m model.BaseChatModel, search func(context.Context, query) (string, error)) adk.Agent {
	found, err := utils.InferTool("search", "Searches.", search)
	require.NoError(t, err)
	a, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
		Name: "researcher", Description: "Researches.", Instruction: "Check each fact.", Model: m,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{found}}},
	})
	require.NoError(t, err)
	return a
}

var (
	speech = providertest.Reply{
		Chunks: []string{strings.Repeat("Cars take the space that people need. ", 6), "Streets ", "are for people."},
		Usage:  transcript.Usage{Input: 200, Output: 30},
	}
	search = providertest.Reply{
		Chunks: []string{"Let me ", "look."}, ToolCalls: []providers.ToolCall{{ID: "c1", Name: "search", Arguments: []byte(`{"words":"space for cars"}`)}},
		FinishReason: providers.ToolCalls, Usage: transcript.Usage{Input: 100, Output: 10, Reasoning: 5},
	}
)

// An agent calls its tools, and only its last message is the reply, in pieces.
func TestAnAgentSpeaks(t *testing.T) {
	for _, streams := range []bool{true, false} {
		m := &fake{replies: []providertest.Reply{search, speech}}
		var searched []string
		p := debateeino.FromAgent(agent(t, m, func(_ context.Context, q query) (string, error) {
			searched = append(searched, q.Words)
			return "30 % of the city", nil
		}))
		var heard []string
		r := providers.Request{Messages: []providers.Message{{Role: providers.System, Text: "You are Ada."}, {Role: providers.User, Text: "Ban cars?"}}, MaxTokens: 600}
		if streams {
			r.OnChunk = func(text string) error { heard = append(heard, text); return nil }
		}
		res := calltest.Generate(t, p, r)
		require.Equal(t, strings.Join(speech.Chunks, ""), res.Text)
		require.Equal(t, providers.Stop, res.FinishReason)
		require.Equal(t, transcript.Usage{Input: 300, Output: 40, Reasoning: 5}, res.Usage, "both calls count")
		require.Equal(t, []string{"space for cars"}, searched)
		require.Equal(t, []*schema.Message{schema.SystemMessage("Check each fact."), schema.UserMessage("You are Ada.\n\nBan cars?")}, m.asked[0])
		require.Equal(t, "30 % of the city", m.asked[1][3].Content)
		require.Equal(t, 600, *m.options[0].MaxTokens)
		if streams {
			require.Equal(t, speech.Chunks, heard)
		}
	}
}

func TestAnAgentThatFails(t *testing.T) {
	ask := providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Ban cars?"}}}
	for name, test := range map[string]struct {
		replies []providertest.Reply
		search  error
		kind    providers.ErrorKind
		text    string
	}{
		"the model":         {[]providertest.Reply{{Fail: providers.RateLimit}}, nil, providers.RateLimit, "429"},
		"the second call":   {[]providertest.Reply{search, {Fail: providers.Authentication}}, nil, providers.Authentication, "401"},
		"a tool":            {[]providertest.Reply{search}, errors.New("the index is gone"), providers.ServerError, "the index is gone"},
		"says nothing":      {[]providertest.Reply{{}}, nil, providers.InvalidResponse, "empty"},
		"asks for approval": {[]providertest.Reply{search}, errAsk, providers.InvalidRequest, "use tools that need no approval"},
	} {
		t.Run(name, func(t *testing.T) {
			p := debateeino.FromAgent(agent(t, &fake{replies: test.replies}, func(ctx context.Context, _ query) (string, error) {
				if errors.Is(test.search, errAsk) {
					return "", tool.Interrupt(ctx, "May I?")
				}
				return "", test.search
			}))
			_, err := p.Generate(t.Context(), ask)
			failed := providers.AsError(err)
			require.Equal(t, test.kind, failed.Kind, err)
			require.ErrorContains(t, err, test.text)
		})
	}
	p := debateeino.FromAgent(agent(t, &fake{}, nil))
	ask.Tools = []providers.Tool{{Name: "search"}}
	_, err := p.Generate(t.Context(), ask)
	require.ErrorContains(t, err, "the request has tools")
}

var errAsk = errors.New("ask")

func TestTheEndOfACallEndsTheAgent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	p := debateeino.FromAgent(agent(t, &fake{replies: []providertest.Reply{search}}, func(ctx context.Context, _ query) (string, error) {
		cancel()
		<-ctx.Done()
		close(ended)
		return "", ctx.Err()
	}))
	_, err := p.Generate(ctx, providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Ban cars?"}}})
	require.ErrorIs(t, err, context.Canceled)
	<-ended
}

// An agent has a seat in a debate, and a model of Eino has the other.
func TestAnAgentHasASeat(t *testing.T) {
	searched := 0
	c := debatetest.ShortPanel(1)
	c.Topic = "Ban cars?"
	c.Participants[0].Provider = "agent"
	c.Participants[1].Provider = "model"
	c.Judges[0].Provider = "judge"
	turns := debatetest.RunResult(t, debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{
		"agent": debateeino.FromAgent(agent(t, &fake{replies: []providertest.Reply{search, speech}}, func(context.Context, query) (string, error) { searched++; return "30 %", nil })),
		"model": debateeino.FromModel(&fake{replies: []providertest.Reply{{Chunks: []string{"But ", "trade needs them."}}}}),
		"judge": offline.Model(false),
	}})).Turns
	require.Equal(t, []string{"Ada", strings.Join(speech.Chunks, ""), "Bo", "But trade needs them."}, []string{turns[0].Actor, turns[0].Text, turns[1].Actor, turns[1].Text})
	require.Equal(t, 1, searched)
}

// mute is a model that cannot stream.
type mute struct{ model.ToolCallingChatModel }

func (mute) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	return schema.AssistantMessage("Yes.", nil), nil
}

func (m mute) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return m, nil }

func TestAnErrorSaysThatTheModelOfAnAgentCannotStream(t *testing.T) {
	p := debateeino.FromAgent(agent(t, mute{}, func(context.Context, query) (string, error) { return "", nil }))
	r := providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Ban cars?"}}, OnChunk: func(string) error { return nil }}
	_, err := p.Generate(t.Context(), r)
	failed := providers.AsError(err)
	require.Equal(t, providers.Panic, failed.Kind)
	require.ErrorContains(t, err, "check that the agent's model has the method Stream")
	require.NotContains(t, err.Error(), "\n", "the stack is apart")
	r.OnChunk = nil
	got := calltest.Generate(t, p, r)
	require.Equal(t, "Yes.", got.Text)
}
