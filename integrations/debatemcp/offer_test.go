package debatemcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// Hosts ask their users before each call of a tool that may destroy something, and defaults say that each may.
func TestToolsSayWhatTheyDo(t *testing.T) {
	c := inMemory(t, newServer(t, offline.Model(false), debatetest.ShortPanel(2)), nil)
	tools, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	got := map[string]string{}
	for _, tool := range tools.Tools {
		require.NotEmpty(t, tool.Title, tool.Name)
		a := tool.Annotations
		world := a.OpenWorldHint == nil || *a.OpenWorldHint
		destroys := !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint)
		got[tool.Name] = fmt.Sprintf("reads only %t, idempotent %t, open world %t, destroys %t", a.ReadOnlyHint, a.IdempotentHint, world, destroys)
	}
	const (
		reads  = "reads only true, idempotent true, open world false, destroys false"
		starts = "reads only false, idempotent false, open world true, destroys false"
		again  = "reads only false, idempotent true, open world true, destroys false"
	)
	require.Equal(t, map[string]string{
		"debate": starts, "debate_start": starts, "debate_status": reads, "debate_result": reads, "debate_list": reads, "debate_stop": again, "debate_answer": again,
	}, got)
}

// The server declares what it uses.
func TestCapabilities(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		c := inMemory(t, newServer(t, offline.Model(false), debatetest.ShortPanel(2), version), nil)
		require.JSONEq(t, `{"completions": {}, "prompts": {}, "resources": {"subscribe": true}, "tools": {}}`, debatetest.Encode(t, c.InitializeResult().Capabilities))
		require.Contains(t, c.InitializeResult().Instructions, "Do not use it for facts that you can look up")
	})
	e := debatetest.Engine(t, debate.Options{})
	own, err := debatemcp.NewServer(e, debatemcp.Options{Server: mcp.ServerOptions{Instructions: "Mine.", Capabilities: &mcp.ServerCapabilities{Experimental: map[string]any{"own": map[string]any{}}}}})
	require.NoError(t, err)
	c := inMemory(t, own, nil)
	require.Equal(t, "Mine.", c.InitializeResult().Instructions)
	require.NotNil(t, c.InitializeResult().Capabilities.Experimental["own"])
}

// The output schema of debate fits what each tool returns.
func TestTheOutlineFitsTheOutputs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inMemory(t, newServer(t, slowly{offline.Model(false)}, people()), nil)
		tools, err := c.ListTools(t.Context(), nil)
		require.NoError(t, err)
		var schema map[string]any
		for _, tool := range tools.Tools {
			if tool.OutputSchema != nil {
				require.Equal(t, "debate", tool.Name)
				schema = tool.OutputSchema.(map[string]any)
			}
		}
		properties := schema["properties"].(map[string]any)
		for _, field := range []string{"winner", "scores", "votes", "dissent", "tokens", "cost"} {
			require.Contains(t, properties, field)
		}
		r := debatetest.Call(t, c.CallTool, &mcp.CallToolParams{Name: "debate", Arguments: map[string]any{"topic": "Ban cars?"}})
		for field := range r.StructuredContent.(map[string]any) {
			require.Contains(t, properties, field)
		}
		for _, field := range schema["required"].([]any) {
			require.Contains(t, r.StructuredContent, field)
		}
	})
}

func TestPrompts(t *testing.T) {
	c := inMemory(t, newServer(t, offline.Model(false), debatetest.ShortPanel(2)), nil)
	list, err := c.ListPrompts(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, list.Prompts, 3)
	tools, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	for _, p := range list.Prompts {
		require.NotEmpty(t, p.Title)
		arguments := map[string]string{}
		for _, a := range p.Arguments {
			_, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: arguments})
			require.Equal(t, a.Required, err != nil, "%s without %s", p.Name, a.Name)
			arguments[a.Name] = "the " + a.Name
		}
		got := debatetest.Call(t, c.GetPrompt, &mcp.GetPromptParams{Name: p.Name, Arguments: arguments})
		text := got.Messages[0].Content.(*mcp.TextContent).Text
		for _, value := range arguments {
			require.Contains(t, text, value)
		}
		named := 0
		for _, tool := range tools.Tools {
			named += strings.Count(text+" ", "the tool "+tool.Name+" ") + strings.Count(text, "the tool "+tool.Name+",") + strings.Count(text, "the tool "+tool.Name+":")
		}
		require.Equal(t, 1, named, "it names a tool that exists: %s", text)
	}
}

