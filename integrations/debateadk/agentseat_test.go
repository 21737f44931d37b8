package debateadk_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debateadk"
	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/providertest"
	"github.com/elenchus-go/debate/transcript"
)

type query struct {
	Words string `json:"words,omitempty"`
}

type found struct {
	Text string `json:"text"`
}

// researcher returns an agent over the model. It has a tool, search.
func researcher(t *testing.T, m *fake, confirm bool, search func(agent.Context, query) (found, error)) agent.Agent {
	tools, err := functiontool.New(functiontool.Config{Name: "search", Description: "Searches.", RequireConfirmation: confirm}, search)
	require.NoError(t, err)
	a, err := llmagent.New(llmagent.Config{Name: "researcher", Description: "Researches.", Instruction: "Check each fact.", Model: m, Tools: []tool.Tool{tools}})
	require.NoError(t, err)
	return a
}

var (
	speech = providertest.Reply{
		Chunks: []string{strings.Repeat("Cars take the space that people need. ", 6), "Streets ", "are for people."},
		Usage:  transcript.Usage{Input: 200, Output: 30},
	}
	search = providertest.Reply{
		Chunks: []string{"Let me ", "look."}, ToolCalls: []providers.ToolCall{{ID: "c1", Name: "search"}}, Usage: transcript.Usage{Input: 100, Output: 10, Reasoning: 5},
	}
)

// An agent calls its tools, and only its last message is the reply, in pieces.
func TestAnAgentSpeaks(t *testing.T) {
	for _, streams := range []bool{true, false} {
		m := &fake{ask: map[string]any{"words": "cars"}, replies: []providertest.Reply{search, speech}}
		var searched []string
		p := debateadk.FromAgent(researcher(t, m, false, func(_ agent.Context, q query) (found, error) {
			searched = append(searched, q.Words)
			return found{"30 % of the city"}, nil
		}))
		var heard []string
		r := providers.Request{Messages: []providers.Message{
			{Role: providers.System, Text: "You are Ada."}, {Role: providers.User, Text: "Ban cars?"}, {Role: providers.Assistant, Text: "Hm."}, {Role: providers.User, Text: "Well?"},
		}}
		if streams {
			r.OnChunk = func(text string) error { heard = append(heard, text); return nil }
		}
		res := calltest.Generate(t, p, r)
		require.Equal(t, strings.Join(speech.Chunks, ""), res.Text)
		require.Equal(t, providers.Stop, res.FinishReason)
		require.Equal(t, transcript.Usage{Input: 300, Output: 40, Reasoning: 5}, res.Usage, "both calls count")
		require.Equal(t, []string{"cars"}, searched)
		var asked []string
		for _, c := range m.asked[0].Contents {
			asked = append(asked, c.Role+": "+c.Parts[0].Text)
		}
		require.Equal(t, []string{"user: You are Ada.\n\nBan cars?", "model: Hm.", "user: Well?"}, asked)
		require.Contains(t, m.asked[0].Config.SystemInstruction.Parts[0].Text, "Check each fact.")
		if streams {
			require.Equal(t, speech.Chunks, heard)
		}
	}
}

// An event without a message, such as one that only changes the state, takes nothing from the reply.
func TestAnAgentEndsWithoutAMessage(t *testing.T) {
	for _, streams := range []bool{true, false} {
		usage := transcript.Usage{Input: 200, Output: 30}
		a, err := llmagent.New(llmagent.Config{
			Name: "host", Model: &fake{replies: []providertest.Reply{{Chunks: []string{"Cars take ", "space."}, Usage: usage}}},
			AfterAgentCallbacks: []agent.AfterAgentCallback{func(ctx agent.Context) (*genai.Content, error) {
				return nil, ctx.State().Set("heard", true)
			}},
		})
		require.NoError(t, err)
		r := providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Ban cars?"}}}
		if streams {
			r.OnChunk = func(string) error { return nil }
		}
		res := calltest.Generate(t, debateadk.FromAgent(a), r)
		require.Equal(t, providers.Response{Text: "Cars take space.", FinishReason: providers.Stop, Usage: usage}, res)
	}
}

func TestAnAgentThatFails(t *testing.T) {
	none := func(agent.Context, query) (found, error) { return found{}, nil }
	for name, test := range map[string]struct {
		replies []providertest.Reply
		confirm bool
		kind    providers.ErrorKind
		text    string
	}{
		"the model":         {[]providertest.Reply{{Fail: providers.RateLimit}}, false, providers.RateLimit, "429"},
		"the second call":   {[]providertest.Reply{search, {Fail: providers.Authentication}}, false, providers.Authentication, "401"},
		"says nothing":      {[]providertest.Reply{{}}, false, providers.InvalidResponse, "empty"},
		"asks for approval": {[]providertest.Reply{search, speech}, true, providers.InvalidRequest, "use tools that need none"},
	} {
		t.Run(name, func(t *testing.T) {
			p := debateadk.FromAgent(researcher(t, &fake{replies: test.replies}, test.confirm, none))
			_, err := p.Generate(t.Context(), providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Ban cars?"}}})
			require.Equal(t, test.kind, providers.AsError(err).Kind, err)
			require.ErrorContains(t, err, test.text)
		})
	}
}

func TestTheEndOfACallEndsTheAgent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	p := debateadk.FromAgent(researcher(t, &fake{replies: []providertest.Reply{search}}, false, func(ctx agent.Context, _ query) (found, error) {
		cancel()
		<-ctx.Done()
		close(ended)
		return found{}, errors.New("stopped")
	}))
	_, err := p.Generate(ctx, providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Ban cars?"}}})
	require.ErrorIs(t, err, context.Canceled)
	<-ended
}

// An agent has a seat in a debate, and a model of ADK has the other.
func TestAnAgentHasASeat(t *testing.T) {
	searched := 0
	look := func(agent.Context, query) (found, error) { searched++; return found{"30 %"}, nil }
	c := debatetest.ShortPanel(1)
	c.Topic = "Ban cars?"
	c.Participants[0].Provider = "agent"
	c.Participants[1].Provider = "model"
	c.Judges[0].Provider = "judge"
	turns := debatetest.RunResult(t, debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{
		"agent": debateadk.FromAgent(researcher(t, &fake{replies: []providertest.Reply{search, speech}}, false, look)),
		"model": debateadk.FromModel(&fake{replies: []providertest.Reply{{Chunks: []string{"But ", "trade needs them."}}}}),
		"judge": offline.Model(false),
	}})).Turns
	require.Equal(t, []string{"Ada", strings.Join(speech.Chunks, ""), "Bo", "But trade needs them."}, []string{turns[0].Actor, turns[0].Text, turns[1].Actor, turns[1].Text})
	require.Equal(t, 1, searched)
}