// A model finds a debate whose id it has forgotten, and people complete an id in the address of a resource.
func TestDebatesAreFound(t *testing.T) {
	c := inMemory(t, newServer(t, offline.Model(false), debatetest.ShortPanel(2)), nil)
	for id, question := range map[string]string{"cars-1": "Ban\ncars?", "cars-2": "Tax cars?", "tea": "Drink tea, or " + strings.Repeat("coffee ", 50) + "?"} {
		_, _ = c.call(t, "debate", map[string]any{"topic": question, "id": id})
	}
	find := func(input map[string]any) (debates []debatetool.Output, text string) {
		r := debatetest.Call(t, c.CallTool, &mcp.CallToolParams{Name: "debate_list", Arguments: input})
		text = r.Content[0].(*mcp.TextContent).Text
		if r.IsError {
			return nil, text
		}
		raw, err := json.Marshal(r.StructuredContent)
		require.NoError(t, err)
		var out struct{ Debates []debatetool.Output }
		require.NoError(t, json.Unmarshal(raw, &out))
		require.NotNil(t, out.Debates)
		return out.Debates, text
	}
	debates, text := find(nil)
	require.Len(t, debates, 3)
	require.Regexp(t, `(?m)^cars-1 \(\d{4}-\d\d-\d\d \d\d:\d\d; completed, round limit in round 2\): Ban cars\?$`, text)
	require.Less(t, len(text), 500)
	debates, _ = find(map[string]any{"text": "TEA"})
	require.Len(t, debates, 1)
	debates, _ = find(map[string]any{"limit": 2})
	require.Len(t, debates, 2)
	_, text = find(map[string]any{"text": "trains"})
	require.Equal(t, "There is no such debate.", text)
	_, text = find(map[string]any{"topic": "x"})
	require.Contains(t, text, `unknown field "topic"`)

	complete := func(ref *mcp.CompleteReference, argument, value string) []string {
		r, err := c.Complete(t.Context(), &mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteParamsArgument{Name: argument, Value: value}})
		require.NoError(t, err)
		return r.Completion.Values
	}
	report := &mcp.CompleteReference{Type: "ref/resource", URI: "debate://{id}/report"}
	require.ElementsMatch(t, []string{"cars-1", "cars-2"}, complete(report, "id", "car"))
	require.Len(t, complete(report, "id", ""), 3)
	require.Empty(t, complete(report, "id", "ban"), "an id does not begin so")
	require.Equal(t, []string{"tea"}, complete(&mcp.CompleteReference{Type: "ref/prompt", Name: "continue"}, "id", "t"))
	require.Empty(t, complete(&mcp.CompleteReference{Type: "ref/prompt", Name: "debate"}, "question", "t"))
}

// With many debates, a completion returns as many ids as the protocol allows, and says that there are more.
func TestCompletionsAreLimited(t *testing.T) {
	c := inMemory(t, newServer(t, hanging{}, debatetest.ShortPanel(2)), nil)
	for i := range 105 {
		_, _ = c.call(t, "debate_start", map[string]any{"topic": "Ban cars?", "id": fmt.Sprintf("car-%03d", i)})
	}
	r, err := c.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/resource", URI: "debate://{id}/report"}, Argument: mcp.CompleteParamsArgument{Name: "id", Value: "car-"}})
	require.NoError(t, err)
	require.Len(t, r.Completion.Values, 100)
	require.True(t, r.Completion.HasMore)
}

// A debate that has failed is an error, with what the user can do, and nothing for those who write programs.
func TestAFailedDebateIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inMemory(t, newServer(t, refused{}, debatetest.ShortPanel(2)), nil)
		r := debatetest.Call(t, c.CallTool, &mcp.CallToolParams{Name: "debate", Arguments: map[string]any{"topic": "Ban cars?", "id": "x"}})
		require.True(t, r.IsError)
		require.Equal(t, "failed", r.StructuredContent.(map[string]any)["status"])
		text := r.Content[0].(*mcp.TextContent).Text
		require.Contains(t, text, "refuses the server's key")
		require.NotRegexp(t, `Options|Retry|Before you use`, text)
	})
}

// refused is a model whose service refuses the key.
type refused struct{}

func (refused) Generate(context.Context, providers.Request) (providers.Response, error) {
	return providers.Response{}, &providers.Error{Kind: providers.Authentication, Err: fmt.Errorf("the key is refused")}
}

// If the client cancels a call, the debate goes on, or with StopOnCancel it is canceled. If the connection breaks, it always goes on.
func TestStopOnCancel(t *testing.T) {
	for _, stops := range []bool{false, true} {
		for _, breaks := range []bool{false, true} {
			t.Run(fmt.Sprintf("stops %t, connection breaks %t", stops, breaks), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := store.Memory()
					e := debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": slowly{offline.Model(false)}}})
					server, err := debatemcp.NewServer(e, debatemcp.Options{StopOnCancel: stops, Tools: debatetool.Options{Presets: map[string]debatetool.Preset{"panel": {Config: debatetest.ShortPanel(2)}}}})
					require.NoError(t, err)
					c := inMemory(t, server, nil)
					ctx, cancel := context.WithCancel(t.Context())
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						_, _ = c.CallTool(ctx, &mcp.CallToolParams{Name: "debate", Arguments: map[string]any{"topic": "Ban cars?", "id": "x"}})
					}()
					time.Sleep(15 * time.Second)
					if breaks {
						go func() { _ = c.Close() }()
						time.Sleep(time.Minute)
					}
					cancel()
					<-ended
					time.Sleep(5 * time.Minute)
					d := debatetest.Open(t, e, "x")
					status := debatetest.Status(t, d)
					want := fsm.Completed
					if stops && !breaks {
						want = fsm.Canceled
					}
					require.Equal(t, want, status.State)
					require.NoError(t, e.Close(t.Context()))
				})
			})
		}
	}
}
